"""The comparison of two results: cells matched by point, what differs beside the systems, the judged rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.analysis.compare import GateResult, Pair, Row, compare, judge_gate, noise_floors
from steelyard.analysis.evidence import Cell
from steelyard.analysis.metrics import Metric, chosen, find, metrics_in
from steelyard.analysis.stats.runs import FEW
from steelyard.errors import InputError
from steelyard.report.compare.alike import Alikeness, Difference, alike
from steelyard.report.compare.side import Key, Side, label
from steelyard.spec.gate import Gate


@dataclass(frozen=True)
class Asked:
    """What was asked of a comparison.

    Attributes:
        metrics: names; none = the usual ones, `all` = every one there is.
        gates: of `--fail-if`.
        margin: relative difference that does not matter.
        noise: folder of A/A trials; the margin is at least what they scatter by.
        force: compare unlike hosts or plans, too.
    """

    metrics: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()
    margin: float = 0.03
    noise: str | None = None
    force: bool = False


@dataclass(frozen=True)
class Comparison:
    """Everything a comparison shows."""

    a: Side
    b: Side
    asked: Asked
    alikeness: Alikeness
    rows: tuple[Row, ...]
    gates: tuple[GateResult, ...]
    unmatched: tuple[str, ...]
    """Cells that only one side has."""
    skipped: tuple[str, ...]
    """Metrics asked for that no trial of a cell has that counts."""

    @property
    def failed(self) -> tuple[GateResult, ...]:
        """Gates that failed."""
        return tuple(gate for gate in self.gates if gate.failed)

    @property
    def shared(self) -> int:
        """Trials that stand on both sides: of those every figure is compared with itself."""
        if self.a.path.resolve() != self.b.path.resolve():
            return 0
        return len(self.a.counting & self.b.counting)

    @property
    def notes(self) -> list[str]:
        """What the reader must know beside the figures."""
        found = [f"{len(self.rows)} comparisons are judged together by Holm's correction: the chance of any "
                 "false word stays below 5 %. Intervals are 95 % each, before it."]  # fmt: skip
        if any(row.few for row in self.rows):
            found.append(f"Fewer than {FEW} repetitions on a side: take every word with care.")
        if given := {row.ratio.given for row in self.rows if row.ratio.given}:
            found.append(f"Intervals hold given {' and '.join(sorted(given))}: it was not repeated.")
        for name, side in (("A", self.a), ("B", self.b)):
            found += [f"{name}: {reason}." for reason in side.left_out]
            if side.unsteady:
                found.append(
                    f"{name}: {side.unsteady} trials found no steady state; means depend on their length."
                )
        if self.unmatched:
            found.append(f"Only on one side, and not compared: {'; '.join(self.unmatched)}.")
        return found + [f"Not compared: {words}." for words in self.skipped]


def build_comparison(a: str, b: str, asked: Asked) -> Comparison:
    """Compare two results.

    Args:
        a, b: `RUN` or `RUN@FACTOR=LEVEL,...`; B is judged against A.
        asked: metrics, gates, margin and so on.

    Raises:
        InputError: no result, no common cell, unlike hosts or plans without `force`, or an unknown metric.
    """
    sides = Side(a), Side(b)
    cells, unmatched = _matched(*sides)
    alikeness = _alike(sides, cells)
    if alikeness.forbidding and not asked.force:
        raise _refusal(a, b, alikeness.forbidding)
    known = metrics_in([c for c in sides[0].frame.columns if c in sides[1].frame.columns])
    gated = [find(gate.metric, known, f"--fail-if '{gate.text}'") for gate in asked.gates]
    metrics = list(dict.fromkeys([*chosen(asked.metrics, known), *gated]))
    pairs, skipped = _pairs(cells, metrics)
    if not pairs:
        raise InputError(f"{a} and {b} have no figure in common", hint="; ".join(skipped) or None)
    floors = _floors(asked.noise, metrics, cells) if asked.noise else {}
    rows = compare(pairs, asked.margin, floors)
    return Comparison(*sides, asked, alikeness, tuple(rows), _gates(asked.gates, gated, rows),
                      unmatched, tuple(skipped))  # fmt: skip


Matched = list[tuple[str, Cell, Cell]]


def _matched(a: Side, b: Side) -> tuple[Matched, tuple[str, ...]]:
    """Cells by point; a single cell on each side needs no match, nor do the names of single systems."""
    left, right = a.cells, b.cells
    if len(left) == len(right) == 1:
        return [("", *left.values(), *right.values())], ()  # type: ignore[list-item]
    both = set.intersection(*({column for key in side for column, _ in key} for side in (left, right)))
    apart = {c for c in both if _levels(left, c).isdisjoint(_levels(right, c)) and len(_levels(left, c)) == 1}
    left, right = _without(left, apart, a), _without(right, apart, b)
    common = [key for key in left if key in right]
    if not common:
        raise InputError(
            f"{a.words} and {b.words} have no point in common",
            hint=f"A has {_some(left)}; B has {_some(right)}; select with RUN@FACTOR=LEVEL",
        )
    alone = tuple(sorted(label(key) for key in left.keys() ^ right.keys()))
    return [(label(key), left[key], right[key]) for key in common], alone


def _levels(cells: dict[Key, Cell], column: str) -> set[str]:
    return {value for key in cells for name, value in key if name == column}


def _without(cells: dict[Key, Cell], columns: set[str], side: Side) -> dict[Key, Cell]:
    found = {tuple(pair for pair in key if pair[0] not in columns): cell for key, cell in cells.items()}
    if len(found) < len(cells):
        raise InputError(
            f"{side.words}: its points cannot be told apart once {', '.join(columns)} is left out"
        )
    return found


def _some(cells: dict[Key, Cell]) -> str:
    labels = [label(key) for key in cells]
    return "; ".join(labels[:3]) + (f" and {len(labels) - 3} more" if len(labels) > 3 else "")


def _alike(sides: tuple[Side, Side], cells: Matched) -> Alikeness:
    """Of all cells together, each difference once; what the selections name is meant to differ."""
    free = frozenset(sides[0].selected) | frozenset(sides[1].selected)
    found = [alike(sides[0].manifests(a), sides[1].manifests(b), free) for _, a, b in cells]
    parts = (_once([getattr(one, name) for one in found]) for name in ("forbidding", "subject", "client"))
    return Alikeness(*parts)


def _once(found: Sequence[Sequence[Difference]]) -> tuple[Difference, ...]:
    return tuple({d.what: d for differences in found for d in differences}.values())


def _refusal(a: str, b: str, differences: Sequence[Difference]) -> InputError:
    named = "\n".join(f"  {d.what}: {d.a} against {d.b}" for d in differences)
    return InputError(
        f"{a} and {b} are unlike in more than their systems, so a ratio would not be the systems':\n{named}",
        hint="--force compares all the same, and says so",
    )


def _pairs(cells: Matched, metrics: Sequence[Metric]) -> tuple[list[Pair], list[str]]:
    pairs, skipped = [], []
    for name, a, b in cells:
        lost = _lost(a, b)
        for metric in metrics:
            left, right = a.sample(metric.column), b.sample(metric.column)
            if left and right:
                pairs.append(Pair(name, metric, left, right, lost))
            else:
                where = f" at {name}" if name else ""
                skipped.append(f"{metric.words}{where}, which no trial of a side has that counts")
    return pairs, skipped


def _lost(a: Cell, b: Cell) -> str:
    """What either side lost through the system itself: the trials that are left say nothing of it."""
    sides = (("A", a), ("B", b))
    return "; ".join(f"{name}: {words}" for name, cell in sides for words in cell.system_losses)


def _floors(noise: str, metrics: Sequence[Metric], cells: Matched) -> dict[str, float]:
    found = []
    for cell in Side(noise).cells.values():
        samples = {metric.column: cell.sample(metric.column) for metric in metrics}
        found.append({column: sample for column, sample in samples.items() if sample})
    return noise_floors(found, min(min(len(a.counting), len(b.counting)) for _, a, b in cells))


def _gates(gates: Sequence[Gate], metrics: Sequence[Metric], rows: Sequence[Row]) -> tuple[GateResult, ...]:
    found = []
    for gate, metric in zip(gates, metrics, strict=True):
        judged = [judge_gate(gate, row) for row in rows if row.metric == metric]
        if not judged:
            raise InputError(f"--fail-if '{gate.text}': no trial of a side that counts has {metric.words}")
        found += judged
    return tuple(found)
