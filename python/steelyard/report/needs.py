"""What each study needs in its full form, and what its small form does not reach: a page of tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from steelyard.analysis.claims.covered import left_out
from steelyard.report.formatting import NONE, clean
from steelyard.report.page import Page
from steelyard.report.tables import Table
from steelyard.spec.checks import Claim
from steelyard.spec.estimate import estimate, searches_seconds
from steelyard.spec.local import LocalSystem
from steelyard.spec.models import Point, Study
from steelyard.spec.trials import trials
from steelyard.spec.units import about, bytes_text

COLUMNS = ("study", "nodes", "cores", "memory", "disk", "time", "claims and checks", "not in the small form")
NOTES = (
    "Nodes: masters of their own among them; 3 + 1 has one in reserve, which joins while the study runs.",
    "Cores, memory and disk are of all nodes together, those in reserve too: the most that any of the "
    "study's clusters has, each for itself. The client's machine comes on top.",
    "Disk and time are estimates (steelyard run STUDY --dry-run says by which assumptions). Time is of the "
    "plan: what is disturbed or undecided is run again beyond it, for as long again at most (--budget; "
    "--fixed: never).",
)
BEYOND = "What the small form does not reach is judged 'range not covered' there."
SIZES = (
    "A small form claims direction only: by how much is compared at paper scale, and so is what is a figure "
    "alone (a latency, a time), of which small forms decide nothing."
)


@dataclass(frozen=True)
class Needs:
    """What one study needs.

    Attributes:
        nodes: of the smallest and of the largest cluster, at their start.
        reserve: nodes that may join.
        cores, memory_mib: the most that all nodes of a cluster have, those in reserve too; None where nodes
            have no such limit.
        disk_bytes, seconds: estimates.
        claims: how many it has, checks of ours among them.
        unreached: claims and checks of which the small form lacks levels -> which.
        dropped: what else the small form leaves out; both are empty where there is none.
        sizes: claims and checks with a figure of the paper, with which the full form alone is compared.
    """

    nodes: tuple[int, int]
    reserve: int
    cores: float | None
    memory_mib: int | None
    disk_bytes: float
    seconds: float
    claims: int
    unreached: Mapping[str, str]
    dropped: tuple[str, ...]
    sizes: tuple[str, ...]


def needs_of(full: Study, small: Study | None) -> Needs:
    """What a study needs, from its two forms."""
    planned, asked = trials(full), (*full.claims, *full.checks)
    need, sizes = estimate(planned), [cell.system.size for cell in full.cells]
    return Needs(
        nodes=(min(sizes), max(sizes)),
        reserve=max(cell.system.spare if isinstance(cell.system, LocalSystem) else 0 for cell in full.cells),
        cores=max((c for cell in full.cells if (c := _cores(cell)) is not None), default=None),
        memory_mib=max((m for cell in full.cells if (m := _memory(cell)) is not None), default=None),
        disk_bytes=need.disk_bytes + need.results_bytes,
        seconds=need.seconds + searches_seconds(full, planned),
        claims=len(asked),
        unreached=unreached(asked, small.cells) if small else {},
        dropped=small.dropped if small else (),
        sizes=tuple(claim.id for claim in asked if claim.printed is not None) if small else (),
    )


def _cores(cell: Point) -> float | None:
    return cell.system.quota_cores if isinstance(cell.system, LocalSystem) else None


def _memory(cell: Point) -> int | None:
    if not isinstance(cell.system, LocalSystem):
        return None
    each = [cell.system.limits_of(name).memory_mib for name in cell.system.node_names]
    known = [mib for mib in each if mib]
    return sum(known) if len(known) == len(each) else None


def unreached(claims: Iterable[Claim], cells: Iterable[Point]) -> dict[str, str]:
    """Claims that speak of levels which a form's points do not have -> which, in words."""
    rows = [{**cell.levels, "system": cell.system_name, "variant": cell.variant} for cell in cells]
    return {claim.id: left for claim in claims if (left := left_out(claim, rows))}


def page(found: Mapping[str, Needs]) -> Page:
    """A table for each folder of studies, and one of what small forms leave out."""
    folders: dict[str, list[tuple[str, ...]]] = {}
    for name, needs in found.items():
        folder, _, study = name.rpartition("/")
        folders.setdefault(folder or "by themselves", []).append((study, *_row(needs)))
    tables = [Table(folder, COLUMNS, rows) for folder, rows in folders.items()]
    left = [(name, clean(what)) for name, needs in found.items() for what in needs.dropped]
    beyond = [(name, *row) for name, needs in found.items() for row in _beyond(needs)]
    if beyond:
        columns = ("study", "left out", "claims and checks")
        tables.append(Table("What small forms do not reach", columns, beyond, words=3, note=BEYOND))
    if sizes := [(name, ", ".join(needs.sizes)) for name, needs in found.items() if needs.sizes]:
        title = "Figures of papers that small forms are not held to"
        tables.append(Table(title, ("study", "claims and checks"), sizes, words=2, note=SIZES))
    if left:
        tables.append(Table("What else small forms leave out", ("study", "left out"), left, words=2))
    hours = sum(needs.seconds for needs in found.values()) / 3600
    of = "1 study in its" if len(found) == 1 else f"{len(found)} studies in their"
    headline = f"{of} full form: {hours:,.0f} hours of one cluster by estimate, one study after another"
    return Page("What studies need", headline, [], tables, NOTES)


def _beyond(needs: Needs) -> Iterator[tuple[str, str]]:
    """(what is left out, the claims that need it)."""
    by: dict[str, list[str]] = {}
    for claim, what in needs.unreached.items():
        by.setdefault(what, []).append(claim)
    for what, claims in by.items():
        yield clean(what.removesuffix(" left out")), ", ".join(claims)


def _row(needs: Needs) -> tuple[str, ...]:
    least, most = needs.nodes
    nodes = str(most) if least == most else f"{least} to {most}"
    return (
        f"{nodes} + {needs.reserve}" if needs.reserve else nodes,
        NONE if needs.cores is None else f"{needs.cores:g}",
        NONE if needs.memory_mib is None else bytes_text(needs.memory_mib * 2**20),
        bytes_text(needs.disk_bytes),
        about(needs.seconds).removeprefix("about "),
        str(needs.claims),
        str(len(needs.unreached)),
    )


def render_json(found: Mapping[str, Needs]) -> str:
    """Every figure, unrounded; what is not limited is null."""
    studies: dict[str, Any] = {name: asdict(needs) for name, needs in found.items()}
    return json.dumps({"format": 1, "studies": studies}, indent=1, ensure_ascii=False) + "\n"
