"""What the kernel held each node to, as it was in effect, and what it cannot hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import Any

from steelyard.report.formatting import NONE, clean, plain
from steelyard.report.in_effect import is_given, master_names, quotas, side_name, system_kind
from steelyard.report.model import ReportModel, TrialReport
from steelyard.report.tables.base import Table
from steelyard.results.in_effect import part
from steelyard.spec.action_base import ALL
from steelyard.spec.levels import level_value
from steelyard.spec.local import SLACK_US

NOT_HELD = (
    "Nothing holds the client, nor what nodes of one machine share beyond this: its network, its caches, "
    "the bandwidth of its memory."
)
LATER = (
    "Of the disk is held what a process reads, and what it writes and waits for; what the kernel writes "
    "later is nobody's."
)
"""Of control groups of version 1 (docs.kernel.org, cgroup-v1/blkio-controller: buffered writes)."""
STARTED = "The cluster's start is not held to it: it holds from the moment that all its nodes answer."
CHANGED = "What actions hold nodes to, they hold them to from when each was done."
PLANNED = "by actions, as planned"
CHANGES = {
    "throttle": {
        "read_mib": "{} MiB/s read",
        "write_mib": "{} MiB/s written",
        "read_iops": "{} reads/s",
        "write_iops": "{} writes/s",
    },
    "resize": {"cpu": "{} cores"},
}
"""Actions by which limits change -> how what they ask is told; 0 asks for none."""
DISK = {
    "disk_read_mib_per_s": "{} MiB/s read",
    "disk_write_mib_per_s": "{} MiB/s written",
    "disk_read_iops": "{} reads/s",
    "disk_write_iops": "{} writes/s",
}


def limits_table(model: ReportModel) -> Table | None:
    """A row for each set of limits that nodes had, with its trials; None where no node had any. What a given
    cluster's nodes are held to is not known."""
    trials = [t for t in model.trials if t.measured is not None and not is_given(t.manifest)]
    held = Counter(row for trial in trials for row in _rows(trial))
    if {cell for row in held for cell in row[2:]} <= {NONE}:
        return None
    acted = any(row[-1] != NONE for row in held)
    rows = [(*(row if acted else row[:-1]), str(count)) for row, count in held.items()]
    columns = (
        "",
        "of",
        "CPU, cores each",
        "memory, page cache included",
        "disk",
        *([PLANNED] * acted),
        "trials",
    )
    return Table("Limits of nodes in effect", columns, rows, words=len(columns) - 1, note=_note(trials))


def _rows(trial: TrialReport) -> Iterator[tuple[str, ...]]:
    """One row for those that serve data and one for masters, if they have limits of their own."""
    found = part(trial.manifest, "system", "limits")
    own = part(trial.manifest, "trial", "system", "master_limits")
    masters = {*master_names(trial.manifest)}
    side = side_name(trial.manifest) or clean(system_kind(trial.manifest))
    cores = quotas(trial.manifest)
    for of, limits, names in (
        ("nodes", found, cores.keys() - masters),
        ("masters", own or found, masters),
    ):
        if names:
            each = {cores.get(name) for name in names}
            changed = _changes(trial) if of == "nodes" else NONE
            yield side, of, _cores(each), _memory(limits), _disk(limits, found.get("disk_mib")), changed


def _cores(each: set[float | None]) -> str:
    told = sorted(core for core in each if core is not None)
    words = [f"{core:g}" for core in dict.fromkeys((*told[:1], *told[-1:]))]
    return " to ".join(words) + (", others no limit" if told and None in each else "") or NONE


def _memory(limits: Mapping[str, Any]) -> str:
    mib = limits.get("memory_mib")
    return f"{mib:,} MiB" if mib else NONE


def _disk(limits: Mapping[str, Any], size: Any) -> str:
    held = {words: level_value(limits[name]) for name, words in DISK.items() if limits.get(name)}
    told = [words.format(plain(value)) for words, value in held.items()]
    return ", ".join([*told, *([f"{size:,} MiB large"] if size else [])]) or NONE


def _changes(trial: TrialReport) -> str:
    """`slow: each 2 MiB/s read`, or the node that is named."""
    told = []
    for action in _timeline(trial):
        words = CHANGES.get(action.get("do", ""), {})
        asked = [words[name].format(plain(level_value(action[name]))) for name in words if action.get(name)]
        if words:
            node = "each" if action.get("node") in (None, ALL) else action["node"]
            told.append(f"{action.get('id')}: {node} {', '.join(asked) or 'no limit'}")
    return clean("; ".join(told)) or NONE


def _note(trials: list[TrialReport]) -> str:
    facts = [part(trial.manifest, "system", "limits") for trial in trials]
    periods = sorted({int(said["cpu_period_us"]) for said in facts if said.get("cpu_period_us")})
    late = " or ".join(f"{us:,}" for us in sorted({said.get("timer_slack_us") or SLACK_US for said in facts}))
    limited = any(cores is not None for trial in trials for cores in quotas(trial.manifest).values())
    missing = sorted({f"{name} ({why})" for said in facts for name, why in part(said, "missing").items()})
    told = {
        f"CPU is a quota of each {' or '.join(f'{us / 1000:g}' for us in periods)} ms.": limited,
        STARTED: limited,
        f"Servers' threads that wait for a time may wake {late} us late (timer slack).": late
        != str(SLACK_US),
        NOT_HELD: True,
        LATER: any(_holds_disks(trial) for trial in trials),
        CHANGED: any(_does(trial, CHANGES.keys()) for trial in trials),
        f"Not to be had here: {clean(', '.join(missing))}.": bool(missing),
    }
    return " ".join(sentence for sentence, holds in told.items() if holds)


def _holds_disks(trial: TrialReport) -> bool:
    """Whether control groups of version 1 held a disk."""
    limits = part(trial.manifest, "system", "limits")
    held = any(limits.get(name) for name in DISK) or _does(trial, {"throttle"})
    return held and limits.get("cgroup_version") == "1"


def _does(trial: TrialReport, what: Set[str]) -> bool:
    return any(action.get("do") in what for action in _timeline(trial))


def _timeline(trial: TrialReport) -> list[dict[str, Any]]:
    return part(trial.manifest, "trial").get("timeline") or []
