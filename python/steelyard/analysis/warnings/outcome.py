"""How the trial ended, and what was found in the values that came back."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.analysis.warnings.base import Check, Context, Warned

WRONG = {
    "corrupt": "whose checksum was wrong",
    "foreign": "that belong to another record, field or run",
    "stale": "that miss a write acknowledged before the read was sent",
    "lost": "whose acknowledged write was gone",
}
"""Verify counter -> what it means."""


def partial(context: Context) -> Warned | None:
    """The trial was cut short."""
    if not context.partial:
        return None
    return Warned(
        "partial",
        "Half-written result: the trial's folder is still marked .partial, so it was cut short or is still "
        "running. Shown is what reached the disk; nothing here stands for a whole run.",
        "fault",
    )


def not_done(context: Context) -> Warned | None:
    """The trial failed or was interrupted."""
    if context.status == "done" or context.partial:
        return None
    if context.status == "unknown":
        return Warned("no_manifest", "There is no manifest: how this trial ended is not known.", "fault")
    why = f": {context.reason}" if context.reason else ""
    return Warned(
        context.status,
        f"The trial ended as '{context.status}'{why}. Figures cover what was measured until then.",
        "fault",
    )


def server_died(context: Context) -> Warned | None:
    """A server died without being asked to."""
    deaths = [e for e in context.timeline if str(e.get("event", "")).replace("_", " ") == "server died"]
    if not deaths:
        return None
    return Warned(
        "server_died",
        "; ".join(_death(event) for event in deaths) + ". Its log is in the trial's folder.",
        "fault",
    )


def _death(event: Mapping[str, object]) -> str:
    detail = event.get("detail")
    if isinstance(detail, Mapping):
        detail = ", ".join(f"{key} {value}" for key, value in detail.items())
    return f"A server died: {detail or 'no detail known'}"


def audit(context: Context) -> Warned | None:
    """Acknowledged writes were gone, or older ones came back, when all were read again."""
    found = context.phase.audit
    if found is None:
        return None
    wrong = {name: int(found.get(name) or 0) for name in ("lost", "fields_lost", "stale")}
    unread = int(found.get("unread") or 0)
    if not any(wrong.values()) and not unread:
        return None
    examples = ", ".join(
        f"{e['key']} ({e['fault'].replace('_', ' ')})" for e in found.get("examples", ())[:3]
    )
    return Warned(
        "audit",
        f"Of {int(found.get('records') or 0):,} records with an acknowledged write, read back after the run, "
        f"{wrong['lost']:,} were lost; {wrong['fields_lost']:,} fields of others were gone and "
        f"{wrong['stale']:,} stale; {unread:,} records could not be read."
        + (f" The first: {examples}." if examples else ""),
        "fault" if wrong["lost"] or wrong["fields_lost"] else "warning",
    )


def verify(context: Context) -> Warned | None:
    """Values that came back were wrong."""
    counts = {kind: int(context.phase.verify.get(kind) or 0) for kind in WRONG}
    found = [f"{n:,} {kind} (values {WRONG[kind]})" for kind, n in counts.items() if n]
    if not found:
        return None
    checked = int(context.phase.verify.get("checked") or 0)
    grave = counts["corrupt"] or counts["foreign"]
    end = (
        "Never right at any consistency level."
        if grave
        else "At a consistency level below quorum this can happen; it is a result."
    )
    return Warned(
        "verify", f"Of {checked:,} values judged: {', '.join(found)}. {end}", "fault" if grave else "warning"
    )


def not_judged(context: Context) -> Warned | None:
    """No value was judged."""
    if context.values == "ycsb":
        why = "values are plain YCSB values, which carry nothing to judge them by"
    elif context.verify == "off" or context.phase.verify.get("mode") == "off":
        why = "verify is off"
    else:
        return None
    return Warned("not_judged", f"No value that came back was judged: {why}.", "note")


CHECKS: tuple[Check, ...] = (partial, not_done, server_died, audit, verify, not_judged)
