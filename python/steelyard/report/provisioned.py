"""Demand and supply of a trial whose load follows a curve of shares of a rate that was found by nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from steelyard.analysis.provision import Counts, demand, provision, supply
from steelyard.analysis.summary import Phase
from steelyard.results.actions import Actions
from steelyard.results.in_effect import part


@dataclass(frozen=True)
class Provisioned:
    """Nodes that the load needed and nodes that served, one number for each second of the run."""

    needed: Counts
    there: Counts


def provisioned(
    manifest: Mapping[str, Any], actions: Actions, phase: Phase, cut_s: float
) -> Provisioned | None:
    """Of the measured phase with its warm-up; None where the rate of each number of nodes is not known.

    Args:
        manifest: the trial's.
        actions: what was done in it.
        phase: the measured one, less `cut_s` seconds at its start.
        cut_s: seconds of warm-up that were left out.
    """
    capacity, nodes = part(manifest, "rate").get("capacity"), part(manifest, "trial", "system").get("nodes")
    curve = part(manifest, "trial", "load").get("curve")
    if not capacity or not curve or not isinstance(nodes, int):
        return None
    seconds, start_ns = int(phase.seconds + cut_s), round(phase.start_ns - cut_s * 1e9)
    sizes = [(int(n), float(rate)) for n, rate in capacity]
    return Provisioned(demand(curve, sizes, seconds), supply(nodes, actions.each(), start_ns, seconds))


def figures(found: Provisioned | None) -> dict[str, float | int | str | None]:
    """The figures of a trial's row (`spec.metrics.PROVISION`); none where nothing is known."""
    told = found and provision(found.needed, found.there)
    return asdict(told) if told else {}
