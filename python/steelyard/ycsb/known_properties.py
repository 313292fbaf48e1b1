"""Every property of YCSB that is known, and those that are taken but mean nothing here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from steelyard.errors import nearest
from steelyard.spec.properties import Properties
from steelyard.spec.ycsb_file import CORE_WORKLOAD, NO_EQUIVALENT
from steelyard.ycsb.bindings import bindings

OWN = "steelyard."
"""What begins with it is a setting of a study: `steelyard.load.engines=4`."""

CLIENT = (
    "status", "status.interval", "label", "db", "exporter", "exportfile",
    "reportlatencyforeacherror", "latencytrackederrors", "measurementtype", "measurement.interval",
    "hdrhistogram.percentiles", "hdrhistogram.fileoutput", "hdrhistogram.output.path",
    "measurement.histogram.verbose", "histogram.buckets", "timeseries.granularity",
    "measurement.raw.output_file", "measurement.raw.no_summary",
)  # fmt: skip
IGNORED = {
    "dotransactions": "load and run say it",
    "spin.sleep": "the engine waits with a timer that is 20 us exact",
    "measurement.trackjvm": "there is no JVM; system.parquet of the result has the engine's memory and CPU",
    "debug": "the result folder has what was done",
    "maxscanrate": "YCSB does not read it either",
    "scanoptimelimit": "YCSB does not read it either",
    "discardscannedrecord": "YCSB does not read it either",
    "core_workload_insertion_retry_interval": "attempts are 1 to 100 ms apart",
    "core_workload_insertion_keep_going_on_error": "a load goes on and counts its failures",
    "readallfieldsbyname": "every field is always read by name",
}
"""Property -> why it changes nothing, whatever the database."""


@cache
def ignored() -> Mapping[str, str]:
    """Every property that changes nothing, with the reason."""
    own = [item for binding in bindings().values() for item in binding.ignored.items()]
    return {**IGNORED, **dict(own)}


@cache
def known() -> frozenset[str]:
    """Every property, of all databases."""
    own = (name for binding in bindings().values() for name in binding.properties)
    return frozenset({*CORE_WORKLOAD, *NO_EQUIVALENT, *CLIENT, *own, *ignored()})


def modern(name: str) -> str:
    """A Java class by its present name: before 0.17 YCSB lived in another package."""
    return name.replace("com.yahoo.ycsb.", "site.ycsb.")


def remarks(p: Properties) -> Iterator[str]:
    """What is to be said of properties that change nothing, and of unknown ones, which YCSB ignores, too."""
    for name, said in p.found.items():
        if name in ignored() and said.value.lower() != "false":
            yield f"{said.origin}: {name} changes nothing: {ignored()[name]}"
        elif name not in known() and not name.startswith((OWN, "htrace.")):
            yield f"{said.origin}: unknown property '{name}' is ignored{nearest(name, known())}"
