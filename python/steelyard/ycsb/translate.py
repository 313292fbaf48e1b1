"""From YCSB's properties to a study of one trial, which the engine runs as any other."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.errors import InputError
from steelyard.spec import ycsb_file
from steelyard.spec.draft import Draft, place_of
from steelyard.spec.expand import expand
from steelyard.spec.models import Study
from steelyard.spec.properties import Properties
from steelyard.spec.read import literal
from steelyard.ycsb.arguments import Words
from steelyard.ycsb.bindings import binding_of
from steelyard.ycsb.known_properties import OWN, modern

CORE_WORKLOAD = "site.ycsb.workloads.CoreWorkload"
ALL_KEYS = 2**31 - 1
"""What a run takes for the number of records when nobody says it."""


@dataclass
class Task:
    """What is to be done.

    Attributes:
        study: of one trial.
        differences: names in `differences` that make a difference for this command line.
        remarks: what else is to be said before it starts.
        clipped: there were more threads than operations.
    """

    study: Study
    differences: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    clipped: bool = False


def make_task(words: Words, p: Properties, private: Path) -> Task:
    """The study that a command line and its properties ask for.

    Args:
        words: the command line.
        p: its properties.
        private: a folder that only this user can read.

    Raises:
        InputError: a property that is missing, is no such value, or contradicts another.
    """
    _core_workload(p)
    name = words.files[-1].name if words.files else "core"
    settings, origins = ycsb_file.settings(name, p.found)
    task = _Task(words, p, settings["workload"], settings["load"])
    task.records()
    task.values()
    task.pace()
    draft = Draft()
    draft.put(("name",), f"ycsb-{words.action}-{words.database}", "")
    draft.put(("seed",), secrets.randbits(62) if words.as_ycsb else 42, "")
    draft.put_all({"system": task.binding.system(p, words.class_path, private)}, p.origins)
    draft.put_all({"workload": task.workload, "load": task.load}, origins)
    for key, said in p.found.items():
        if key.startswith(OWN):
            place = place_of(key.removeprefix(OWN))
            draft.put(place, literal(said.value), said.origin)
            draft.raw[place] = said.value
    return Task(expand(draft), task.differences(), task.remarks, task.clipped)


def _core_workload(p: Properties) -> None:
    found = p.get("workload", None)
    if found is None:
        raise InputError("Missing property: workload", hint=f"-p workload={CORE_WORKLOAD}, or -P FILE")
    if modern(found) != CORE_WORKLOAD:
        raise InputError(f"{p.origin('workload')}: workload = {found}: only {CORE_WORKLOAD} is offered")


class _Task:
    """The settings while they are put together."""

    def __init__(self, words: Words, p: Properties, workload: dict[str, Any], load: dict[str, Any]) -> None:
        self.words, self.p, self.workload, self.load = words, p, workload, load
        self.binding = binding_of(words.database)
        self.loading = words.action == "load"
        self.load["phases"] = [words.action]
        self.remarks: list[str] = []
        self.clipped = self.shared = False

    def records(self) -> None:
        """Which records are loaded, or drawn from."""
        recordcount = int(self.workload.get("records", 0))
        start = self.p.get("insertstart", 0, "load.first_record", int)
        count = self.p.get("insertcount", max(0, recordcount - start), "workload.records", int)
        if min(recordcount, start, count) < 0 or (recordcount and recordcount < start + count):
            raise InputError(
                f"recordcount = {recordcount}, insertstart = {start}, insertcount = {count}: "
                "recordcount must be at least insertstart + insertcount, and none below 0"
            )
        if self.loading:
            if not count:
                raise InputError(
                    "there is nothing to load: recordcount is missing", hint="-p recordcount=1000"
                )
            self.workload["records"] = start + count
            self.load |= {"first_record": start, "operations": count}
            return
        if not recordcount:
            self.remarks.append(f"recordcount is not said: {ALL_KEYS:,} records are drawn from, as in YCSB")
        self.workload["records"] = recordcount or ALL_KEYS
        if 0 < count < recordcount and not self.words.as_ycsb:
            self._share(recordcount, start, count)

    def _share(self, records: int, start: int, count: int) -> None:
        """Clients that were told apart by the records they insert share the run's operations instead."""
        if records % count or start % count:
            self.remarks.append(
                "insertstart and insertcount do not cut recordcount into equal parts: each client draws from "
                "all records, and what several clients insert may collide"
            )
            return
        self.load["part"] = {"index": start // count, "count": records // count}
        self.shared = True

    def values(self) -> None:
        """What the fields hold: random bytes, or what anybody can derive again."""
        if not self.p.switch("dataintegrity", False):
            self.workload |= {"values": "ycsb", "verify": "off"}
        elif self.workload["fields"]["length"]["kind"] != "constant":
            raise InputError(
                f"{self.p.origin('dataintegrity')}: dataintegrity needs fields of constant length",
                hint="fieldlengthdistribution=constant",
            )
        else:
            self.workload |= {"values": "ycsb_integrity", "verify": "all"}

    def pace(self) -> None:
        """Threads, rate, limits, retries."""
        load = self.load
        operations = load.get("operations")
        if operations is None and "duration_s" not in load:
            raise InputError(
                "neither operationcount nor maxexecutiontime is said: the run would never end",
                hint="-p operationcount=1000, or -p maxexecutiontime=60 (seconds)",
            )
        threads = int(load.get("clients", 1))
        self.clipped = operations is not None and 0 < operations < threads
        load["clients"] = operations if self.clipped else threads
        tries = int(self.p.get("core_workload_insertion_retry_limit", 0, "load.retry", int))
        if self.words.as_ycsb and not (self.loading and tries > 0):
            load["retry"] = "none"
        named = self.binding.attempt_ms
        if limit := named and self.p.get(named, None, "load.attempt_timeout_ms", int):
            load |= {"attempt_timeout_ms": limit, "timeout_ms": max(limit, 10_000)}

    def differences(self) -> list[str]:
        """Those from YCSB that matter here; none if they are undone."""
        if self.words.as_ycsb:
            return []
        matter = {
            "wait": "target" in self.load and not self.p.has("measurement.interval"),
            "exit": True,
            "retry": self.binding.may_fail,
            "throughput": True,
            "share": self.shared,
            "seed": not self.loading,
            "histogram": "histogram" in self.p.get("measurementtype", "").split("+"),
        }
        return [name for name, matters in matter.items() if matters]
