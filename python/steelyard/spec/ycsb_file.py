"""YCSB's property files: a CoreWorkload property becomes the equivalent setting, any other is refused.

A property that a file leaves out keeps YCSB's default, not ours, and records are drawn as YCSB draws them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.spec.lines import Place

_LINE = re.compile(r"\s*([^\s=:#!][^\s=:]*)\s*[=:\s]\s*(.*?)\s*")

NO_EQUIVALENT = {
    "fieldlengthhistogram": "field lengths are constant, uniform or zipfian here",
    "insertstart": "several engines share one run here (--engines), each with its part of the operations",
    "insertcount": "several engines share one run here (--engines), each with its part of the operations",
    "readallfieldsbyname": "every field is always read by name",
    "core_workload_insertion_retry_limit": "there is one retry policy for all operations (--retry)",
    "core_workload_insertion_retry_interval": "there is one retry policy for all operations (--retry)",
    "core_workload_insertion_keep_going_on_error": "a load goes on and counts its failures",
}


@dataclass(frozen=True)
class Property:
    """One line of a property file."""

    value: str
    origin: str


class _Properties:
    """A file's properties, typed on demand; the ones asked for are the ones that are known."""

    def __init__(self, found: dict[str, Property]) -> None:
        self.found = found
        self.origins: dict[Place, str] = {}

    def get(self, name: str, default: Any, place: str, convert: Callable[[str], Any] = str) -> Any:
        said = self.found.get(name)
        if said is None:
            return default
        self.origins[tuple(place.split("."))] = said.origin
        try:
            return convert(said.value)
        except ValueError:
            kind = {int: "a whole number", float: "a number"}.get(convert, "true or false")  # type: ignore[call-overload]
            raise InputError(f"{said.origin}: {name} = {said.value!r} is not {kind}") from None

    def choice(self, name: str, default: str, place: str, words: tuple[str, ...]) -> str:
        value = str(self.get(name, default, place))
        if value not in words:
            origin = self.found[name].origin
            raise InputError(
                f"{origin}: {name} = {value!r} is unknown{nearest(value, words)}; known: {', '.join(words)}"
            )
        return value


def _bool(text: str) -> bool:
    words = {"true": True, "false": False}
    if text.lower() not in words:
        raise ValueError(text)
    return words[text.lower()]


REQUESTS = ("uniform", "zipfian", "latest", "hotspot", "sequential", "exponential")
KNOWN = (
    "workload", "recordcount", "operationcount", "maxexecutiontime", "threadcount", "target", "table",
    "fieldcount", "fieldnameprefix", "fieldlength", "minfieldlength", "fieldlengthdistribution",
    "readallfields", "writeallfields", "dataintegrity", "readproportion", "updateproportion",
    "insertproportion", "scanproportion", "readmodifywriteproportion", "requestdistribution",
    "zeropadding", "minscanlength", "maxscanlength", "scanlengthdistribution", "insertorder",
    "hotspotdatafraction", "hotspotopnfraction", "exponential.percentile", "exponential.frac",
)  # fmt: skip


def parse(path: Path, text: str) -> dict[str, Property]:
    """The properties of a file's text, each with its line.

    Raises:
        InputError: a line that is no property, or a property that is not known or has no equivalent.
    """
    found: dict[str, Property] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip()[0] in "#!":
            continue
        origin = f"{path}:{number}"
        match = _LINE.fullmatch(line)
        if match is None:
            raise InputError(f"{origin}: {line.strip()!r} is no property; expected name=value")
        _known(match[1], origin)
        found[match[1]] = Property(match[2], origin)
    return found


def _known(name: str, origin: str) -> None:
    if name in NO_EQUIVALENT:
        raise InputError(f"{origin}: {name} has no equivalent: {NO_EQUIVALENT[name]}")
    if name not in KNOWN:
        raise InputError(f"{origin}: unknown property '{name}'{nearest(name, KNOWN)}")


def settings(name: str, found: dict[str, Property]) -> tuple[dict[str, Any], dict[Place, str]]:
    """The settings {`workload`: ..., `load`: ...} that properties mean, and where each was said."""
    p = _Properties(found)
    workload: dict[str, Any] = {
        "name": name,
        "table": p.get("table", "usertable", "workload.table"),
        "key": {
            "order": "hashed"
            if p.get("insertorder", "hashed", "workload.key.order") == "hashed"
            else "ordered",
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
        "read_all_fields": p.get("readallfields", True, "workload.read_all_fields", _bool),
        "write_all_fields": p.get("writeallfields", False, "workload.write_all_fields", _bool),
    }
    if (records := p.get("recordcount", None, "workload.records", int)) is not None:
        workload["records"] = records
    p.get("dataintegrity", False, "workload.verify", _bool)  # checked values are the default here
    return {"workload": workload, "load": dict(_load(p))}, p.origins


def _mix(p: _Properties) -> Iterator[tuple[str, float]]:
    for kind, default in (
        ("read", 0.95), ("update", 0.05), ("insert", 0.0), ("scan", 0.0), ("read_modify_write", 0.0),
    ):  # fmt: skip
        name = f"{kind.replace('_', '')}proportion"
        yield kind, p.get(name, default, f"workload.mix.{kind}", float)


def _field_length(p: _Properties) -> dict[str, Any]:
    place = "workload.fields.length"
    kind = p.choice(
        "fieldlengthdistribution", "constant", f"{place}.kind", ("constant", "uniform", "zipfian")
    )
    most = p.get("fieldlength", 100, f"{place}.{'length' if kind == 'constant' else 'max'}", int)
    least = p.get("minfieldlength", 1, f"{place}.min", int)
    return {"kind": kind, "length": most} if kind == "constant" else {"kind": kind, "min": least, "max": most}


def _scan_length(p: _Properties) -> dict[str, Any]:
    place = "workload.scan_length"
    return {
        "kind": p.choice("scanlengthdistribution", "uniform", f"{place}.kind", ("uniform", "zipfian")),
        "min": p.get("minscanlength", 1, f"{place}.min", int),
        "max": p.get("maxscanlength", 1000, f"{place}.max", int),
    }


def _request(p: _Properties) -> dict[str, Any]:
    place = "workload.request"
    kind = p.choice("requestdistribution", "uniform", f"{place}.kind", REQUESTS)
    request: dict[str, Any] = {"kind": kind, "compat": "ycsb"}
    if kind == "hotspot":
        request["data_fraction"] = p.get("hotspotdatafraction", 0.2, f"{place}.data_fraction", float)
        request["operation_fraction"] = p.get("hotspotopnfraction", 0.8, f"{place}.operation_fraction", float)
    if kind == "exponential":
        request["percentile"] = p.get("exponential.percentile", 95.0, f"{place}.percentile", float)
        request["fraction"] = p.get("exponential.frac", 0.8571428571, f"{place}.fraction", float)
    return request


def _load(p: _Properties) -> Iterator[tuple[str, Any]]:
    names: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
        ("operationcount", "operations", int),
        ("maxexecutiontime", "duration_s", float),
        ("threadcount", "clients", int),
        ("target", "target", float),
    )
    for name, key, convert in names:
        if (value := p.get(name, None, f"load.{key}", convert)) is not None:
            yield key, value
