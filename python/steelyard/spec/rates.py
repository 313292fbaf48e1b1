"""Highest rates that a study finds once: which points share one, and what is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.spec.highest import Rates, SharedRate, ShareOf
from steelyard.spec.lines import Place
from steelyard.spec.load import OF_A_RUN
from steelyard.spec.models import Point, Study, Trial

CAPACITY = frozenset({"clients", "arrivals", "in_flight"})
"""Settings of a run's load that shape the highest rate, beside all that say how a load is driven."""


def share_of(point: Point) -> ShareOf | None:
    """The share that a point offers; None where its rate is no share."""
    return point.load.target if isinstance(point.load.target, ShareOf) else None


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
    """(rate, key) -> the trial at whose point it is found, in the order of the file."""
    found: dict[tuple[str, str], Trial] = {}
    for trial in sorted(planned, key=lambda t: (t.point, t.repetition)):
        if share := share_of(trial):
            found.setdefault((share.of, rate_key(trial, study.rates[share.of])), trial)
    return found


def check_rates(rates: Rates, points: Sequence[Point], origins: Mapping[Place, str]) -> None:
    """Refuse rates that nobody offers a share of, shares of rates that there are not, and unknown columns.

    Raises:
        InputError: a line for each.
    """
    asked = {share.of for point in points if (share := share_of(point))}
    known = {name for point in points for name in _columns(point)}
    faults = [f"target: there is no [rates.{name}]{nearest(name, list(rates))}" for name in asked - {*rates}]
    for name, rate in rates.items():
        said = origins.get(("rates", name), "")
        told = [f"no factor '{word}' in this study{nearest(word, sorted(known))}"
                for word in rate.per or () if word not in known]  # fmt: skip
        if name not in asked:
            told.append(f'no point offers a share of it: load.target = {{ of = "{name}", share = 0.5 }}')
        faults += [f"{said}: rates.{name}: {text}".removeprefix(": ") for text in told]
    if faults:
        raise InputError("\n".join(faults))


def _columns(point: Point) -> dict[str, Any]:
    return {"system": point.system_name or point.system.kind, "variant": point.variant, **point.levels}
