"""The looks that were taken at a study's claims: as its run.json tells of them, and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from steelyard.analysis.claims.looks import Look, Looks
from steelyard.analysis.claims.standing import tally
from steelyard.report.derived import sources
from steelyard.report.formatting import clean
from steelyard.report.tables.base import Table
from steelyard.results.in_effect import part
from steelyard.spec.budget import Budget


def looks_of(info: Mapping[str, Any]) -> Looks:
    """Of a study's run.json; trials that were done since the last look, or took the place of disturbed ones,
    make one more.

    None where the plan was kept as it was: then there is one test, by plan.
    """
    design, taken = part(info, "design"), [_look(said) for said in info.get("looks") or ()]
    budget = Budget.model_validate(design.get("budget") or {"fixed": True})
    if budget.fixed and not taken:
        return Looks()
    rows = [row for row in info.get("trials") or () if row.get("status") == "done"]
    done = Counter(int(row["point"]) for row in rows if not row.get("tainted"))
    if not taken or any(count > taken[-1].repetitions.get(point, 0) for point, count in done.items()):
        taken.append(Look(done, budget.most(int(design.get("repetitions") or 1))))
    return Looks(tuple(taken))


def _look(said: Mapping[str, Any]) -> Look:
    repetitions = {int(point): int(count) for point, count in part(said, "repetitions").items()}
    return Look(repetitions, int(said["most"]), bool(said.get("last")), _shown(said))


def _shown(said: Mapping[str, Any]) -> dict[str, tuple[str, float]]:
    """What a look had shown of each claim; nothing of a look that another version of the analysis took."""
    if said.get("analysis") != sources():
        return {}
    claims = [one for one in said.get("claims") or () if one.get("over_looks") is not None]
    return {one["claim"]: (one["alone"], one["over_looks"]) for one in claims}


def looks_table(info: Mapping[str, Any]) -> Table | None:
    """One row a look: the repetitions there were, how many claims were decided, and what was added after it.

    None for a study of which no look was taken.
    """
    rows = [_row(number, said, info) for number, said in enumerate(info.get("looks") or (), start=1)]
    note = (
        "All looks share one error rate of 5 % (alpha spending by Lan and DeMets, a function like Pocock's), "
        "and so do all claims."
    )
    columns = ("look", "repetitions", "decided", "undecided", "added after it")
    return Table("Looks", columns, rows, words=5, note=note) if rows else None


def _row(number: int, said: Mapping[str, Any], info: Mapping[str, Any]) -> tuple[str, ...]:
    counts = [int(count) for count in part(said, "repetitions").values()]
    claims = said.get("claims") or ()
    decided, never = tally((one.get("further"), one["words"]) for one in claims)
    open_ = [f"{one['claim']} {one['words']}" for one in claims if one.get("further") != 0]
    added = [row for row in info.get("trials") or () if row.get("look") == number]
    repetitions = (
        f"{min(counts)} to {max(counts)}" if len({*counts}) > 1 else str(counts[0]) if counts else "0"
    )
    return (
        str(number),
        f"{repetitions} of at most {said['most']}" + (", the last by its time" if said.get("last") else ""),
        f"{decided} of {len(claims)}" + (f"; {never} cannot be here" if never else ""),
        clean("; ".join(open_)) or "-",
        f"{len(added)} trial{'s' * (len(added) > 1)} for {_listed(added)}" if added else "-",
    )


def _listed(added: list[Mapping[str, Any]]) -> str:
    return clean(", ".join(dict.fromkeys(str(row["added"]) for row in added)))
