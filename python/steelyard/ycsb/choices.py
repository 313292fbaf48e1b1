"""What YCSB's client is asked to show: exporter, measurement, percentiles, status, files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from steelyard.errors import InputError, nearest
from steelyard.spec.properties import Properties
from steelyard.ycsb.known_properties import modern

TYPES = ("hdrhistogram", "histogram", "hdrhistogram+histogram", "timeseries")
RAW = ("raw", "hdrhistogram+raw")
INTERVALS = ("op", "intended", "both")
PACKAGE = "site.ycsb.measurements.exporter."
EXPORTERS = {
    f"{PACKAGE}TextMeasurementsExporter": "text",
    f"{PACKAGE}JSONMeasurementsExporter": "json-objects",
    f"{PACKAGE}JSONArrayMeasurementsExporter": "json-array",
    "json": "json",
}
"""The property's word -> what is written; `json` is ours: one document."""


@dataclass(frozen=True)
class Choices:
    """The client's properties, checked; what is not said has YCSB's default.

    Attributes:
        interval: `op` shows service times, `intended` response times, `both` both.
        percentiles: as they were written, e.g. `99.9`.
        granularity_ms: width of a point of a time series.
        separate: statuses whose latencies have sections of their own; None = every failed one.
        exact: percentiles of `histogram` are neither cut to ms nor left out.
    """

    exporter: str
    exportfile: Path | None
    kind: str
    interval: Literal["op", "intended", "both"]
    percentiles: tuple[str, ...]
    verbose: bool
    buckets: int
    granularity_ms: int
    log_prefix: str | None
    status_s: int | None
    label: str
    separate: tuple[str, ...] | None
    exact: bool


def choose(p: Properties, *, as_ycsb: bool) -> Choices:
    """From the properties.

    Raises:
        InputError: a word that is none, or a measurement that is not offered.
    """
    kind = p.choice("measurementtype", "hdrhistogram", (*TYPES, *RAW))
    if kind in RAW:
        raise InputError(
            f"{p.origin('measurementtype')}: measurementtype = '{kind}': no latency is kept alone",
            hint="hdrhistogram keeps all to three digits, and hdrhistogram.fileoutput=true writes them",
        )
    interval = p.choice("measurement.interval", "op" if as_ycsb else "intended", INTERVALS)
    each = p.switch("reportlatencyforeacherror", False)
    tracked = tuple(word.strip() for word in p.get("latencytrackederrors", "").split(",") if word.strip())
    return Choices(
        exporter=_exporter(p),
        exportfile=p.get("exportfile", None, convert=Path),
        kind=kind,
        interval=interval,  # type: ignore[arg-type]  # one of INTERVALS
        percentiles=_percentiles(p),
        verbose=p.switch("measurement.histogram.verbose", False),
        buckets=_positive(p, "histogram.buckets", 1000),
        granularity_ms=_granularity(p),
        log_prefix=p.get("hdrhistogram.output.path", "")
        if p.switch("hdrhistogram.fileoutput", False)
        else None,
        status_s=_positive(p, "status.interval", 10) if p.switch("status", False) else None,
        label=p.found["label"].value if p.has("label") else "",  # its blanks belong to it
        separate=None if each else tracked,
        exact=not as_ycsb,
    )


def _exporter(p: Properties) -> str:
    word = modern(p.get("exporter", next(iter(EXPORTERS))))
    if word not in EXPORTERS:
        raise InputError(
            f"{p.origin('exporter')}: exporter = {word!r} is unknown{nearest(word, EXPORTERS)}; "
            f"known: {', '.join(EXPORTERS)}"
        )
    return EXPORTERS[word]


def _percentiles(p: Properties) -> tuple[str, ...]:
    words = tuple(word.strip() for word in p.get("hdrhistogram.percentiles", "50,95,99").split(","))
    for word in words:
        if not (word.replace(".", "", 1).isdigit() and 0 < float(word) <= 100):
            raise InputError(
                f"{p.origin('hdrhistogram.percentiles')}: hdrhistogram.percentiles: {word!r} is none",
                hint="e.g. hdrhistogram.percentiles=50,95,99,99.9",
            )
    return words


def _positive(p: Properties, name: str, default: int) -> int:
    value = int(p.get(name, default, convert=int))
    if value < 1:
        raise InputError(f"{p.origin(name)}: {name} = {value} should be at least 1")
    return value


def _granularity(p: Properties) -> int:
    """Time series are kept by the second."""
    value = _positive(p, "timeseries.granularity", 1000)
    if value % 1000:
        raise InputError(
            f"{p.origin('timeseries.granularity')}: timeseries.granularity = {value}: expected whole seconds",
            hint="e.g. timeseries.granularity=1000 (milliseconds)",
        )
    return value
