"""What a control group used, of version 1, of version 2, and of both side by side. Parsers take text.

CPU comes from whichever of `cpuacct` and `unified` is there. Memory is what is resident (anonymous and
mapped), so that it compares with a process's; what the limit acts on, page cache included, is
`memory_charged_bytes`, and `page_cache_bytes` the part of it that is the node's own cache of files. In
version 1 bytes written back by the kernel are charged to nobody, so there bytes are the processes' own and
only operations are the group's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from steelyard.watch.proc import parse_pairs, parse_pressure

Values = dict[str, float]
Read = Callable[[str], str]
"""Reads a file's text; raises OSError."""


def cpu_v1(usage: str, user: str, system: str) -> Values:
    """CPU of `cpuacct.usage`, `cpuacct.usage_user` and `cpuacct.usage_sys`, nanoseconds each."""
    return {
        "cpu_seconds_total": int(usage) / 1e9,
        "cpu_user_seconds_total": int(user) / 1e9,
        "cpu_system_seconds_total": int(system) / 1e9,
    }


def cpu_v2(text: str) -> Values:
    """CPU of a `cpu.stat` of version 2; throttling is in it only where the cpu controller is on."""
    values = parse_pairs(text)
    found = {
        "cpu_seconds_total": values["usage_usec"] / 1e6,
        "cpu_user_seconds_total": values["user_usec"] / 1e6,
        "cpu_system_seconds_total": values["system_usec"] / 1e6,
    }
    if "nr_periods" in values:
        found |= _throttled(values, values["throttled_usec"] / 1e6)
    return found


def throttled_v1(text: str) -> Values:
    """Throttling of a `cpu.stat` of version 1."""
    values = parse_pairs(text)
    return _throttled(values, values["throttled_time"] / 1e9)


def _throttled(values: Mapping[str, int], seconds: float) -> Values:
    return {
        "cpu_throttled_seconds_total": seconds,
        "cpu_throttled_periods_total": values["nr_throttled"],
        "cpu_periods_total": values["nr_periods"],
    }


def memory_v1(stat: str, usage: str) -> Values:
    """Memory of `memory.stat` and `memory.usage_in_bytes`."""
    values = parse_pairs(stat)
    return {
        "memory_bytes": values["total_rss"] + values["total_mapped_file"],
        "memory_charged_bytes": int(usage),
        "page_cache_bytes": values["total_cache"],
    }


def memory_v2(stat: str, current: str) -> Values:
    """Memory of `memory.stat` and `memory.current`."""
    values = parse_pairs(stat)
    return {
        "memory_bytes": values["anon"] + values["file_mapped"],
        "memory_charged_bytes": int(current),
        "page_cache_bytes": values["file"],
    }


def operations_v1(text: str) -> Values:
    """Operations of `blkio.throttle.io_serviced`: lines `MAJOR:MINOR Read N`, summed over devices.

    Raises:
        ValueError: there is no device in it; the kernel counts only once a limit has been set for the group.
    """
    sums = {"Read": 0, "Write": 0}
    counting = False
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in sums:
            sums[words[1]] += int(words[2])
            counting = True
    if not counting:
        raise ValueError("the kernel counts operations only where an I/O limit has been set for the group")
    return {"disk_reads_total": sums["Read"], "disk_writes_total": sums["Write"]}


def io_v2(text: str) -> Values:
    """Bytes and operations of `io.stat`: `MAJOR:MINOR rbytes=N wbytes=N rios=N wios=N ...`, over devices."""
    sums = {"rbytes": 0, "wbytes": 0, "rios": 0, "wios": 0}
    for word in text.split():
        key, _, number = word.partition("=")
        if key in sums:
            sums[key] += int(number)
    return {
        "disk_read_bytes_total": sums["rbytes"],
        "disk_write_bytes_total": sums["wbytes"],
        "disk_reads_total": sums["rios"],
        "disk_writes_total": sums["wios"],
    }


def pressure(kind: str, text: str) -> Values:
    """`pressure_KIND_some_seconds_total` and `..._full_...` of a pressure file."""
    return {
        f"pressure_{kind}_{share}_seconds_total": seconds for share, seconds in parse_pressure(text).items()
    }


def read_group(folders: Mapping[str, Path], read: Read, fail: Callable[[str, Exception], None]) -> Values:
    """All a node's control groups tell.

    Args:
        folders: controller -> folder, `unified` for version 2.
        read: reads one file.
        fail: told what could not be read and why; the rest is read all the same.
    """
    values: Values = {}

    def take(what: str, controller: str, parse: Callable[..., Values], *names: str) -> None:
        if controller not in folders:
            return
        try:
            values.update(parse(*(read(f"{folders[controller]}/{name}") for name in names)))
        except (OSError, KeyError, ValueError) as error:
            fail(what, error)

    take("cpu", "cpuacct", cpu_v1, "cpuacct.usage", "cpuacct.usage_user", "cpuacct.usage_sys")
    take("throttling", "cpu", throttled_v1, "cpu.stat")
    take("memory", "memory", memory_v1, "memory.stat", "memory.usage_in_bytes")
    take("disk operations", "blkio", operations_v1, "blkio.throttle.io_serviced")
    take("cpu", "unified", cpu_v2, "cpu.stat")
    if "memory" not in folders:
        take("memory", "unified", memory_v2, "memory.stat", "memory.current")
    if "blkio" not in folders:
        take("disk", "unified", io_v2, "io.stat")
    for kind in ("cpu", "io", "memory"):
        take(f"{kind} pressure", "unified", partial(pressure, kind), f"{kind}.pressure")
    return values
