"""The first lines of a report: what was run, and the verdict in a few figures."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.analysis.summary import Operation, Phase
from steelyard.report.formatting import clean, digits, duration, whole
from steelyard.report.in_effect import data_line, load_line, system_kind, system_line, system_words
from steelyard.report.model import ReportModel, TrialReport
from steelyard.results.in_effect import part
from steelyard.spec.kind import declared
from steelyard.spec.scalability import WORDS


@dataclass(frozen=True)
class Card:
    """One figure with its name and a remark."""

    name: str
    value: str
    remark: str = ""


def subject(model: ReportModel, trial: TrialReport | None = None) -> str:
    """System, workload and load in one line; of a study what is varied instead of one trial's load."""
    varied = part(model.study, "factors") if trial is None else {}
    trial = trial or next(iter(model.trials), None)
    manifest = trial.manifest if trial else {}
    study = model.study
    kind = str(part(study, "design").get("scalability") or "")
    load = f"varied: {', '.join(varied)}" if varied else load_line(manifest, study)
    load += f" ({kind} {WORDS[kind]})" if varied and kind in WORDS else ""
    systems = dict.fromkeys(system_words(t.manifest, study) for t in model.trials) if varied else {}
    line = " against ".join(systems) if len(systems) > 1 else system_line(manifest, study)
    lines = (line, load, data_line(manifest))
    return clean("; ".join(line for line in lines if line))


def cards(trial: TrialReport) -> list[Card]:
    """Throughput, response per operation, CPU per operation; empty when nothing was measured."""
    if trial.measured is None:
        return []
    phase = trial.measured.phase
    found = [Card("Throughput", f"{digits(phase.ok_per_s, 4)} ok/s", _throughput_remark(phase, trial))]
    found += [_response(op) for op in phase.operations]
    for name, cpu in (("Client CPU", trial.client_cpu_us), ("Server CPU", trial.server_cpu_us)):
        if cpu is not None:
            remark = _client_remark(trial) if name == "Client CPU" else _server_remark(trial)
            found.append(Card(f"{name} per operation", f"{digits(cpu)} us", remark))
    return found


def _client_remark(trial: TrialReport) -> str:
    if declared(system_kind(trial.manifest)).in_engine:
        return "engine with the store inside it, and lab"
    return "engine and lab"


def _server_remark(trial: TrialReport) -> str:
    if trial.master_cpu_us is None:
        return "all nodes"
    return f"nodes {digits(trial.node_cpu_us)}, masters {digits(trial.master_cpu_us)} us"


def _throughput_remark(phase: Phase, trial: TrialReport) -> str:
    steady = trial.measured.steady if trial.measured else None
    if phase.target_per_s:
        mean = " on average" if phase.curve else ""
        return f"{digits(phase.target_per_s, 4)}/s offered{mean}, {whole(phase.total.failed)} failed"
    if steady and steady.mean is not None and steady.half_width is not None:
        return f"steady {digits(steady.mean, 4)} \N{PLUS-MINUS SIGN} {digits(steady.half_width, 2)}/s (95 %)"
    return f"{whole(phase.total.count)} operations, {whole(phase.total.failed)} failed"


def _response(op: Operation) -> Card:
    remark = f"p50 {duration(op.response.p50_ns)}, p99.9 {duration(op.response.p999_ns)}"
    return Card(f"{op.name} p99 response", duration(op.response.p99_ns), remark)


def verdict(trial: TrialReport) -> str:
    """The cards as one sentence."""
    found = cards(trial)
    return "; ".join(f"{c.name} {c.value}" for c in found) or "Nothing was measured."


def repeat_command(model: ReportModel) -> str:
    """The command that runs the study again."""
    return (
        f"steelyard run {clean(model.path / 'study.toml')}"
        if model.study_toml
        else "steelyard run study.toml"
    )


def timing(trial: TrialReport) -> str:
    """Seconds spent in each part of the trial, in one line."""
    spent = part(trial.manifest, "timing")
    return ", ".join(
        f"{name.replace('_', ' ')} {digits(float(s))} s" for name, s in spent.items() if s is not None
    )
