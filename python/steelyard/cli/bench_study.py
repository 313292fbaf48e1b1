"""From the words of `bench` to a study: every flag is a setting, and errors name the flag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.cli.options import said
from steelyard.errors import InputError, nearest
from steelyard.spec.do_words import NAME, actions_of
from steelyard.spec.draft import Draft, place_of
from steelyard.spec.expand import expand
from steelyard.spec.factors import ROOTS
from steelyard.spec.flag import Flag
from steelyard.spec.kind import declarations, declared
from steelyard.spec.models import Study
from steelyard.spec.read import literal, put_override, resolve_paths
from steelyard.spec.units import of_flag
from steelyard.spec.workloads import find_workload

LOCAL_ONLY = "nodes"


def bench_study(
    system: str, words: Mapping[str, Any], pairs: Iterable[str] = (), actions: Sequence[str] = ()
) -> Study:
    """The study that `bench`'s words describe.

    Args:
        system: as typed.
        words: the flags' words, by parameter.
        pairs: `key=value` of the servers' own configuration, or `path=value` of a study.
        actions: what is done during the run, each as `--do` says it.

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
            _put(draft, _of_kind(flag, kind), word)
    timed = words.get("duration") is not None or words.get("curve") is not None
    if timed and words.get("operations") is None:
        draft.data["load"].pop("operations", None)  # of the workload's file: the time is meant to decide
    for pair in pairs:
        _put_pair(draft, kind, pair)
    _put_actions(draft, actions)
    draft.put(("name",), f"{system}-{draft.get(('workload', 'name'))}", "-w")
    resolve_paths(draft, Path())
    return expand(draft)


def _kind(system: str, words: Mapping[str, Any]) -> str:
    """The kind that a word means: of those it may mean the one whose addresses are given, else the other."""
    meant = [kind for kind in declarations().values() if kind.typed == system]
    if not meant:
        known = list(dict.fromkeys(kind.typed for kind in declarations().values() if kind.typed))
        raise InputError(f"no system '{system}'{nearest(system, known)}; known: {', '.join(known)}")
    ways = dict.fromkeys(flag for kind in declarations().values() for flag in kind.given_by)
    given = next((flag for flag in ways if words.get(_parameter(flag)) is not None), None)
    if given is None:
        return next(kind.name for kind in meant if not kind.given_by)
    found = next((kind for kind in meant if kind.given_by), None)
    if found is None:
        those = [f"`bench {kind.typed}`" for kind in declarations().values() if given in kind.given_by]
        raise InputError(f"{given}: {system} has no hosts; it goes with {' or '.join(those)}")
    if words.get(LOCAL_ONLY) is not None:
        raise InputError(
            f"{given} and --nodes exclude each other: a cluster is either given or brought up",
            hint=f"leave --nodes out to use the given hosts, or {given} out to start nodes here",
        )
    return found.name


def _parameter(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _of_kind(flag: Flag, kind: str) -> Flag:
    """A flag as this kind of system has it; one that it does not have is refused, naming the nearest."""
    if not flag.setting.startswith("system."):
        return flag
    if own := declared(kind).flag(flag.long):
        return own
    goes = [name for name, record in declarations().items() if record.flag(flag.long)]
    near = [known.long for known in declared(kind).flags]
    raise InputError(
        f"{flag.long} does not apply to system of kind '{kind}'{nearest(flag.long, near)}",
        hint=f"it goes with {', '.join(goes)}",
    )


def _put(draft: Draft, flag: Flag, word: Any) -> None:
    place = place_of(flag.setting)
    if flag.setting == "workload.request.kind" and draft.get(place) != word:
        compat = draft.get(("workload", "request", "compat"))
        draft.put(place[:-1], {"kind": word, "compat": compat}, flag.long)  # another kind has other settings
        return
    draft.put(place, of_flag(flag.long, flag.convert, word) if flag.convert else word, flag.long)


def _put_actions(draft: Draft, texts: Sequence[str]) -> None:
    """`--do`: a timeline as a study file has them, and the run that has it."""
    if not texts:
        return
    draft.put(("timelines", NAME), of_flag("--do", actions_of, list(texts)), "--do")
    draft.put(("load", "timeline"), NAME, "--do")
    for number, text in enumerate(texts):
        draft.origins["timelines", NAME, number] = f"--do '{text}'"


def _put_pair(draft: Draft, kind: str, pair: str) -> None:
    key, equals, value = (part.strip() for part in pair.partition("="))
    if not equals or not key:
        raise InputError(f"--set {pair}: expected key=value, e.g. --set concurrent_reads=16")
    if key.partition(".")[0] in ROOTS and "." in key:
        put_override(draft, pair)
        return
    table = declared(kind).own_setting(key)
    if table is None:
        able = [name for name, record in declarations().items() if record.own_setting(key)]
        raise InputError(
            f"--set {key}: system of kind '{kind}' has no configuration files of its own",
            hint=f"it goes with {', '.join(able)}; a study's settings are set by their path, e.g. "
            "--set load.realtime=true",
        )
    draft.put(("system", table, key), literal(value), f"--set {key}")
