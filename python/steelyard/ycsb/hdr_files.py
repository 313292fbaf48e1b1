"""YCSB's `.hdr` files: an HdrHistogram log (us) of each section, with a line for each status interval."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from hdrh.histogram import HdrHistogram

from steelyard.results.disk import write_atomically
from steelyard.results.read import TrialResult
from steelyard.ycsb.choices import Choices
from steelyard.ycsb.kinds import pairs_ns, whole_us
from steelyard.ycsb.sections import sections

MOST_US = 3_600_000_000
DIGITS = 3


def write_hdr_files(trial: TrialResult, phase: str, choices: Choices) -> list[Path]:
    """Write PREFIX + SECTION + `.hdr` for every section; returns the files.

    Raises:
        InfrastructureError: the disk is full or refuses.
    """
    if choices.log_prefix is None or not choices.kind.startswith("hdrhistogram"):
        return []
    start_s = _start_s(trial, phase)
    prefix = choices.log_prefix + ("Hdr" if choices.kind == "hdrhistogram+histogram" else "")
    written = []
    for section in sections(trial.summary(phase) or {}, trial.histograms(phase), choices):
        lines = list(_intervals(trial, phase, section.tag, choices.status_s))
        path = Path(f"{prefix}{section.name}.hdr")
        write_atomically(path, "".join([_header(section.name, start_s), *lines]))
        written.append(path)
    return written


def _intervals(trial: TrialResult, phase: str, tag: str, every_s: int | None) -> Iterator[str]:
    """A line for each status interval in which something was measured; without a status, one for all."""
    gathered: dict[int, HdrHistogram] = {}
    last = 0
    for found, second, histogram in trial.histogram_log(phase):
        last = max(last, int(second) + 1)
        if found == tag:
            interval = int(second) // every_s if every_s else 0
            into = gathered.setdefault(interval, HdrHistogram(1, MOST_US, DIGITS))
            for ns, count in pairs_ns(histogram):
                into.record_value(min(max(whole_us(ns), 1), MOST_US), count)
    for interval, histogram in sorted(gathered.items()):
        start = interval * (every_s or 0)
        length = min(last - start, every_s or last)
        most = histogram.get_max_value() / 1e6
        yield f"{start:.3f},{length:.3f},{most:.3f},{histogram.encode().decode()}\n"


def _header(name: str, start_s: float) -> str:
    words = datetime.fromtimestamp(start_s).astimezone().strftime("%a %b %d %H:%M:%S %Z %Y")
    return (
        f"#[Logging for: {name}]\n"
        "#[Histogram log format version 1.3]\n"
        f"#[StartTime: {start_s:.3f} (seconds since epoch), {words}]\n"
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
    )


def _start_s(trial: TrialResult, phase: str) -> float:
    """Realtime of the phase's start, seconds since the epoch."""
    clock = trial.manifest["clock"]["start"]
    began = next(row["start_ns"] for row in trial.manifest["phases"] if row["name"] == phase)
    return float(clock["realtime_ns"] - clock["monotonic_ns"] + began) / 1e9
