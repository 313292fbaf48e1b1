"""The facts about this machine that do not change during a run, for the manifest's `host`."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

SYS, PROC = Path("/sys"), Path("/proc")
VOLUME_FIELDS = 3


class Facts:
    """Collects facts, and the reasons for those that could not be had."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self.missing: dict[str, str] = {}

    def take(self, name: str, get: Callable[[], Any]) -> None:
        """Add a fact; whatever goes wrong in finding it is its reason for being missing."""
        try:
            self.found[name] = get()
        except (OSError, KeyError, ValueError, IndexError, subprocess.SubprocessError) as error:
            self.missing[name] = str(error) or type(error).__name__


def host_facts(paths: Sequence[Path]) -> dict[str, Any]:
    """Kernel, processor, memory, clock, and where each of `paths` lies; all of it ready for JSON.

    Returns:
        The facts by name, sizes in bytes; `missing` says of each that could not be had why.
    """
    facts = Facts()
    take = facts.take
    take("hostname", platform.node)
    take("kernel", platform.release)
    take("machine", platform.machine)
    take("distribution", lambda: platform.freedesktop_os_release()["PRETTY_NAME"])
    cpuinfo = _read(PROC / "cpuinfo")
    take("cpu_model", lambda: processor(cpuinfo))
    take("hypervisor", lambda: "hypervisor" in cpuinfo_field(cpuinfo, "flags").split())
    take("cores", os.cpu_count)
    take("cores_usable", lambda: len(os.sched_getaffinity(0)))
    take("cpu_mhz", lambda: float(cpuinfo_field(cpuinfo, "cpu MHz")))
    take("cpu_max_mhz", lambda: int(_must(SYS / "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")) / 1000)
    take("governor", lambda: _must(SYS / "devices/system/cpu/cpu0/cpufreq/scaling_governor"))
    take("smt", lambda: _must(SYS / "devices/system/cpu/smt/active") == "1")
    meminfo = _read(PROC / "meminfo")
    take("memory_bytes", lambda: meminfo_bytes(meminfo, "MemTotal"))
    take("swap_bytes", lambda: meminfo_bytes(meminfo, "SwapTotal"))
    take("swappiness", lambda: int(_must(PROC / "sys/vm/swappiness")))
    take("huge_pages", lambda: chosen(_must(SYS / "kernel/mm/transparent_hugepage/enabled")))
    take("huge_pages_reserved", lambda: int(_must(PROC / "sys/vm/nr_hugepages")))
    clock = SYS / "devices/system/clocksource/clocksource0"
    take("clock_source", lambda: _must(clock / "current_clocksource"))
    take("clock_sources", lambda: _must(clock / "available_clocksource").split())
    take("cgroup_version", lambda: cgroup_version(_must(PROC / "mounts")))
    take("load_average", lambda: list(os.getloadavg()))
    take("pressure", (PROC / "pressure").is_dir)
    take("python", platform.python_version)
    take("java", java_version)
    mounts = _read(PROC / "self/mounts")
    facts.found["file_systems"] = {str(path): _file_system(path, mounts, facts) for path in paths}
    return {**facts.found, "missing": facts.missing}


def cpuinfo_field(text: str, name: str) -> str:
    """The first value of a field of `/proc/cpuinfo`. Raises KeyError."""
    for line in text.splitlines():
        key, colon, value = line.partition(":")
        if colon and key.strip() == name:
            return value.strip()
    raise KeyError(f"/proc/cpuinfo has no {name}")


def processor(text: str) -> str:
    """The processor's name in `/proc/cpuinfo` and, where it has them, the numbers that tell one from another.

    Clouds shorten names: several generations of one maker are all `AMD EPYC`.

    Raises:
        KeyError: it has no name.
    """
    name, numbers = cpuinfo_field(text, "model name"), ("cpu family", "model", "stepping")
    try:
        told = [cpuinfo_field(text, number) for number in numbers]
    except KeyError:
        return name
    return f"{name} (family {told[0]}, model {told[1]}, stepping {told[2]})"


def meminfo_bytes(text: str, name: str) -> int:
    """A field of `/proc/meminfo`, in bytes. Raises KeyError."""
    for line in text.splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(f"/proc/meminfo has no {name}")


def chosen(text: str) -> str:
    """The word in brackets of a file such as `always [madvise] never`; the whole text when there is none."""
    return text.partition("[")[2].partition("]")[0] or text.strip()


def cgroup_version(mounts: str) -> str:
    """`v1`, `v2`, or `hybrid` when both are mounted. Raises ValueError when neither is."""
    kinds = {line.split()[2] for line in mounts.splitlines() if len(line.split()) >= VOLUME_FIELDS}
    versions = kinds & {"cgroup", "cgroup2"}
    if not versions:
        raise ValueError("no control groups are mounted")
    return "hybrid" if len(versions) == 2 else ("v2" if "cgroup2" in versions else "v1")


def mount_of(path: Path, mounts: str) -> tuple[str, str, str, str]:
    """(device, mount point, type, options) of what a path is on; a later mount hides an earlier one.

    Raises:
        ValueError: nothing in `mounts` holds the path.
    """
    best: tuple[str, str, str, str] | None = None
    for line in mounts.splitlines():
        device, point, kind, options = line.split()[:4]
        point = point.replace("\\040", " ")
        if path.is_relative_to(point) and (best is None or len(point) >= len(best[1])):
            best = (device, point, kind, options)
    if best is None:
        raise ValueError(f"no mounted file system holds {path}")
    return best


def java_version() -> str:
    """The first line of `java -version`. Raises OSError (there is no java) or SubprocessError (it hangs)."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None:
        raise OSError("no java in JAVA_HOME or on PATH")
    done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=10, check=True)
    return done.stderr.splitlines()[0]


def _file_system(path: Path, mounts: str, facts: Facts) -> dict[str, Any]:
    here = _existing(path.absolute())
    volume = Facts()

    def mount() -> None:
        names = ("device", "mount_point", "type", "options")
        volume.found.update(zip(names, mount_of(here.resolve(), mounts), strict=True))

    volume.take("mount", mount)
    volume.found.pop("mount", None)
    volume.take("free_bytes", lambda: shutil.disk_usage(here).free)
    queue = _queue(here)
    volume.take("rotational", lambda: _must(queue / "rotational") == "1")
    volume.take("read_ahead_bytes", lambda: int(_must(queue / "read_ahead_kb")) * 1024)
    volume.take("scheduler", lambda: chosen(_must(queue / "scheduler")))
    facts.missing.update({f"file_systems.{path}.{what}": why for what, why in volume.missing.items()})
    return volume.found


def _queue(path: Path) -> Path:
    """The folder of the disk's queue settings; a partition has them in its parent."""
    number = path.stat().st_dev
    block = (SYS / f"dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    return (block if (block / "queue").is_dir() else block.parent) / "queue"


def _existing(path: Path) -> Path:
    """The path, or the nearest folder above it that is there already."""
    candidates: Iterable[Path] = (path, *path.parents)
    return next(candidate for candidate in candidates if candidate.exists())


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _must(path: Path) -> str:
    return path.read_text().strip()
