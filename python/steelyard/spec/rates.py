"""Highest rates that a study finds once: which points share one, and what is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.spec.draft import Draft
from steelyard.spec.highest import Rates, SharedRate, ShareOf
from steelyard.spec.lines import Place
from steelyard.spec.load import OF_A_RUN
from steelyard.spec.models import Point, Study, Trial
from steelyard.spec.scale import Scale

CAPACITY = frozenset({"clients", "arrivals", "in_flight"})
"""Settings of a run's load that shape the highest rate, beside all that say how a load is driven."""


def share_of(point: Point) -> ShareOf | None:
    """The share that a point offers; None where its rate is no share. Of a curve it is what 1 stands for."""
    return point.load.share


def sizes_of(study: Study, point: Point) -> tuple[int, ...]:
    """The numbers of nodes whose rates tell how many a point's load needs: all that a controller of the study
    may choose; none where its load follows no curve of shares."""
    if not point.load.curve_of:
        return ()
    found = [a for cell in study.cells for a in cell.timeline if isinstance(a, Scale)]
    return tuple(range(min(a.least for a in found), max(a.most for a in found) + 1)) if found else ()


def of_size(trial: Trial, nodes: int) -> Trial:
    """The trial on a cluster of so many nodes, with as many reserved as are left then."""
    system: Any = trial.system
    if system.nodes == nodes:
        return trial
    spare = max(system.nodes + system.spare - nodes, 0)
    return trial.model_copy(update={"system": system.model_copy(update={"nodes": nodes, "spare": spare})})


def rate_key(point: Point, asked: SharedRate) -> str:
    """Text that is equal for points that share a rate."""
    if asked.per is not None:
        said: Any = {name: _columns(point).get(name) for name in asked.per}
    else:
        load = point.load.model_dump(mode="json", exclude={*OF_A_RUN} - CAPACITY)
        workload = point.workload.model_dump(mode="json", exclude={"name"})
        said = {"system": point.system.model_dump(mode="json"), "workload": workload, "load": load}
    text = json.dumps(said, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def first_of_each(study: Study, planned: Sequence[Trial]) -> dict[tuple[str, str], Trial]:
    """(rate, key) -> the trial at whose point it is found, in the order of the file; where a controller
    chooses among several numbers of nodes, on a cluster of each."""
    found: dict[tuple[str, str], Trial] = {}
    for trial in sorted(planned, key=lambda t: (t.point, t.repetition)):
        if share := share_of(trial):
            for one in (trial, *(of_size(trial, nodes) for nodes in sizes_of(study, trial))):
                found.setdefault((share.of, rate_key(one, study.rates[share.of])), one)
    return found


def check_rates(rates: Rates, points: Sequence[Point], draft: Draft) -> None:
    """Refuse rates that nobody offers a share of, shares of rates that there are not, and unknown columns.

    Raises:
        InputError: a line for each.
    """
    asked = {share.of for point in points if (share := share_of(point))}
    known = {name for point in points for name in _columns(point)}
    faults = []
    for name in sorted(asked - {*rates}):
        text = f"target: there is no [rates.{name}]{nearest(name, list(rates))}"
        faults += [f"{said}: {text}".removeprefix(": ") for said in _said_of(name, draft) or [""]]
    for name, rate in rates.items():
        said = draft.origins.get(("rates", name), "")
        told = [f"no factor '{word}' in this study{nearest(word, sorted(known))}"
                for word in rate.per or () if word not in known]  # fmt: skip
        if rate.per is not None and any(_chosen(point, name) for point in points):
            told.append("per leaves out how many nodes there are, among which a controller chooses")
        if name not in asked:
            told.append(f'no point offers a share of it: load.target = {{ of = "{name}", share = 0.5 }}')
        faults += [f"{said}: rates.{name}: {text}".removeprefix(": ") for text in told]
    if faults:
        raise InputError("\n".join(faults))


def _chosen(point: Point, name: str) -> bool:
    """Whether a controller acts while a curve of shares of that rate is offered."""
    return point.load.curve_of == name and any(isinstance(a, Scale) for a in point.timeline)


def _said_of(name: str, draft: Draft) -> list[str]:
    """Where shares of a rate are asked for, each place once."""
    places = [
        place
        for place in _naming(name, draft.data, ())
        if any(word in str(p) for p in place for word in ("target", "curve_of"))
    ]
    said = [
        next((draft.origins[place[:n]] for n in range(len(place), 0, -1) if place[:n] in draft.origins), "")
        for place in places
    ]
    return list(dict.fromkeys(filter(None, said)))


def _naming(name: str, value: Any, place: Place) -> Iterator[Place]:
    """Paths at which a word stands."""
    if isinstance(value, Mapping):
        for key, inside in value.items():
            yield from _naming(name, inside, (*place, key))
    elif isinstance(value, list):
        for number, inside in enumerate(value):
            yield from _naming(name, inside, (*place, number))
    elif value == name:
        yield place


def _columns(point: Point) -> dict[str, Any]:
    return {"system": point.system_name or point.system.kind, "variant": point.variant, **point.levels}
