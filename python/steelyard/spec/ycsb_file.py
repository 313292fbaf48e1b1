"""YCSB's CoreWorkload properties as settings of ours; a property file can stand where a workload does.

A property that is left out keeps YCSB's default, not ours, and records are drawn as YCSB draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.spec.lines import Place
from steelyard.spec.properties import Properties, Property, read_properties

NO_EQUIVALENT = {
    "insertstart": "several engines share one run here (--engines), each with its part of the operations",
    "insertcount": "several engines share one run here (--engines), each with its part of the operations",
    "readallfieldsbyname": "every field is always read by name",
    "core_workload_insertion_retry_limit": "there is one retry policy for all operations (--retry)",
    "core_workload_insertion_retry_interval": "there is one retry policy for all operations (--retry)",
    "core_workload_insertion_keep_going_on_error": "a load goes on and counts its failures",
}
"""Properties that `bench` and studies refuse; `steelyard ycsb` takes them."""

REQUESTS = ("uniform", "zipfian", "latest", "hotspot", "sequential", "exponential")
LENGTHS = ("constant", "uniform", "zipfian", "histogram")
CORE_WORKLOAD = (
    "workload", "recordcount", "operationcount", "maxexecutiontime", "threadcount", "target", "table",
    "fieldcount", "fieldnameprefix", "fieldlength", "minfieldlength", "fieldlengthdistribution",
    "fieldlengthhistogram", "readallfields", "writeallfields", "dataintegrity", "readproportion",
    "updateproportion", "insertproportion", "scanproportion", "readmodifywriteproportion",
    "requestdistribution", "zeropadding", "minscanlength", "maxscanlength", "scanlengthdistribution",
    "insertorder", "hotspotdatafraction", "hotspotopnfraction", "exponential.percentile", "exponential.frac",
)  # fmt: skip


def parse(path: Path, text: str) -> dict[str, Property]:
    """The properties of a file's text, each with its line.

    Raises:
        InputError: a line that is no property, or a property that is not known or has no equivalent.
    """
    found: dict[str, Property] = {}
    for name, value, line in read_properties(text):
        origin = f"{path}:{line}"
        if not name:
            raise InputError(f"{origin}: {'=' + value!r} is no property; expected name=value")
        _known(name, origin)
        found[name] = Property(value, origin)
    return found


def _known(name: str, origin: str) -> None:
    if name in NO_EQUIVALENT:
        raise InputError(f"{origin}: {name} has no equivalent: {NO_EQUIVALENT[name]}")
    if name not in CORE_WORKLOAD:
        raise InputError(f"{origin}: unknown property '{name}'{nearest(name, CORE_WORKLOAD)}")


def settings(name: str, found: dict[str, Property]) -> tuple[dict[str, Any], dict[Place, str]]:
    """The settings {`workload`: ..., `load`: ...} that properties mean, and where each was said."""
    p = Properties(found)
    workload: dict[str, Any] = {
        "name": name,
        "table": p.get("table", "usertable", "workload.table"),
        "key": {
            "order": _order(p.get("insertorder", "hashed", "workload.key.order")),
            "zero_padding": p.get("zeropadding", 1, "workload.key.zero_padding", int),
        },
        "fields": {
            "count": p.get("fieldcount", 10, "workload.fields.count", int),
            "prefix": p.get("fieldnameprefix", "field", "workload.fields.prefix"),
            "length": _field_length(p),
        },
        "mix": dict(_mix(p)),
        "request": _request(p),
        "scan_length": _scan_length(p),
        "read_all_fields": p.switch("readallfields", True, "workload.read_all_fields"),
        "write_all_fields": p.switch("writeallfields", False, "workload.write_all_fields"),
    }
    if (records := p.get("recordcount", None, "workload.records", int)) is not None:
        workload["records"] = records
    p.switch("dataintegrity", False, "workload.verify")  # checked values are the default here
    return {"workload": workload, "load": dict(_load(p))}, p.origins


def _order(word: str) -> str:
    """Any word but `hashed` means ordered, as in YCSB."""
    return "hashed" if word == "hashed" else "ordered"


def _mix(p: Properties) -> Iterator[tuple[str, float]]:
    for kind, default in (
        ("read", 0.95), ("update", 0.05), ("insert", 0.0), ("scan", 0.0), ("read_modify_write", 0.0),
    ):  # fmt: skip
        name = f"{kind.replace('_', '')}proportion"
        yield kind, p.get(name, default, f"workload.mix.{kind}", float)


def _field_length(p: Properties) -> dict[str, Any]:
    place = "workload.fields.length"
    kind = p.choice("fieldlengthdistribution", "constant", LENGTHS, f"{place}.kind")
    if kind == "histogram":
        file = Path(p.get("fieldlengthhistogram", "hist.txt", f"{place}.weights"))
        said = p.origin("fieldlengthhistogram") or p.origin("fieldlengthdistribution")
        return {"kind": kind, "weights": read_length_histogram(file, said)}
    most = p.get("fieldlength", 100, f"{place}.{'length' if kind == 'constant' else 'max'}", int)
    least = p.get("minfieldlength", 1, f"{place}.min", int)
    return {"kind": kind, "length": most} if kind == "constant" else {"kind": kind, "min": least, "max": most}


def read_length_histogram(file: Path, origin: str) -> list[list[int]]:
    """(length in bytes, weight) of each bucket of a `fieldlengthhistogram`.

    Its first line is `BlockSize<tab>n`; each further one `bucket<tab>weight`; bucket i means (i + 1) n bytes.

    Raises:
        InputError: the file cannot be read or has another shape.
    """
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{origin}: fieldlengthhistogram {file} cannot be read: {error}") from None
    try:
        word, size = lines[0].split("\t")
        if word != "BlockSize":
            raise ValueError(word)
        pairs = [(int(bucket), int(weight)) for bucket, weight in (line.split("\t") for line in lines[1:])]
        return [[(bucket + 1) * int(size), weight] for bucket, weight in pairs if weight]
    except (ValueError, IndexError):
        raise InputError(
            f"{origin}: {file} is no histogram of field lengths",
            hint="its first line is BlockSize<tab>BYTES, each further one BUCKET<tab>WEIGHT",
        ) from None


def _scan_length(p: Properties) -> dict[str, Any]:
    place = "workload.scan_length"
    return {
        "kind": p.choice("scanlengthdistribution", "uniform", ("uniform", "zipfian"), f"{place}.kind"),
        "min": p.get("minscanlength", 1, f"{place}.min", int),
        "max": p.get("maxscanlength", 1000, f"{place}.max", int),
    }


def _request(p: Properties) -> dict[str, Any]:
    place = "workload.request"
    kind = p.choice("requestdistribution", "uniform", REQUESTS, f"{place}.kind")
    request: dict[str, Any] = {"kind": kind, "compat": "ycsb"}
    if kind == "hotspot":
        request["data_fraction"] = p.get("hotspotdatafraction", 0.2, f"{place}.data_fraction", float)
        request["operation_fraction"] = p.get("hotspotopnfraction", 0.8, f"{place}.operation_fraction", float)
    if kind == "exponential":
        request["percentile"] = p.get("exponential.percentile", 95.0, f"{place}.percentile", float)
        request["fraction"] = p.get("exponential.frac", 0.8571428571, f"{place}.fraction", float)
    return request


def _load(p: Properties) -> Iterator[tuple[str, Any]]:
    names: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
        ("operationcount", "operations", int),
        ("maxexecutiontime", "duration_s", float),
        ("threadcount", "clients", int),
        ("target", "target", float),
    )
    for name, key, convert in names:
        if value := p.get(name, None, f"load.{key}", convert):  # 0 means unlimited, as if it were left out
            yield key, value
