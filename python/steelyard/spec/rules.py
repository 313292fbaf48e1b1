"""What a study may not ask for: resets that a system cannot do, cache states that contradict the load."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.errors import InputError
from steelyard.spec.actions import Run, Upgrade
from steelyard.spec.kind import declared
from steelyard.spec.models import DROPS_CACHE, Point, Study
from steelyard.spec.restored import unrestored
from steelyard.spec.trials import APART


def empties(point: Point) -> bool:
    """Whether the point's own settings empty its table first."""
    return bool(
        getattr(point.system, "fresh", False)
        or getattr(getattr(point.system, "access", None), "fresh", False)
    )


def check_layout(study: Study) -> None:
    """Refuse what cannot be done, naming the first point at fault.

    Raises:
        InputError: with the way out.
    """
    several = len(study.cells) * study.repetitions > 1
    for rule in RULES:
        for point in study.cells:
            if fault := rule(study, point, several):
                where = f" ({point.label})" if point.label else ""
                raise InputError(f"{fault[0]}{where}", hint=fault[1])


Fault = tuple[str, str] | None
NEEDED = {"restore": "snapshot"}
"""Reset -> the capability that a system needs for it."""


def _fresh_but_given(study: Study, point: Point, several: bool) -> Fault:
    if several and study.reset == "fresh" and point.system.given and not empties(point):
        return (
            "reset = 'fresh' makes a new cluster for every trial, but this one is given",
            "reset = 'truncate' drops the table before each load; 'none' keeps the data",
        )
    return None


def _kept_but_changed(study: Study, point: Point, _several: bool) -> Fault:
    mix = point.workload.mix
    if study.reset == "none" and (mix.insert or mix.delete):
        return (
            f"reset = 'none' keeps the data, but workload '{point.workload.name}' inserts or deletes: the "
            "next trial would find other records than it expects",
            "use reset = 'restore', 'truncate' or 'fresh'",
        )
    return None


def _reset_but_not_able(study: Study, point: Point, _several: bool) -> Fault:
    needed = NEEDED.get(study.reset)
    fault = needed and declared(point.system.kind).why_not(needed, point.system)
    return (f"reset = '{study.reset}': {fault[0]}", fault[1]) if fault else None


def _restored_but_not_whole(study: Study, point: Point, _several: bool) -> Fault:
    load = point.load
    if study.reset == "restore" and {*load.phases} != {"load", "run"}:
        return (
            "reset = 'restore' needs a load and a run: it keeps the one for the other",
            "leave load.phases out",
        )
    if study.reset == "restore" and (load.first_record or load.part.count > 1):
        return (
            "reset = 'restore' keeps whole data sets, but this load is a part of one",
            "leave load.first_record and load.part out",
        )
    return None


def _started_anew_but_not_shared(study: Study, point: Point, _several: bool) -> Fault:
    starts = study.starts
    if starts > 1 and study.reset in APART:
        return (
            f"starts = {starts}, but reset = '{study.reset}' starts a cluster for every trial anyway",
            "leave starts out, or share clusters: reset = 'truncate' or 'none'",
        )
    if starts > 1 and point.system.given:
        return f"starts = {starts}, but this cluster is given and not ours to start", "leave starts out"
    if study.repetitions % starts:
        return (
            f"{study.repetitions} repetitions cannot be dealt evenly over starts = {starts}",
            "take starts that divide the repetitions",
        )
    return None


def _budget_below_the_plan(study: Study, _point: Point, _several: bool) -> Fault:
    most = study.budget.repetitions
    if most is not None and most < study.repetitions:
        return (
            f"budget.repetitions (--budget) = {most} is below the {study.repetitions} repetitions that are "
            "planned",
            f"the plan is always carried out: --budget {study.repetitions} adds nothing to it",
        )
    return None


def _warm_without_warmup(study: Study, point: Point, _several: bool) -> Fault:
    if study.cache in ("warm", "rewarmed") and not point.load.warmup_s:
        return f"cache = '{study.cache}' needs a warm-up", "say how long: load.warmup_s"
    return None


def _cold_but_warmed(study: Study, point: Point, _several: bool) -> Fault:
    if study.cache == "cold" and point.load.warmup_s:
        return (
            "cache = 'cold' and load.warmup_s contradict each other",
            "leave one of them out; cache = 'rewarmed' drops the cache before the warm-up",
        )
    if study.cache in DROPS_CACHE and declared(point.system.kind).given_by:
        return f"cache = '{study.cache}': the caches of given hosts are not ours to drop", "leave cache out"
    return None


def _action_but_not_able(_study: Study, point: Point, _several: bool) -> Fault:
    for action in point.timeline:
        for needed in action.capabilities:
            if fault := declared(point.system.kind).why_not(needed, point.system):
                hint = f"{fault[1]}; a cluster that others operate is changed by do = 'run' and a command"
                return (
                    f"timeline '{point.load.timeline}': {action.id}: do = '{action.what}': {fault[0]}",
                    hint,
                )
    return None


def _waited_for_but_not_told(_study: Study, point: Point, _several: bool) -> Fault:
    """What a command is to bring about must be something that this system tells of its nodes."""
    told = declared(point.system.kind).told
    for action in point.timeline:
        if isinstance(action, Run) and isinstance(action.done, str) and action.done not in told:
            return (
                f"timeline '{point.load.timeline}': {action.id}: done = '{action.done}': "
                f"this system tells {'of ' + ', '.join(told) if told else 'nothing of that'}",
                "say one of them, or a command that ends with status 0 once it is done",
            )
    return None


def _upgraded_but_no_step(_study: Study, point: Point, _several: bool) -> Fault:
    """Each upgrade begins with the version that the one before it in the file leaves, and files stay as the
    version wrote them that was there when they were last written anew."""
    version = written = str(getattr(point.system, "version", ""))
    kind = declared(point.system.kind)
    for action in point.timeline:
        if isinstance(action, Upgrade):
            fault = kind.no_step(point.system, version, action.version)
            if action.rewrite and not fault:
                fault = kind.no_rewrite(point.system, written, action.version)
            if fault:
                return f"timeline '{point.load.timeline}': {action.id}: {fault[0]}", fault[1]
            version = action.version
            written = version if action.rewrite else written
    return None


def _changed_but_shared(study: Study, point: Point, several: bool) -> Fault:
    if not several or study.reset in APART or point.system.given:
        return None
    if study.reset == "truncate":
        left = unrestored(point.timeline, point.system)
    else:  # the data stay, and what happened to them
        left = next((action.words for action in point.timeline if action.changes), "")
    if left:
        return (
            f"reset = '{study.reset}' shares a cluster between trials, but timeline "
            f"'{point.load.timeline}' changes it: {left}",
            "take back what it does to nodes and use reset = 'truncate', or use 'restore' or 'fresh'",
        )
    return None


RULES: tuple[Callable[[Study, Point, bool], Fault], ...] = (
    _fresh_but_given, _kept_but_changed, _reset_but_not_able, _restored_but_not_whole,
    _started_anew_but_not_shared, _budget_below_the_plan, _warm_without_warmup, _cold_but_warmed,
    _action_but_not_able, _waited_for_but_not_told, _upgraded_but_no_step, _changed_but_shared,
)  # fmt: skip
