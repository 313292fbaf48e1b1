"""What the host did to the run: shared cores, throttling, steal, waiting for disks, missing watchers."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analysis.counters import NS
from steelyard.analysis.warnings.base import Check, Context, Warned, percent
from steelyard.spec.local import SAFE_QUOTAS

THROTTLED = 0.01
"""One percent of the time is 10 ms a second: more than most percentiles one reports."""
STEAL = 0.01
"""One percent of the CPU taken by other guests already moves p99 of sub-millisecond operations."""
BESIDE = 0.025
"""Of all cores. With others at 6 to 9 % of two cores p99 of reads at a given rate was 2.4 to 4.2 times as
high, and means 1.2 to 1.6 times, as with others at 0.2 % (docs/findings/versions-cassandra-latency)."""
BESIDE_LEAST_S = 10.0
"""Others are looked at every 5 s: a shorter phase holds what was before and after it."""
COUNTED_S = 0.05
"""Less is no more than a few of the kernel's ticks of 10 ms: one of them is 1.7 % of 0.3 s of two cores."""
IOWAIT = 0.05
"""Below 5 % waiting for disks is the ordinary flush of a commit log."""


def oversubscribed(context: Context) -> Warned | None:
    """Servers and client were promised more cores than there are, or share them without limits."""
    if not context.local or context.cores is None:
        return None
    if context.quota_cores is None:
        busy = "" if context.busy_share is None else f" (in use: {percent(context.busy_share)} of them)"
        return Warned(
            "shared_host",
            f"Client and servers share {context.cores} cores without limits{busy}: each slows the other "
            "down, and latencies include it. Judge throughput and CPU per operation; for p99 limit the "
            "nodes' CPU or use several hosts.",
            "note",
        )
    if context.quota_cores <= SAFE_QUOTAS * context.cores:
        return None
    return Warned(
        "oversubscribed",
        f"Oversubscribed: the CPU quotas of all parties sum to {context.quota_cores:g} of {context.cores} "
        f"cores, and at most {SAFE_QUOTAS * context.cores:g} can be kept. Quotas were not what the nodes "
        "got; lower them or use fewer nodes.",
    )


def throttled(context: Context) -> Warned | None:
    """A control group held a node back."""
    shares = {c.party: c.throttled_share for c in context.costs if c.throttled_share is not None}
    held = {name: share for name, share in shares.items() if share > THROTTLED}
    if not held:
        return None
    words = ", ".join(f"{name} {percent(share)}" for name, share in sorted(held.items()))
    return Warned(
        "throttled",
        f"CPU limits held nodes back: in {words} of the quota's periods. That is what a limit is for; "
        "latencies contain the pauses, so compare them only with runs under the same limits.",
    )


def steal(context: Context) -> Warned | None:
    """Others on the physical machine took CPU: its guests, or itself as it writes this one's disk. That
    it did in 16 of 16 trials whose nodes synced every write, and in none of 16 whose nodes did every 10 s."""
    share = context.steal_share
    if share is None or share <= STEAL:
        return None
    if share * (context.cores or 1) * (context.phase.end_ns - context.phase.start_ns) / NS < COUNTED_S:
        return None
    return Warned(
        "steal",
        f"Other guests of this machine's host, or its work for this one's disk, took "
        f"{percent(share)} of the CPU (steal). "
        "Repeat the run at another time or on a machine of its own; figures of single runs are not "
        "comparable.",
    )


def beside(context: Context) -> Warned | None:
    """Something else ran on the host of nodes and client while the rate was given: at saturation it costs
    what it takes, at a given rate an operation now and then waits for it. Of given nodes it is not known
    whether they are the others."""
    used, cores = context.others_cores, context.cores
    if context.phase.closed or not context.local or not cores or used is None or used <= BESIDE * cores:
        return None
    if (context.phase.end_ns - context.phase.start_ns) / NS < BESIDE_LEAST_S:
        return None
    return Warned(
        "beside",
        f"Processes that are neither client nor server used {used:.2f} of {cores} cores: at a given rate "
        "operations wait for them now and then, and percentiles tell of that more than of the servers. "
        "Compare them with those of trials that had as little beside them, or end what else runs.",
    )


def iowait(context: Context) -> Warned | None:
    """Cores were idle because of disks."""
    if context.iowait_share is None or context.iowait_share <= IOWAIT:
        return None
    return Warned(
        "iowait",
        f"The cores waited for disks in {percent(context.iowait_share)} of the time: the disk limits this "
        "run. Look at disk bytes and compactions of the nodes.",
    )


def unwatched(context: Context) -> Warned | None:
    """Servers of which no samples exist."""
    missing = [name for name in context.nodes if name not in context.watched]
    if missing and context.local:
        return Warned(
            "unwatched",
            f"Nothing was sampled of {_reasons(missing, context)}: its CPU, memory and disk are not in this "
            "report.",
        )
    blind = [name for name in context.nodes if name not in context.agents]
    if not blind:
        return None
    return Warned(
        "unwatched",
        f"Nothing was told from inside {_reasons(blind, context)}: compactions, garbage collection "
        "and requests of these nodes are not in this report.",
        "note",
    )


def _reasons(names: Sequence[str], context: Context) -> str:
    """`node1, node2 (no agent loaded)`: those that lack something for one reason together."""
    by_reason: dict[str, list[str]] = {}
    for name in names:
        by_reason.setdefault(context.untold.get(name, ""), []).append(name)
    return "; ".join(", ".join(those) + (f" ({why})" if why else "") for why, those in by_reason.items())


def unsampled_machines(context: Context) -> Warned | None:
    """Servers that are not ours, and whose machines have no worker."""
    if context.local:
        return None
    sampled = {cost.party for cost in context.costs if cost.cores is not None}
    missing = [name for name in context.nodes if name not in sampled]
    if not missing:
        return None
    return Warned(
        "unsampled_machines",
        f"CPU, memory, disk and network of {', '.join(missing)} are not in this report: nothing samples "
        "their machines. --watch-hosts does where ssh and Steelyard are there (docs/watching.md).",
        "note",
    )


def untold_figures(context: Context) -> Warned | None:
    """What servers that are not ours do not tell from outside."""
    seen = {what: [n for n in names if n in context.agents] for what, names in context.lacking.items()}
    told = [f"{', '.join(names)}: {what}" for what, names in seen.items() if names]
    if context.local or not told:
        return None
    return Warned("untold_figures", f"Servers do not tell all from outside. {'; '.join(told)}.", "note")


CHECKS: tuple[Check, ...] = (
    oversubscribed,
    throttled,
    steal,
    beside,
    iowait,
    unwatched,
    unsampled_machines,
    untold_figures,
)
