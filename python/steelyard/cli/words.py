"""From the words of `bench` to a study: every flag is a setting, and errors name the flag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.cli.options import Flag, said
from steelyard.errors import InputError, nearest
from steelyard.spec.draft import Draft, place_of
from steelyard.spec.read import literal, resolve_paths
from steelyard.spec.study import Study
from steelyard.spec.units import of_flag
from steelyard.spec.workloads import find_workload

SYSTEMS = ("embedded", "cassandra", "null")
LOCAL_ONLY = "nodes"


def bench_study(system: str, words: Mapping[str, Any], set_yaml: Sequence[str]) -> Study:
    """The study that `bench`'s words describe.

    Raises:
        InputError: naming the flag at fault.
    """
    kind = _kind(system, words)
    draft = Draft()
    draft.put(("system", "kind"), kind, "")
    workload = words.get("workload") or "a"
    draft.put_all(*find_workload(workload, "-w"))
    for flag, word in said(words):
        if flag.setting:
            _put(draft, flag, word)
    if words.get("fresh") is not None:
        draft.put(_fresh_place(kind), words["fresh"], "--fresh")
    if words.get("duration") is not None and words.get("operations") is None:
        draft.data["load"].pop("operations", None)  # of the workload's file: the duration is meant to decide
    for pair in set_yaml:
        _put_yaml(draft, pair)
    draft.put(("name",), f"{system}-{draft.get(('workload', 'name'))}", "-w")
    resolve_paths(draft, Path())
    return draft.study()


def _kind(system: str, words: Mapping[str, Any]) -> str:
    if system not in SYSTEMS:
        raise InputError(f"no system '{system}'{nearest(system, SYSTEMS)}; known: {', '.join(SYSTEMS)}")
    if words.get("hosts") is None:
        return system
    if system != "cassandra":
        raise InputError(f"--hosts: {system} has no hosts; it goes with `bench cassandra`")
    if words.get(LOCAL_ONLY) is not None:
        raise InputError(
            "--hosts and --nodes exclude each other: a cluster is either given or brought up",
            hint="leave --nodes out to use the given hosts, or --hosts out to start nodes here",
        )
    return "hosts"


def _put(draft: Draft, flag: Flag, word: Any) -> None:
    place = place_of(flag.setting)
    if flag.setting == "workload.request.kind" and draft.get(place) != word:
        compat = draft.get(("workload", "request", "compat"))
        draft.put(place[:-1], {"kind": word, "compat": compat}, flag.long)  # another kind has other settings
        return
    draft.put(place, of_flag(flag.long, flag.convert, word) if flag.convert else word, flag.long)


def _fresh_place(kind: str) -> tuple[str, ...]:
    return ("system", "access", "fresh") if kind in ("cassandra", "hosts") else ("system", "fresh")


def _put_yaml(draft: Draft, pair: str) -> None:
    key, equals, value = pair.partition("=")
    if not equals or not key.strip():
        raise InputError(f"--set-yaml {pair}: expected key=value, e.g. --set-yaml concurrent_reads=16")
    draft.put(("system", "settings", key.strip()), literal(value.strip()), "--set-yaml")
