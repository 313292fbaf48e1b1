"""Synthetic result folders as docs/format.md describes them, for tests that need no engine and no server.

Everything is drawn from one seed: the same call gives the same folder. Run it to make the committed sample anew:
`PYTHONPATH=python python tests/data/make_results.py`.
"""
# ruff: noqa: E501 - made-up facts read better as wide tables

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from hdrh.histogram import HdrHistogram

NS = 1_000_000_000
BASE_NS = 5_000 * NS
EPOCH_S = 1_760_000_000
CLOCKS = ("response", "service", "wait", "all")
STUDY = """name = "{name}"
question = "What does workload A cost on three nodes at QUORUM?"
seed = 42
repetitions = {repetitions}

[system]
kind = "cassandra"
version = "5.0.7"
nodes = 3

[system.access]
read_consistency = "QUORUM"
write_consistency = "QUORUM"

[system.access.replication]
factor = 3

[workload]
name = "a"
records = 20000

[workload.mix]
read = 0.5
update = 0.5

[load]
target = 600.0
duration_s = {seconds}
"""


@dataclass
class Sample:
    """What the folder shall look like."""

    name: str = "sample"
    repetitions: int = 1
    seconds: int = 30
    load_seconds: int = 8
    rate: int = 600
    slow: float = 1.0
    """Factor on all service times."""
    timeouts: int = 9
    pause_second: int | None = 17
    partial: bool = False
    """The last trial was cut short in the middle of the run phase."""
    hostile: str = ""
    """Text put wherever a server or a file can say something."""
    target: bool = True
    """False: a closed loop of 8 clients."""
    limits: dict[str, Any] = field(default_factory=dict)


QUANTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p999": 99.9, "p9999": 99.99}


def _distribution(values: np.ndarray) -> dict[str, float | int]:
    """Its quantiles are of `np.percentile`'s method "higher", of values that are sorted once."""
    at = np.ceil((values.size - 1) * (np.array([*QUANTILES.values()]) / 100)).astype(np.int64)
    found = np.sort(values)[at].tolist()
    quantiles = {f"{name}_ns": int(value) for name, value in zip(QUANTILES, found, strict=True)}
    ends = {"min_ns": int(values.min()), "max_ns": int(values.max()), "mean_ns": float(values.mean())}
    return {"count": int(values.size), **ends, **quantiles}


def _tenths(count: int) -> list[int]:
    """As many operations in each tenth of a second, as far as the count allows."""
    return [count // 10 + (place < count % 10) for place in range(10)]


def _rounded(values: np.ndarray) -> np.ndarray:
    """Two digits and a half: fewer distinct values make smaller histograms."""
    step = 10 ** np.maximum(np.floor(np.log10(np.maximum(values, 1))) - 1, 0) * 5
    return (np.ceil(values / step) * step).astype(np.int64)


def _encoded(values: np.ndarray) -> str:
    """All are counted at once: the library takes a value at a time."""
    histogram = HdrHistogram(1, 3600 * NS, 3)
    row = np.maximum(np.frexp(values.astype(np.float64))[1] - 11, 0)  # each has 1,024 buckets
    np.add.at(np.ctypeslib.as_array(histogram.counts), (row << 10) + (values >> row), 1)
    histogram.total_count = int(values.size)
    histogram.min_value, histogram.max_value = int(values.min()), int(values.max())
    return histogram.encode().decode().replace("\n", "")


def _log(lines: list[tuple[str, float, float, np.ndarray]]) -> str:
    head = (
        "#[Logged with a test generator]\n#[Histogram log format version 1.3]\n"
        f"#[StartTime: {EPOCH_S}.000 (seconds since epoch), for tests]\n"
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
    )
    body = [
        f"Tag={tag},{start:.3f},{length:.3f},{values.max() / 1e6:.3f},{_encoded(values)}"
        for tag, start, length, values in lines
        if values.size
    ]
    return head + "\n".join(body) + "\n"


class PhaseMaker:
    """Draws one phase: per second and operation the times of every operation."""

    def __init__(
        self, sample: Sample, name: str, ops: list[str], *, seconds: int, start_ns: int, seed: int
    ) -> None:
        self.sample, self.name, self.ops, self.seconds, self.start_ns = sample, name, ops, seconds, start_ns
        self.rng = np.random.default_rng(seed)
        self.closed = name == "load" or not sample.target
        self.times = {(s, op): self._draw(s, op) for s in range(seconds) for op in ops}
        self._distributions: dict[tuple[str, str, int], dict[str, float | int]] = {}

    def _draw(self, second: int, op: str) -> dict[str, np.ndarray]:
        count = (
            self.rng.poisson(self.sample.rate / len(self.ops))
            if self.closed
            else self.sample.rate // len(self.ops)
        )
        service = self.rng.lognormal(np.log(1.1e6 if op == "READ" else 0.8e6), 0.45, count) * self.sample.slow
        wait = np.zeros(count) if self.closed else self.rng.exponential(25_000, count)
        if self.name == "run" and second == self.sample.pause_second:
            slow = self.rng.random(count) < 0.3
            service = service + slow * self.rng.uniform(0, 90e6, count)
            wait = wait + (0 if self.closed else slow * self.rng.exponential(2e6, count))
        failed = np.array([], dtype=np.int64)
        if self.name == "run" and second == self.sample.pause_second:
            failed = np.full(self.sample.timeouts // len(self.ops) or 0, 10 * NS, dtype=np.int64)
        service, wait = _rounded(service), _rounded(wait)
        response = service + wait
        return {"service": service, "wait": wait, "response": response, "failed": failed,
                "all": np.concatenate([response, failed])}  # fmt: skip

    def values(self, op: str, clock: str, second: int | None = None) -> np.ndarray:
        ops = self.ops if op == "TOTAL" else [op]
        seconds = range(self.seconds) if second is None else [second]
        return np.concatenate([self.times[s, o][clock] for s in seconds for o in ops])

    def distribution(self, op: str, clock: str, second: int) -> dict[str, float | int]:
        """Both files have it."""
        if (key := (op, clock, second)) not in self._distributions:
            self._distributions[key] = _distribution(self.values(op, clock, second))
        return self._distributions[key]

    def row(self, second: int, op: str) -> dict[str, Any]:
        ok = self.values(op, "response", second).size
        failed = self.values(op, "failed", second).size
        row: dict[str, Any] = {
            "phase": self.name,
            "second": second,
            "t_ns": self.start_ns + second * NS,
            "op": op,
        }
        counts = dict.fromkeys(("due", "started", "done", "ok", "failed", "in_flight", "backlog", "tenths"))
        if op == "TOTAL":
            paused = self.name == "run" and second == self.sample.pause_second
            counts |= {"due": ok + failed, "started": ok + failed, "done": ok + failed, "ok": ok, "failed": failed,
                       "in_flight": 48 if paused else 7, "backlog": 0, "tenths": _tenths(ok + failed)}  # fmt: skip
        row |= counts | {"count": ok + failed}
        for clock in CLOCKS:
            found = self.distribution(op, clock, second)
            row |= {
                f"{clock}_{k}": found[k]
                for k in ("mean_ns", "p50_ns", "p95_ns", "p99_ns", "p999_ns", "max_ns")
            }
        return row

    def rows(self) -> list[dict[str, Any]]:
        return [self.row(s, op) for s in range(self.seconds) for op in ("TOTAL", *self.ops)]

    def series(self) -> str:
        """NAME.series.ndjson."""
        lines = []
        for second in range(self.seconds):
            row = self.row(second, "TOTAL")
            counts = {
                k: row[k]
                for k in ("second", "t_ns", "due", "started", "done", "ok", "in_flight", "backlog", "tenths")
            }
            failed = {"timeout": row["failed"]} if row["failed"] else {}
            ops = {}
            for op in self.ops:
                clocks = {c: self.distribution(op, c, second) for c in CLOCKS}
                ops[op] = {"count": clocks["all"]["count"], **clocks}
            lines.append(json.dumps({**counts, "failed": failed, "cpu_ns": 30_000_000, "ops": ops}))
        return "\n".join(lines) + "\n"

    def logs(self) -> tuple[str, str]:
        """(NAME.hdr, NAME.totals.hdr)."""
        tags = [(f"{op}.{clock}", op, clock) for op in (*self.ops, "TOTAL") for clock in (*CLOCKS, "failed")]
        each = [(t, float(s), 1.0, self.values(o, c, s)) for s in range(self.seconds) for t, o, c in tags]
        whole = [(t, 0.0, float(self.seconds), self.values(o, c)) for t, o, c in tags]
        return _log(each), _log(whole)

    def _op(self, op: str) -> dict[str, Any]:
        ok, failed = self.values(op, "response").size, self.values(op, "failed").size
        return {"count": ok + failed, "ok": ok, "not_yet": 0, "failures": {"timeout": failed} if failed else {},
                "rows": ok, "bytes": ok * 1000, **{c: _distribution(self.values(op, c)) for c in CLOCKS}}  # fmt: skip

    def summary(self) -> dict[str, Any]:
        ops = {op: self._op(op) for op in self.ops}
        total, failed = sum(o["count"] for o in ops.values()), sum(o["count"] - o["ok"] for o in ops.values())
        arrivals = (
            {"kind": "closed"} if self.closed else {"kind": "constant", "rate": float(self.sample.rate)}
        )
        return {
            "phase": self.name, "kind": "load" if self.name == "load" else "run", "start_ns": self.start_ns,
            "end_ns": self.start_ns + self.seconds * NS, "seconds": float(self.seconds), "first": 0, "next": total,
            "operations": total, "ok": total - failed, "failed": {"timeout": failed} if failed else {},
            "in_flight_cap": 8 if self.closed else 256, "arrivals": arrivals, "ops": ops,
            "verify": {"mode": "all", "checked": total // 2, "corrupt": 0, "foreign": 0, "stale": 0, "lost": 0, "not_yet": 0},
            "attempts": {"1": total - 14, "2": 14}, "censored": {"unsent": 0, "unanswered": 0},
            "saturation": {"seconds_saturated": 0, "seconds_cap_reached": 0, "max_backlog": 0},
            "pacing": {"quantum_us": 50, "realtime": False, "turns": total},
            "cpu_user_ns": total * 9_000, "cpu_system_ns": total * 14_000, "rss_max_bytes": 24 << 20,
            "traffic": {"reads": total // 2, "writes": total // 4, "requests": total, "answers": total},
        }  # fmt: skip


class SystemMaker:
    """system.parquet: one sample a second of machine, engine, lab and three nodes."""

    def __init__(self, start_ns: int, seconds: int, busy: set[int], pause: int | None, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.t_ns = start_ns + np.arange(seconds + 1) * NS
        self.load = np.array([0.0] + [1.0 if s in busy else 0.05 for s in range(seconds)])
        self.pause, self.rows = pause, []

    def counter(
        self, source: str, metric: str, per_second: float, *, offset: float = 0, flat: bool = False
    ) -> None:
        noise = self.rng.uniform(0.9, 1.1, self.load.size)
        steps = per_second * noise * (1.0 if flat else self.load)
        steps[0] = 0
        self.add(source, metric, offset + np.cumsum(steps))

    def level(self, source: str, metric: str, base: float, swing: float) -> None:
        self.add(source, metric, base + swing * self.rng.random(self.load.size))

    def add(self, source: str, metric: str, values: np.ndarray) -> None:
        names = [{"source": source, "metric": metric}] * len(values)
        self.rows += [
            n | {"t_ns": int(t), "value": float(v)} for n, t, v in zip(names, self.t_ns, values, strict=True)
        ]

    def node(self, name: str, share: float) -> None:
        for metric, rate in (("cpu_seconds_total", 0.4), ("cpu_user_seconds_total", 0.3), ("cpu_system_seconds_total", 0.1),
                             ("disk_write_bytes_total", 9e5), ("disk_read_bytes_total", 2e4),
                             ("server_client_reads_total", 100.0), ("server_client_writes_total", 100.0),
                             ("server_local_reads_total", 200.0), ("server_local_writes_total", 300.0),
                             ("server_compaction_bytes_total", 4e5)):  # fmt: skip
            self.counter(name, metric, rate * share, offset=1000)
        self.level(name, "memory_bytes", 1.4e9, 5e7)
        self.level(name, "server_heap_used_bytes", 3e8, 4e8)
        self.add(
            name, "server_compactions_pending", np.floor(self.load * self.rng.integers(0, 4, self.load.size))
        )
        gc = self.load * self.rng.choice([0, 0, 0.012], self.load.size)
        if self.pause is not None and name == "node2":
            gc[self.pause + 1] = 0.09
        self.add(name, "server_gc_seconds_total", np.cumsum(gc))

    def frame(self) -> pl.DataFrame:
        for name, share in (("node1", 1.0), ("node2", 1.1), ("node3", 0.92)):
            self.node(name, share)
        for source, cores, memory in (("engine", 0.014, 2.4e7), ("lab", 0.021, 9e7), ("machine", 1.45, 6e9)):
            self.counter(source, "cpu_seconds_total", cores, offset=50, flat=source == "lab")
            self.level(source, "memory_bytes", memory, memory / 50)
        for metric, rate in (("cpu_idle_seconds_total", 0.55), ("cpu_iowait_seconds_total", 0.02), ("cpu_steal_seconds_total", 0.004),
                             ("network_receive_bytes_total", 3e6), ("network_send_bytes_total", 3e6),
                             ("disk_write_bytes_total", 2.8e6)):  # fmt: skip
            self.counter("machine", metric, rate)
        return pl.DataFrame(self.rows).select("t_ns", "source", "metric", "value")


def _settings(sample: Sample, number: int) -> dict[str, Any]:
    access = {"keyspace": "ycsb", "read_consistency": "QUORUM", "write_consistency": "QUORUM", "connections": 1,
              "replication": {"strategy": "SimpleStrategy", "factor": 3, "datacenters": {}}, "durable_writes": True}  # fmt: skip
    load = (
        {"target": float(sample.rate), "in_flight": 256} if sample.target else {"target": None, "clients": 8}
    )
    return {
        "number": number, "repetition": number, "seed": 42 + number,
        "system": {"kind": "cassandra", "version": "5.0.7", "nodes": 3, "profile": "quick", "limits": sample.limits,
                   "network": "loopback", "commitlog_sync": "periodic", "watch": True, "access": access},
        "workload": {"name": "a", "records": 20000, "mix": {"read": 0.5, "update": 0.5}, "values": "checked", "verify": "all",
                     "request": {"kind": "zipfian", "theta": 0.99}},
        "load": {**load, "arrivals": "constant", "duration_s": float(sample.seconds), "engines": 1, "warmup_s": 0,
                 "retry": "until-deadline", "timeout_ms": 10000},
    }  # fmt: skip


def _system(sample: Sample) -> dict[str, Any]:
    said = sample.hostile
    return {
        "kind": "cassandra", "version": "5.0.7" + said,
        "nodes": [{"name": f"node{n}", "address": f"127.0.0.{n + 1}", "java": "17.0.15", "pid": 4000 + n} for n in (1, 2, 3)],
        "configuration": {"num_tokens": 16, "partitioner": "Murmur3Partitioner", "commitlog_sync": "periodic",
                          "commitlog_sync_period": "10000ms", "concurrent_reads": 32, "memtable_allocation_type": "heap_buffers",
                          "note": said},
        "deviations": [
            {"setting": "heap", "value": "512 MiB", "default": "a quarter of memory", "reason": "three nodes on one host" + said},
            {"setting": "num_tokens", "value": 16, "default": 16, "reason": "upstream's"},
            {"setting": "auto_bootstrap", "value": False, "default": True, "reason": "nodes start together, empty"},
        ],
        "durability": "Commit log synced every 10,000 ms (periodic): a write is acknowledged before it is on disk; a power loss "
                      "of all replicas can lose up to 10 s of acknowledged writes.",
        "limits": {"cpu": "none", "memory": "none", "reason": "no control groups on this host"},
    }  # fmt: skip


def _manifest(sample: Sample, number: int, phases: list[PhaseMaker], end_ns: int) -> dict[str, Any]:
    def event(second: float, name: str, detail: Any = "") -> dict[str, Any]:
        return {"t_ns": BASE_NS + int(second * NS), "event": name, "detail": detail}

    return {
        "format": 1, "trial": _settings(sample, number), "status": "done", "reason": sample.hostile,
        "started": "2025-10-09T08:53:20Z", "ended": "2025-10-09T08:54:30Z",
        "clock": {"start": {"monotonic_ns": BASE_NS - 20 * NS, "realtime_ns": EPOCH_S * NS},
                  "end": {"monotonic_ns": end_ns, "realtime_ns": EPOCH_S * NS + end_ns - BASE_NS + 20 * NS}},
        "plan": {"plan_format": 1, "seed": 42 + number, "driver": {"kind": "cql", "hosts": ["127.0.0.2", "127.0.0.3", "127.0.0.4"],
                 "keyspace": "ycsb", "replication": {"class": "SimpleStrategy", "replication_factor": "3"},
                 "read_consistency": "QUORUM", "write_consistency": "QUORUM"},
                 "phases": [{"name": p.name, "kind": "load" if p.name == "load" else "run", "in_flight": 8 if p.closed else 256,
                             "arrivals": {"kind": "closed"} if p.closed else {"kind": "constant", "rate": float(sample.rate)}}
                            for p in phases]},
        "engine": {"version": "0.1.0", "source_hash": "0f3c9a", "driver": {"shards": False, "release": "5.0.7"}},
        "host": {"kernel": "6.1.0", "cpu_model": "Example CPU @ 2.0 GHz", "cores": 2, "governor": None, "memory_bytes": 25_000_000_000,
                 "huge_pages": "madvise", "swap_bytes": 0, "clock_source": "tsc", "file_system": "ext4", "java": "17.0.15",
                 "python": "3.11.7", "missing": {"governor": "the kernel shows none"}},
        "system": _system(sample),
        "phases": [{"name": p.name, "start_ns": p.start_ns, "end_ns": p.start_ns + p.seconds * NS,
                    "reason": "operations" if p.name == "load" else "time", "summary": p.summary()} for p in phases],
        "timeline": [event(-20, "command"), event(-18, "up"), event(0, "load"), event(sample.load_seconds, "settle", "quiet after 2.0 s"),
                     event(sample.load_seconds + 4, "run"), event(sample.load_seconds + 4 + sample.seconds, "down")],
        "timing": {"command_to_first_operation": 21.4, "up": 17.9, "load": float(sample.load_seconds), "settle": 2.0,
                   "run": float(sample.seconds), "down": 3.1},
        "warnings": [{"kind": "first_error", "text": "timeout: " + sample.hostile}] if sample.hostile else [],
    }  # fmt: skip


def _trial(folder: Path, sample: Sample, number: int, partial: bool) -> None:
    engine = folder / "engine"
    engine.mkdir(parents=True)
    (folder / "servers" / "node1").mkdir(parents=True)
    (folder / "servers" / "node1" / "system.log").write_text(f"INFO node1 is up {sample.hostile}\n")
    run_seconds = sample.seconds // 2 if partial else sample.seconds
    run_at = sample.load_seconds + 4
    phases = [
        PhaseMaker(
            sample, "load", ["INSERT"], seconds=sample.load_seconds, start_ns=BASE_NS, seed=10 * number
        ),
        PhaseMaker(
            sample,
            "run",
            ["READ", "UPDATE"],
            seconds=run_seconds,
            start_ns=BASE_NS + run_at * NS,
            seed=10 * number + 1,
        ),
    ]
    for phase in phases:
        (engine / f"{phase.name}.series.ndjson").write_text(phase.series())
        each, whole = phase.logs()
        (engine / f"{phase.name}.hdr").write_text(each)
        if not (partial and phase.name == "run"):
            (engine / f"{phase.name}.totals.hdr").write_text(whole)
    (engine / "events.ndjson").write_text('{"event":"ready","t_ns":0}\n')
    busy = set(range(sample.load_seconds)) | set(range(run_at, run_at + run_seconds))
    pause = None if sample.pause_second is None or partial else run_at + sample.pause_second
    system = SystemMaker(BASE_NS, run_at + run_seconds, busy, pause, number).frame()
    system.write_parquet(folder / "system.parquet")
    if partial:
        return
    pl.DataFrame([row for p in phases for row in p.rows()], infer_schema_length=None).write_parquet(
        folder / "intervals.parquet"
    )
    manifest = _manifest(sample, number, phases, BASE_NS + (run_at + run_seconds) * NS)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))


def make(root: Path, sample: Sample | None = None) -> Path:
    """Write the folder `root/NAME` anew and return it."""
    sample = sample or Sample()
    folder = root / sample.name
    shutil.rmtree(folder, ignore_errors=True)
    trials = []
    for number in range(1, sample.repetitions + 1):
        cut = sample.partial and number == sample.repetitions
        _trial(folder / "trials" / f"{number:03}{'.partial' if cut else ''}", sample, number, cut)
        status = "running" if cut else "done"
        trials.append(
            {"number": number, "repetition": number, "seed": 42 + number, "status": status, "reason": ""}
        )
    study = STUDY.format(name=sample.name, repetitions=sample.repetitions, seconds=float(sample.seconds))
    (folder / "study.toml").write_text(study)
    settings = {k: v for k, v in _settings(sample, 1).items() if k in ("system", "workload", "load")}
    question = "What does workload A cost on three nodes at QUORUM?" + sample.hostile
    run = {"format": 1, "name": sample.name, "created": "2025-10-09T08:53:20Z", "steelyard": "0.1.0", "trials": trials,
           "study": {"name": sample.name, "question": question, "seed": 42, "repetitions": sample.repetitions, **settings}}  # fmt: skip
    (folder / "run.json").write_text(json.dumps(run, indent=1))
    return folder


if __name__ == "__main__":
    print(make(Path(__file__).parent / "results"))
