"""One trial's phases with what was derived from them, and its row in a frame of trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.analysis.balance import Balance
from steelyard.analysis.cost import Cost, client_cpu_us, master_cpu_us, server_cpu_us
from steelyard.analysis.inside import Inside
from steelyard.analysis.reasons import reasons
from steelyard.analysis.spread import EngineSpread, engines_apart
from steelyard.analysis.steady import Steady
from steelyard.analysis.summary import Phase
from steelyard.analysis.warnings import Warned
from steelyard.report.acted import Acted
from steelyard.report.acted_row import figures as acted_figures
from steelyard.report.assessment import Read
from steelyard.report.in_effect import master_names, quotas
from steelyard.report.provisioned import figures as provision_figures
from steelyard.report.provisioned import provisioned
from steelyard.report.source import TrialSource
from steelyard.results.frames import CLOCKS, FIGURES, LOAD, RUN, phase_figures
from steelyard.results.in_effect import part
from steelyard.results.read import TrialResult
from steelyard.spec.metrics import AUDIT
from steelyard.spec.metrics import LOAD as LOADING

Row = dict[str, float | int | str | None]
"""Column -> figure of one trial."""


@dataclass(frozen=True)
class PhaseReport:
    """One phase with what was derived from it.

    Attributes:
        phase: counts and distributions.
        steady: steadiness (of run phases).
        costs: CPU and more of every party in this phase.
        balance: how evenly the nodes shared it.
        inside: what the servers told of themselves.
        engines: percentiles per engine, when there were several.
    """

    phase: Phase
    steady: Steady | None = None
    costs: tuple[Cost, ...] = ()
    balance: tuple[Balance, ...] = ()
    inside: tuple[Inside, ...] = ()
    engines: tuple[EngineSpread, ...] = ()


def figures_of(
    source: TrialSource, read: Read, measured: PhaseReport | None, warnings: Sequence[Warned],
    acted: Acted | None = None, *, cut_s: float,
) -> Row:  # fmt: skip
    """A trial's row in the frame, but what the run's own list says of it.

    Args:
        source, read: the trial's folder, and what was read of it.
        measured: the phase it was made for.
        warnings: of the trial.
        acted: what was done to the cluster in it.
        cut_s: seconds of warm-up that were left out of that phase.
    """
    assert isinstance(source, TrialResult)  # noqa: S101 - the one reader there is
    load = phase_figures(source, LOAD)
    found = phase_figures(source, RUN) | {f"{LOADING}{column}": value for column, value in load.items()}
    if measured and cut_s:
        found |= _of_rest(measured.phase)
    died = next((warned.text for warned in warnings if warned.kind == "server_died"), None)
    found |= {"server_died": died} | (_analysed(source, read, measured) if measured else {})
    if measured:
        found |= provision_figures(provisioned(read.manifest, read.actions, measured.phase, cut_s))
    return found | acted_figures(acted) | _audited(read.manifest)


def _audited(manifest: Mapping[str, Any]) -> Row:
    """What was found when acknowledged writes were read back; nothing where they were not."""
    audits = [part(phase, "summary", "audit") for phase in manifest.get("phases") or ()]
    found: Row = {}
    for said in filter(None, audits):
        counts = {name: int(said.get(name.removeprefix("audit_")) or 0) for name in AUDIT}
        lost = counts["audit_lost"]
        counts["audit_missing"] = lost + counts["audit_unread"]
        counts["audit_wrong"] = lost + counts["audit_fields_lost"] + counts["audit_stale"]
        found |= {name: float(count) for name, count in counts.items()}
    return found


def _of_rest(phase: Phase) -> Row:
    """The figures of `Results.trials` again, of a phase whose warm-up was left out."""
    found: Row = {"seconds": phase.seconds, "ok_per_s": phase.ok_per_s}
    for operation in (phase.total, *phase.operations):
        name = operation.name.lower().replace("-", "_")
        found |= {f"{name}_count": operation.count, f"{name}_ok": operation.ok}
        for clock in CLOCKS:
            times = getattr(operation, clock)
            found |= {f"{name}_{clock}_{f}_ns": getattr(times, f"{f}_ns") for f in FIGURES}
    return found


def _analysed(source: TrialSource, read: Read, measured: PhaseReport) -> Row:
    phase, steady, manifest = measured.phase, measured.steady, read.manifest
    cores = part(manifest, "host").get("cores")
    client = [cost.cores for cost in measured.costs if cost.role == "client"]
    return {
        **reasons(
            read.system,
            phase,
            master_names(manifest),
            cores,
            quotas(manifest),
            coordinators=source.coordinators(),
        ),
        **engines_apart(phase),
        "wrong_values": float(sum(int(phase.verify.get(kind) or 0) for kind in ("corrupt", "foreign"))),
        "saturated_share": phase.saturation.seconds_saturated / phase.seconds if phase.seconds else None,
        "steady": steady.word if steady else None,
        "false_alarms": steady.false_alarms if steady else None,
        "steady_per_s": steady.mean if steady and phase.closed else None,
        "client_cpu_us": client_cpu_us(measured.costs),
        "client_cpu_cores": client[-1] if client else None,
        "server_cpu_us": server_cpu_us(measured.costs),
        "master_cpu_us": master_cpu_us(measured.costs),
        "ok_share": phase.total.ok / phase.total.count if phase.total.count else None,
    }
