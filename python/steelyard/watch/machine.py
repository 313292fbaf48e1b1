"""What the whole machine used: `/proc/stat`, `meminfo`, `diskstats`, `net/dev`, `pressure`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from steelyard.watch.cgroup import Read, Values, pressure
from steelyard.watch.proc import TICKS_PER_S, parse_pairs

STEAL = "cpu_steal_seconds_total"
WHOLE = ("cpu_seconds_total", "cpu_iowait_seconds_total", STEAL, "cpu_idle_seconds_total")
"""Of the names that `cpu` gives those that make up all the time there was."""
SECTOR_BYTES = 512  # of /proc/diskstats, whatever the device's own sector is


def cpu(text: str) -> Values:
    """CPU seconds over all cores, from the first line of `/proc/stat`; neither stolen nor idle is used."""
    words = text[: text.index("\n")].split()
    if words[0] != "cpu" or len(words) < 9:
        raise ValueError(
            f"/proc/stat begins with {text[:60]!r}, a line `cpu` of at least 8 numbers was expected"
        )
    user, nice, system, idle, iowait, irq, softirq, steal = (int(word) / TICKS_PER_S for word in words[1:9])
    return {
        "cpu_seconds_total": user + nice + system + irq + softirq,
        "cpu_user_seconds_total": user + nice,
        "cpu_system_seconds_total": system + irq + softirq,
        "cpu_iowait_seconds_total": iowait,
        STEAL: steal,
        "cpu_idle_seconds_total": idle,
    }


def memory(text: str) -> Values:
    """Memory in use, from `/proc/meminfo`: all that is not available to a new program."""
    values = parse_pairs(text.replace(" kB", "").replace(" ", ""), ":")
    return {"memory_bytes": (values["MemTotal"] - values["MemAvailable"]) * 1024}


def disks(text: str, devices: Collection[str]) -> Values:
    """Bytes and operations of the named devices together, from `/proc/diskstats`."""
    sums = [0, 0, 0, 0]
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 10 and words[2] in devices:
            for place, column in enumerate((5, 9, 3, 7)):
                sums[place] += int(words[column])
    return {
        "disk_read_bytes_total": sums[0] * SECTOR_BYTES,
        "disk_write_bytes_total": sums[1] * SECTOR_BYTES,
        "disk_reads_total": sums[2],
        "disk_writes_total": sums[3],
    }


def network(text: str, *, loopback: bool) -> Values:
    """Bytes received and sent over all interfaces, from a `net/dev`, with or without the loopback's."""
    received = sent = 0
    for line in text.splitlines():
        name, colon, numbers = line.partition(":")
        if colon and (loopback or name.strip() != "lo"):
            words = numbers.split()
            received += int(words[0])
            sent += int(words[8])
    return {"network_receive_bytes_total": received, "network_send_bytes_total": sent}


def whole_disks(blocks: Path = Path("/sys/block")) -> frozenset[str]:
    """The machine's own disks: no partition, loop, RAM disk or mapping, which would count twice."""
    return frozenset(path.name for path in blocks.glob("*") if (path / "device").exists())


def read_machine(devices: Collection[str], read: Read, fail: Callable[[str, Exception], None]) -> Values:
    """All the machine tells.

    Args:
        devices: the disks to sum over.
        read: reads one file.
        fail: told what could not be read and why; the rest is read all the same.
    """
    values: Values = {}

    def take(what: str, path: str, parse: Callable[[str], Values]) -> None:
        try:
            values.update(parse(read(path)))
        except (OSError, KeyError, ValueError) as error:
            fail(what, error)

    take("cpu", "/proc/stat", cpu)
    take("memory", "/proc/meminfo", memory)
    take("disk", "/proc/diskstats", lambda text: disks(text, devices))
    take("network", "/proc/net/dev", lambda text: network(text, loopback=True))
    for kind in ("cpu", "io", "memory"):
        take(f"{kind} pressure", f"/proc/pressure/{kind}", partial(pressure, kind))
    return values
