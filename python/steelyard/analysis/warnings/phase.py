"""How the load was driven: saturation, the cap, the offered rate, failures, Little's law."""

from __future__ import annotations

from steelyard.analysis.offered import kept, little
from steelyard.analysis.spread import FLUSH
from steelyard.analysis.summary import Phase
from steelyard.analysis.warnings.base import Check, Context, Warned, kinds, percent

BUSY_CORE = 0.9
"""The engine's hot loop is one thread: above 90 % of a core it has no room left for a burst."""
LINGER_NS = 1_000_000
"""Under a quantum answers may lie unread for so long at most: nothing is amiss then."""
UNREAD_SHARE = 0.1
"""Of the median service time: what is less changes no figure much."""
FEW_UNSENT = 1e-4
"""Of all operations: what falls due in the last moment of a phase. An operation without an answer is none."""
SHARED_CORES = 0.1
"""More than a tenth of the cores that servers run on is taken from what is measured."""


def starved(context: Context) -> Warned | None:
    """The client had no processor when it wanted one."""
    found = context.phase.saturation
    if not found.seconds_starved:
        return None
    by = sorted(context.starved.items(), key=lambda item: -item[1])
    where = f" ({', '.join(f'{name} in {seconds}' for name, seconds in by)})" if by else ""
    return Warned(
        "starved",
        f"The client was starved of CPU in {found.seconds_starved:g} of {context.phase.seconds:.0f} "
        f"seconds{where}: its threads waited for a processor, and operations were sent or their "
        "answers read late by that. Latency in these seconds is the client's as much as the server's, and "
        "nothing is proven about the server. Give the client cores or a host of its own, raise its CPU "
        "quota, or offer a lower rate.",
    )


def unread(context: Context) -> Warned | None:
    """Answers lay in the client's kernel before it read them, for longer than pacing lets them."""
    phase = context.phase
    lag, median_ns = phase.pacing.get("lag") or {}, phase.total.service.p50_ns
    p99_ns = lag.get("p99_ns") or 0
    if p99_ns <= LINGER_NS or median_ns is None or p99_ns <= UNREAD_SHARE * median_ns:
        return None
    share = _merged_share(phase)
    together = "" if share is None else f" ({percent(share)} of them were)"
    return Warned(
        "unread",
        f"1 % of the client's reads found answers that had lain unread for {p99_ns / 1e6:,.1f} ms or longer, "
        f"at most {lag['max_ns'] / 1e6:,.1f} ms. An answer's time is the kernel's stamp of its arrival, and "
        f"leaves that out; but answers that are read together{together} all have the stamp of the last, so "
        "that service and response times may be too long by about as much. Give the client cores or a host "
        "of its own, or use more engines.",
    )


def _merged_share(phase: Phase) -> float | None:
    """Of all answers, those that were read with a later one."""
    reads, answers = (phase.pacing.get("lag") or {}).get("reads"), phase.traffic and phase.traffic.answers
    return max(1 - reads / answers, 0.0) if reads and answers else None


def not_yet(context: Context) -> Warned | None:
    """Reads asked for records that could not be there."""
    phase = context.phase
    reads = next((op for op in phase.operations if op.name == "READ"), None)
    if not phase.total.not_yet:
        return None
    share = "" if reads is None or not reads.count else f" ({percent(reads.not_yet / reads.count)} of reads)"
    return Warned(
        "not_yet",
        f"{phase.total.not_yet:,} operations{share} asked for records whose insert was not acknowledged, and "
        "found nothing. They count as successes and are in no percentile but those of all attempts: an "
        "absence costs less than a record.",
        "note",
    )


def saturated(context: Context) -> Warned | None:
    """The client was too slow to send what was due."""
    found = context.phase.saturation
    if not found.seconds_saturated:
        return None
    return Warned(
        "saturated",
        f"The client was saturated in {found.seconds_saturated:g} of {context.phase.seconds:.0f} seconds: "
        f"operations were due and not sent although fewer than the allowed {context.phase.in_flight_cap} "
        "were on the wire and its threads had a processor, so this delay is the client's and not the "
        "server's. Use more engines, a lower rate, or a host of its own for the client.",
    )


def cap_reached(context: Context) -> Warned | None:
    """The server was so slow that all allowed operations were in flight."""
    found = context.phase.saturation
    if not found.seconds_cap_reached:
        return None
    return Warned(
        "cap_reached",
        f"All {context.phase.in_flight_cap} allowed operations were in flight in "
        f"{found.seconds_cap_reached:g} of {context.phase.seconds:.0f} seconds while others were due (most "
        f"waiting: {found.max_backlog:,}): the server is slower than the offered rate. Response time, which "
        "includes that wait, is right; service time alone would hide it.",
    )


def rate_not_reached(context: Context) -> Warned | None:
    """Fewer operations were completed per second than were offered."""
    phase, target = context.phase, context.phase.target_per_s
    completed = phase.total.rate_per_s if context.completed_per_s is None else context.completed_per_s
    if not target or kept(completed, target, phase.seconds, poisson=phase.arrivals == "poisson"):
        return None
    return Warned(
        "rate_not_reached",
        f"The offered rate was not reached: {completed:,.0f} of {target:,.0f} operations/s "
        f"({percent(completed / target)}). Latencies of an overloaded system grow with the length of the "
        "run; do not compare them with runs that reached their rate.",
    )


def errors(context: Context) -> Warned | None:
    """Operations failed."""
    total = context.phase.total
    if not total.failed:
        return None
    where = "" if context.phase.kind == "run" else f" in phase {context.phase.name}"
    return Warned(
        "errors",
        f"{total.failed:,} of {total.count:,} operations failed{where} "
        f"({percent(total.failed / max(total.count, 1))}): {kinds(total.failures)}. Percentiles of "
        "successes leave them out; the rows 'all attempts' count each as at least its timeout. The "
        "servers' logs in the trial's folder may say why.",
    )


def censored(context: Context) -> Warned | None:
    """Operations were due and had no answer when the phase ended."""
    phase = context.phase
    if not phase.unsent + phase.unanswered:
        return None
    few = phase.unsent <= FEW_UNSENT * phase.total.count
    return Warned(
        "censored",
        f"When the phase {phase.name} ended operations were due and not sent ({phase.unsent:,}), or had no "
        f"answer yet ({phase.unanswered:,}). They are in 'all attempts' with the time they had waited, "
        "which is less than they would have taken.",
        "note" if few and not phase.unanswered else "warning",
    )


def littles_law(context: Context) -> Warned | None:
    """In a closed loop, clients = throughput x mean response."""
    phase, mean = context.phase, context.phase.total.response.mean_ns
    if not phase.closed or not phase.in_flight_cap or mean is None or phase.total.failed:
        return None
    mean += _sending_ns(phase)
    found = little(phase.in_flight_cap, phase.total.rate_per_s, mean / 1e9)
    if found.holds or found.clients < found.found <= found.clients * _with_the_last(phase):
        return None
    return Warned(
        "littles_law",
        f"{phase.in_flight_cap} client{'s' * (phase.in_flight_cap != 1)}, but throughput x mean response is "
        f"{found.found:.1f} ({percent(found.deviation)} off): {_outside(context, phase.in_flight_cap, mean)}",
    )


def _sending_ns(phase: Phase) -> float:
    """What clients spend on sending collected writes, for each operation: that is no operation of its own."""
    sent = (op for op in phase.operations if op.name == FLUSH)
    return sum(op.count * (op.response.mean_ns or 0) for op in sent) / max(phase.total.count, 1)


def _with_the_last(phase: Phase) -> float:
    """Time to the last answer over the phase's own: what is in flight as that ends responds beyond it."""
    return phase.elapsed_s / phase.seconds if phase.seconds else 1.0


def _outside(context: Context, clients: int, mean_ns: float) -> str:
    """What clients of a closed loop do outside their operations: wake up, where they sleep and that is most
    of it. Answers lie unread for as long where the engine is busy."""
    phase = context.phase
    outside_ns = clients / phase.total.rate_per_s * 1e9 - mean_ns
    if outside_ns < 0:
        return "responses add up to more time than the clients had. Do not trust them, and report it."
    waking_ns = (phase.pacing.get("lag") or {}).get("p50_ns") or 0
    if (
        waking_ns < outside_ns / 2
        or waking_ns > LINGER_NS
        or _busy(context)
        or phase.saturation.seconds_starved
    ):
        return (
            "the clients spent time outside operations, most likely because the engine had no CPU left. Look "
            "at its CPU; use more engines."
        )
    return (
        f"the clients spent time outside operations, {outside_ns / 1e3:,.0f} us for each, most of it until "
        f"an answer that had arrived was read ({waking_ns / 1e3:,.0f} us, median): a client sleeps until an "
        f"answer comes. Beside operations of {mean_ns / 1e3:,.0f} us that counts: throughput is the client's "
        "as well as the system's, unless more are in flight."
    )


def client_busy(context: Context) -> Warned | None:
    """The engine used almost a whole core."""
    cores, engines = _client_cores(context), _engines(context)
    if cores is None or not _busy(context):
        return None
    return Warned(
        "client_busy",
        f"The load engine used {cores:.2f} cores with {engines} worker{'s' if engines > 1 else ''}: what "
        "was measured may be the client's limit and not the server's. Use more engines.",
    )


def client_takes_cores(context: Context) -> Warned | None:
    """Under a schedule, the client takes cores from the servers beside it; coarser pacing gives some back.

    What a paced client costs are its wake-ups, so half as many cost about half (docs/performance.md).
    """
    phase, cores = context.phase, _client_cores(context)
    if phase.closed or not context.local or cores is None or cores <= SHARED_CORES * (context.cores or 1):
        return None
    turns = phase.pacing.get("turns") or 0
    text = (
        f"The load engine took {cores:.2f} of the {context.cores} cores that the servers run on "
        f"({percent(cores / (context.cores or 1))}): they had less of them than before a client elsewhere."
    )
    if turns:
        engines = max(len(phase.engines), 1)
        quantum_us = 2e6 * phase.seconds * engines / turns
        text += (
            f" It woke {turns / phase.seconds:,.0f} times a second; `--pacing {quantum_us:.0f}us` would "
            "halve that and about halve what it takes, and send operations up to so much later."
        )
    return Warned("client_takes_cores", text)


def _engines(context: Context) -> int:
    return max(len(context.phase.engines), 1)


def _busy(context: Context) -> bool:
    cores = _client_cores(context)
    return cores is not None and cores >= BUSY_CORE * _engines(context)


def _client_cores(context: Context) -> float | None:
    """Cores that all engines together used."""
    return next((cost.cores for cost in context.costs if cost.party == "client (engine)"), None)


CHECKS: tuple[Check, ...] = (
    rate_not_reached,
    starved,
    unread,
    saturated,
    cap_reached,
    not_yet,
    errors,
    censored,
    littles_law,
    client_busy,
    client_takes_cores,
)
