"""From the words of `bench` to a study: every flag is a setting, and errors name the flag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from steelyard.cli.flag import Flag
from steelyard.cli.options import FLAGS, said
from steelyard.errors import InputError, nearest
from steelyard.spec.draft import Draft, place_of
from steelyard.spec.models import Study
from steelyard.spec.read import literal, resolve_paths
from steelyard.spec.systems import has_setting, kinds
from steelyard.spec.units import of_flag
from steelyard.spec.workloads import find_workload

SYSTEMS = ("embedded", "cassandra", "hbase", "null")
GIVEN = {"cassandra": "hosts", "hbase": "hbase-hosts"}
"""What a system is when it runs already and its addresses are given."""
LOCAL_ONLY = "nodes"
SITE, YAML = "--set-site", "--set-yaml"
FILE_FLAGS = {"cassandra": YAML, "hbase": SITE}
"""The flag that sets any key of a system's own configuration files."""


def bench_study(system: str, words: Mapping[str, Any], pairs: Iterable[tuple[str, str]] = ()) -> Study:
    """The study that `bench`'s words describe.

    Args:
        system: as typed.
        words: the flags' words, by parameter.
        pairs: (flag, "key=value") for keys of the system's own configuration files.

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
            _check_fits(flag, kind)
            _put(draft, flag, word, kind)
    if words.get("fresh") is not None:
        draft.put(_fresh_place(kind), words["fresh"], "--fresh")
    if words.get("duration") is not None and words.get("operations") is None:
        draft.data["load"].pop("operations", None)  # of the workload's file: the duration is meant to decide
    for flag_name, pair in pairs:
        _put_pair(draft, kind, flag_name, pair)
    draft.put(("name",), f"{system}-{draft.get(('workload', 'name'))}", "-w")
    resolve_paths(draft, Path())
    return draft.study()


def _kind(system: str, words: Mapping[str, Any]) -> str:
    if system not in SYSTEMS:
        raise InputError(f"no system '{system}'{nearest(system, SYSTEMS)}; known: {', '.join(SYSTEMS)}")
    given = next((f"--{name}" for name in ("hosts", "zookeeper") if words.get(name) is not None), None)
    if given is None:
        return system
    if system not in GIVEN:
        raise InputError(f"{given}: {system} has no hosts; it goes with `bench cassandra` or `bench hbase`")
    if words.get(LOCAL_ONLY) is not None:
        raise InputError(
            f"{given} and --nodes exclude each other: a cluster is either given or brought up",
            hint=f"leave --nodes out to use the given hosts, or {given} out to start nodes here",
        )
    return GIVEN[system]


def _check_fits(flag: Flag, kind: str) -> None:
    """Refuse a flag that this system does not have, naming the nearest that it has."""
    setting = flag.setting_of(kind)
    if not setting.startswith("system.") or has_setting(kind, setting):
        return
    goes = [known for known in kinds() if has_setting(known, flag.setting_of(known))]
    of_system = (f for f in FLAGS if f.setting.startswith("system."))
    near = [f.long for f in of_system if has_setting(kind, f.setting_of(kind))]
    raise InputError(
        f"{flag.long} does not apply to system of kind '{kind}'{nearest(flag.long, near)}",
        hint=f"it goes with {', '.join(goes)}",
    )


def _put(draft: Draft, flag: Flag, word: Any, kind: str) -> None:
    place = place_of(flag.setting_of(kind))
    if flag.setting == "workload.request.kind" and draft.get(place) != word:
        compat = draft.get(("workload", "request", "compat"))
        draft.put(place[:-1], {"kind": word, "compat": compat}, flag.long)  # another kind has other settings
        return
    draft.put(place, of_flag(flag.long, flag.convert, word) if flag.convert else word, flag.long)


def _fresh_place(kind: str) -> tuple[str, ...]:
    whole = has_setting(kind, "system.access.fresh")
    return ("system", "access", "fresh") if whole else ("system", "fresh")


def _put_pair(draft: Draft, kind: str, flag: str, pair: str) -> None:
    key, equals, value = (part.strip() for part in pair.partition("="))
    if not equals or not key:
        raise InputError(f"{flag} {pair}: expected key=value, e.g. {flag} concurrent_reads=16")
    fits = FILE_FLAGS.get(kind)
    if flag in FILE_FLAGS.values() and flag != fits:
        raise InputError(
            f"{flag} does not apply to system of kind '{kind}'"
            + (f" (did you mean '{fits}'?)" if fits else "")
        )
    draft.put(("system", _table(kind, key), key), literal(value), flag)


def _table(kind: str, key: str) -> str:
    if kind != "hbase":
        return "settings"
    return "hdfs_site" if key.startswith("dfs.") else "hbase_site"
