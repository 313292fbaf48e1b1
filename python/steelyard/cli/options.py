"""The flags of `bench` as one table: those of every load and workload, and those of all kinds of systems.

From this table come the command's signature, its help, and the settings of the study that the flags describe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from steelyard.spec.flag import Flag, compat, constant_length, curve
from steelyard.spec.kind import SystemDeclaration, declarations
from steelyard.spec.units import milliseconds, seconds

LOAD, WORKLOAD = "Load", "Workload"
SET_HELP = (
    "key=value of the servers' own files (cassandra.yaml, hbase-site, hdfs-site), or a study's path=value; "
    "may be repeated."
)
DO_HELP = (
    "WHEN ACTION [key=value ...]: change the cluster during the run; may be repeated. WHEN: a time of it "
    "(30s), steady, after:ID or when:METRIC>BOUND. ACTION: add, remove, kill ..., or run -- COMMAND "
    "(docs/elasticity.md)."
)

COMMON: tuple[Flag, ...] = (
    Flag("--workload -w", "", str,
         "a-f of YCSB's core, g r w rs rw rsw of papers, a YCSB property file or TOML file.  [default: a]",
         WORKLOAD),
    Flag("--records", "workload.records", int, "Records loaded before the run.  [default: 100000]", WORKLOAD),
    Flag("--fields", "workload.fields.count", int, "Fields of a record.", WORKLOAD),
    Flag("--field-length", "workload.fields.length", int, "Bytes in a field.", WORKLOAD, constant_length),
    Flag("--request", "workload.request.kind", str,
         "Which records: uniform, zipfian, latest, hotspot, sequential, exponential.", WORKLOAD),
    Flag("--theta", "workload.request.theta", float,
         "Skew of zipfian and latest.  [default: 0.99]", WORKLOAD),
    Flag("--compat", "workload.request.compat", str,
         "ycsb: draw records exactly as YCSB 0.17 does; none: do not.", WORKLOAD, compat),
    Flag("--read-all/--read-one", "workload.read_all_fields", bool,
         "Reads ask for every field, or for one.", WORKLOAD),
    Flag("--write-all/--write-one", "workload.write_all_fields", bool,
         "Updates write every field, or one.", WORKLOAD),
    Flag("--verify", "workload.verify", str,
         "Judge returned values: off, sample, all (corrupt, foreign), full (also stale, lost).", WORKLOAD),
    Flag("--operations", "load.operations", int,
         "Operations of the run.  [default: 100000, without --duration]", LOAD),
    Flag("--duration", "load.duration_s", str, "Length of the run, e.g. 60s, 5m.", LOAD, seconds),
    Flag("--after-timeline", "load.after_timeline_s", str,
         "With --do: end the run so long after the last action has ended, if that is sooner, e.g. 60s.", LOAD,
         seconds),
    Flag("--warmup", "load.warmup_s", str, "Run this long before measuring, e.g. 10s.", LOAD, seconds),
    Flag("--clients", "load.clients", int,
         "Clients of a closed loop: each waits for its answer.  [default: 32]", LOAD),
    Flag("--target", "load.target", float, "Operations per second that are due, answered or not.", LOAD),
    Flag("--curve", "load.curve", str,
         "Instead of --target, rates over time, TIME=RATE from 0s on, lines between: --curve "
         "0s=1000,30s=4000,30s=1000,60s=1000 rises for 30 s, then steps down and stays. "
         "Or a form: steps:rates=1000/2000,every=60s, ramp:, sine:, flash-crowd:, trace:FILE.csv. "
         "The run ends with the last point.  [without --operations, --duration]", LOAD, curve),
    Flag("--arrivals", "load.arrivals", str, "With a rate: constant or poisson.", LOAD),
    Flag("--in-flight", "load.in_flight", int,
         "With a rate: most operations in flight.  [default: 1024]", LOAD),
    Flag("--pacing", "load.pacing", str,
         "With a rate: wake for what is due at once (exact), or at multiples of a time, e.g. 250us: "
         "less CPU, so much late.  [default: auto: late by less than 5% of a response]", LOAD),
    Flag("--engines", "load.engines", int, "Engine processes that share the load.", LOAD),
    Flag("--audit/--no-audit", "load.audit", bool,
         "After the run, read every acknowledged write back: what is lost or stale (--verify full).", LOAD),
    Flag("--retry", "load.retry", str, "until-deadline or none.", LOAD),
    Flag("--timeout", "load.timeout_ms", str,
         "An operation's deadline over all attempts.  [default: 10s]", LOAD, milliseconds),
    Flag("--realtime/--no-realtime", "load.realtime", bool,
         "Run the engine under SCHED_FIFO: paces to 50 us at p99.", LOAD),
    Flag("--seed", "seed", int, "Every random draw follows from it.  [default: 42]", LOAD),
)  # fmt: skip


def _of_systems(kinds: Iterable[SystemDeclaration]) -> tuple[Flag, ...]:
    """The flags of these kinds; of those with one name the first: what it sets, each kind says itself."""
    found: dict[str, Flag] = {}
    for kind in kinds:
        for flag in kind.flags:
            found.setdefault(flag.long, flag)
    return tuple(found.values())


def systems_help(*, local: bool = False) -> str:
    """What may stand for the system, for the help."""
    kinds = [kind for kind in declarations().values() if kind.local or not local]
    return ", ".join(dict.fromkeys(kind.typed for kind in kinds)) + "."


def cluster_flags() -> list[Flag]:
    """The flags of `cluster up`: those that shape a cluster, and nothing of its client."""
    local = [kind for kind in declarations().values() if kind.local]
    of_clients = {flag.long for kind in local for flag in kind.flags if ".access." in flag.setting}
    return [flag for flag in _of_systems(local) if flag.long not in of_clients]


FLAGS: tuple[Flag, ...] = (*COMMON, *_of_systems(declarations().values()))


def said(words: Mapping[str, Any]) -> list[tuple[Flag, Any]]:
    """The flags that were given, with their words."""
    return [(flag, words[flag.parameter]) for flag in FLAGS if words.get(flag.parameter) is not None]
