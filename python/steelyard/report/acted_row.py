"""What actions did as figures of a trial's row (`spec.metrics.TIMELINE`), alone and beside its control."""

from __future__ import annotations

from steelyard.analysis.windows.effect import Effect
from steelyard.analysis.windows.losses import WRONG
from steelyard.analysis.windows.milestones import Elapsed
from steelyard.report.acted import Acted
from steelyard.spec.metrics import BEYOND, CENSORED, UNDONE

Figures = dict[str, float | int | str | None]
LATE = ("done", "limit", "unfinished")
"""How a controller's change may end without anything having failed."""


def figures(acted: Acted | None) -> Figures:
    """The figures of a trial on which actions acted; none of others."""
    if acted is None:
        return {}
    found: Figures = {UNDONE: _undone(acted)}
    if acted.whole is None:
        return found
    whole = acted.whole
    for name, elapsed in _times(acted, whole).items():
        found[name] = elapsed.seconds if elapsed and elapsed.reached else None
        found[f"{name}{BEYOND}"] = elapsed.seconds if elapsed and not elapsed.reached else None
    assert {*CENSORED} <= {*found}  # noqa: S101 - each of them may be censored
    found |= {f"until_{what.replace('-', '_')}_s": seconds for what, seconds in acted.until.items()}
    return found | of_effect(whole) | _moved(acted) | _blame(whole)


def _undone(acted: Acted) -> str | None:
    """Actions that did not end as they should, in words; None where all were done.

    When a controller decides, and how late its changes are, is judged: of them only failures are told.
    """
    undone = (one for one in acted.actions if one.how not in (LATE if one.by else ("done",)))
    return "; ".join(f"{one.id} ({one.do}) {one.how}" for one in undone) or None


def _times(acted: Acted, whole: Effect) -> dict[str, Elapsed | None]:
    again = whole.again
    after = None
    if again is not None:
        lasted = whole.windows.end_s - whole.windows.start_s
        after = Elapsed(max(again.seconds - lasted, 0.0), again.reached)
    return {
        "scaling_s": acted.took,
        "join_s": acted.joined,
        "recovered_s": whole.recovered,
        "steady_again_s": again,
        "stabilise_s": after,
    }


def of_effect(whole: Effect) -> Figures:
    """The figures that a control has as well, over the windows of the trial it stands beside."""
    found: Figures = {
        "excess_s": whole.excess_s,
        "worst_window_p99_ns": whole.worst.p99_ns if whole.worst else None,
        "window_spread": whole.spread,
        "lost_operations": whole.lost_operations,
    }
    for each, clock in ((whole.times, ""), (whole.raw, "_raw")):
        for times in each:
            name = f"{times.operation.lower().replace('-', '_')}_{times.window}{clock}"
            found |= {f"{name}_{f}_ns": getattr(times, f"{f}_ns") for f in ("mean", "p50", "p99")}
    for done in whole.done:
        found |= {f"{done.window}_ok_per_s": done.ok_per_s, f"{done.window}_failed_share": done.failed_share}
    return found | wrong_reads(whole)


def wrong_reads(whole: Effect) -> dict[str, float]:
    """`stale_reads`, `lost_reads`, `not_yet_reads`: from the first action on."""
    since = [done for done in whole.done if done.window != "before"]
    return {f"{kind}_reads": float(sum(getattr(d, kind) for d in since)) for kind in WRONG}


def _moved(acted: Acted) -> Figures:
    moved = [(one.bytes, one.least_bytes) for one in acted.actions if one.bytes is not None]
    least = sum(least or 0.0 for _, least in moved)
    found: Figures = {
        "moved_bytes": float(sum(b for b, _ in moved)) if moved else None,
        "remote_share": acted.remote,
        "moved_over_least": sum(b for b, least in moved if least) / least if least else None,
    }
    if acted.hints:
        found |= {"hints_stored": acted.hints.stored, "hints_replayed": acted.hints.replayed}
    if acted.capacity:
        found |= dict(zip(("capacity_gain", "capacity_gain_share"), acted.capacity, strict=True))
    return found


def _blame(whole: Effect) -> Figures:
    """Seconds beyond the bound, and those in which the host may be to blame."""
    host = whole.host
    return {
        "outside_bound_s": whole.outside_s,
        "host_busy_s": host.busy_s if host else None,
        "host_stolen_s": host.stolen_s if host else None,
    }
