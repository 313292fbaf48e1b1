"""The answers of a study as tables: verdicts, what they rest on, and at the end how it was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.analysis.claims.verdict import SIZE, UNCOVERED
from steelyard.report.formatting import clean
from steelyard.report.study.amounts import told, words_of
from steelyard.report.study.answers import Answer, Answers
from steelyard.report.tables.base import Table
from steelyard.spec.checks import Why

WAYS = {"ordered": "median ", "merged": "merged "}
"""How a figure that is no mean came from its units; a median stands within the least and the greatest."""
BORNE = {
    "confirmed": "bears it out",
    "refuted": "speaks against it",
    "inconclusive": "decides nothing",
    "not claimed": "decides nothing",
    "range not covered": "decides nothing",
}
"""What a figure says of the reason it stands for."""
WORDS = ("confirmed", "refuted", "inconclusive", "range not covered", "not claimed")
"""Verdicts, in the order in which they are counted."""

RULE = (
    "Direction is confirmed when the 95 % interval lies on the claimed side; size when it lies within "
    f"the paper's figure divided and multiplied by {SIZE}."
)


def headline(found: Answers) -> str:
    """`7 claims, 6 findings: 5 confirmed, 1 refuted; 2 checks of ours: 2 confirmed`; empty without claims."""
    told = [_counted(found.claims, "claim"), _counted(found.checks, "check", " of ours")]
    said = "; ".join(filter(None, told))
    small = "; the small form claims direction only" if said and found.asked.form == "small" else ""
    return said + small


def _counted(answers: Sequence[Answer], what: str, whose: str = "") -> str:
    """How many there are and what became of them; claims that rest on one contrast are one finding."""
    if not answers:
        return ""
    verdicts = [answer.verdict for answer in answers]
    findings = {(one.same_as or one.id, one.direction) for one in verdicts}  # the opposite is another one
    counts = [
        f"{count} {word}" for word in WORDS if (count := sum(direction == word for _, direction in findings))
    ]
    fewer = f", {len(findings)} finding{'s' * (len(findings) > 1)}" if len(findings) < len(answers) else ""
    return f"{len(answers)} {what}{'s' * (len(answers) > 1)}{whose}{fewer}: {', '.join(counts)}"


def claims_table(found: Answers) -> Table | None:
    """One row a claim of the paper: statement, verdicts, what was found and what the paper prints."""
    return _table("Claims", "claim", found.claims, RULE)


def checks_table(found: Answers) -> Table | None:
    """The same of our own checks."""
    return _table("Checks of ours", "check", found.checks, "" if found.claims else RULE)


def _table(title: str, first: str, answers: Sequence[Answer], note: str) -> Table | None:
    rows = [
        (
            answer.claim.id,
            clean(answer.claim.statement),
            answer.verdict.direction,
            answer.verdict.size,
            answer.found,
            answer.printed,
        )
        for answer in answers
    ]
    columns = (first, "statement", "direction", "size", "found", "paper")
    return Table(title, columns, rows, words=4, note=note) if rows else None


def grounds(answer: Answer) -> Iterator[tuple[str, str]]:
    """(what, text) of everything that a verdict rests on, but its figures."""
    claim, verdict = answer.claim, answer.verdict
    if claim.source:
        yield "source", clean(claim.source)
    yield "found", clean(f"{words_of(claim.metric)}: {verdict.words}")
    if verdict.same_as:
        yield "one finding with", f"{verdict.same_as}: the same contrast of the same trials"
    for other in verdict.sources:
        agrees = {"direction": other.direction, "size": other.size}
        told = ", ".join(f"{what} {answer}" for what, answer in agrees.items() if answer != "not claimed")
        yield "other sources", clean(f"{other.name} {other.printed}" + (f": {told}" if told else ""))
    for place, reason in enumerate(verdict.reasons):
        uncovered = verdict.direction == UNCOVERED and place == 0
        yield "not covered" if uncovered else "undecided", clean(reason)
    for reason in verdict.left_out:
        yield "trials", clean(reason)
    for why, borne in answer.why:
        yield "why", why_line(why, borne)
    if claim.unsteady:
        yield "unsteady trials count", clean(claim.unsteady)
    if claim.note:
        yield "note", clean(claim.note)


def why_line(why: Why, borne: Any) -> str:
    """`more files per read: files per read, p99 bears it out (last level over first 1.8 [1.6, 2.0])`."""
    if borne.direction == "cannot be seen here":
        return clean(f"{why.reason}: cannot be seen here{_figure(why)}: {borne.words}")
    words = f"{why.reason}: {words_of(why.metric)} {BORNE[borne.direction]} ({borne.words})"
    if borne.reasons:
        words += f"; {borne.reasons[0]}"
    return clean(words)


def _figure(why: Why) -> str:
    return f" ({words_of(why.metric)})" if why.metric else ""


def grounds_table(found: Answers) -> Table | None:
    """The grounds of all claims."""
    answers = (*found.claims, *found.checks)
    rows = [(answer.claim.id, what, text) for answer in answers for what, text in grounds(answer)]
    starts = [n for n, row in enumerate(rows) if n and row[0] != rows[n - 1][0]]
    columns = ("claim", "what", "")
    return Table("What the verdicts rest on", columns, rows, 3, breaks=frozenset(starts)) if rows else None


def evidence_table(answer: Answer, latency: str = "ms") -> Table | None:
    """The figures of one claim, cell by cell, and those of the paper's reasons."""
    rows = _evidence("", answer.verdict.evidence, latency)
    for why, borne in answer.why:
        rows += _evidence(why.metric, borne.evidence, latency)
    title = f"Evidence of {answer.claim.id}"
    return Table(title, ("figure", "of", "value", "units"), rows, words=2) if rows else None


def _evidence(reason: str, evidence: Sequence[Any], latency: str) -> list[tuple[str, str, str, str]]:
    return [
        (
            clean(
                words_of(one.metric)
                if one.metric
                else "ratio" + (f" of {words_of(reason)}" if reason else "")
            ),
            clean(one.what) or "all trials",
            WAYS.get(one.way, "") + told(one.figure, one.metric, latency),
            str(one.figure.count),
        )
        for one in evidence
    ]


def top(found: Answers) -> list[Table]:
    """What stands on top of a study's report."""
    tables = (claims_table(found), checks_table(found), grounds_table(found))
    return [table for table in tables if table]


def closing(found: Answers) -> list[Table]:
    """What stands at its end: where it differs from the paper, what it leaves out, how it was measured."""
    asked = found.asked
    titles = {
        "Deviations from the paper": asked.deviations,
        "Left out in this form": asked.dropped,
        "Methods": tuple(methods(found)),
    }
    said = [
        Table(title, ("",), [(clean(text),) for text in texts], words=1)
        for title, texts in titles.items()
        if texts
    ]
    return [*filter(None, (found.ratios, found.looks)), *said]


def methods(found: Answers) -> Iterator[str]:
    """How the trials were made and judged, in sentences."""
    design = found.design
    trials = found.trials
    starts = f", {n} starts of each cluster" if (n := design.get("starts", 1)) > 1 else ""
    if found.asked.paper:
        yield f"The paper: {found.asked.paper}"
    yield (
        f"{trials.height} trials planned, {design.get('repetitions', '?')} repetitions of each point, order "
        f"{design.get('order', '?')}, reset {design.get('reset', '?')} between trials{starts}, cache "
        f"{design.get('cache', '?')}, seed {design.get('seed', '?')}."
    )
    yield (
        "Left out of the figures: what was cut as warm-up (MSER-5 and change points)."
        if design.get("warmup") == "cut"
        else "Warm-up is driven before the measured phase for a fixed time (load.warmup_s)."
    )
    yield (
        "Service time runs from sending a request to its answer, as YCSB measures; response time from when "
        "it was due. Throughput is successes over the phase's time; where connecting is included it is said."
    )
    yield (
        "A trial counts unless it was disturbed, failed, lost a server, returned corrupt values, or its "
        "client was saturated. Units are the highest level that was repeated: loads, starts, or runs. Means "
        "are geometric over units, intervals Student's t on logarithms; percentiles of ten units or more are "
        "merged, of fewer the median within the least and the greatest."
    )
    yield (
        "Fewer than six units, trials lost through the system itself, or more trials without a steady state "
        "than false alarms bring (unless the claim says where the paper's own runs never came to rest) make "
        "a verdict inconclusive. All claims share one error rate of 5 % (Holm), our checks another; claims "
        "that rest on the same contrast of the same trials are one finding."
    )
