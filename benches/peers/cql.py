"""Clients of CQL, doing the same: ours, latte, the scylla crate, the official Java driver, and the floor.

Each keeps so many operations of one kind in flight on one connection, on `ycsb.usertable` with one field, and
tells CPU (user and system time of its process) and latencies of a window after a warm-up. Ours makes its
values and judges what it reads; the others store one constant and look at most at its length, the least work.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from pathlib import Path

from peers.cost import FLOOR, OURS, Cost
from peers.jvm import JAVA, Jvm
from peers.ours import Client, Task, run_ours
from peers.process import run
from steelyard.folders import cache_folder
from steelyard.hosts.artifacts import fetch

HERE = Path(__file__).resolve().parent
LATTE = "0.29.0"
JAVA_DRIVER = "org.apache.cassandra:java-driver-core:4.19.0"


def clients(task: Task, java: Jvm, only: Collection[str] = ()) -> dict[str, Client]:
    """Name -> the client, built: runs operations of one kind and tells their cost. Ours is always there.

    No name has a comma: `--only` has commas between names.
    """
    built: dict[str, Callable[[], Client]] = {
        OURS: lambda: partial(run_ours, task),
        "latte": lambda: partial(run_latte, install_latte(), task),
        "scylla crate": lambda: partial(run_program, build_programs() / "scylla_loop", task),
        "Java driver": lambda: lambda kind: java.cost("bench", kind, *task.words),
        FLOOR: lambda: partial(run_program, build_programs() / "floor", task),
        f"{FLOOR} at half in flight": lambda: partial(
            run_program, build_programs() / "floor", replace(task, in_flight=task.in_flight // 2)
        ),
        f"{FLOOR} at twice in flight": lambda: partial(
            run_program, build_programs() / "floor", replace(task, in_flight=task.in_flight * 2)
        ),
    }
    if unknown := set(only) - built.keys():
        raise SystemExit(f"no such client: {', '.join(sorted(unknown))}; known: {', '.join(built)}")
    return {name: build() for name, build in built.items() if not only or name in {OURS, *only}}


def java_driver(task: Task) -> Jvm:
    """The program over the official Java driver."""
    jars = fetch(JAVA_DRIVER.split(":", 1)[1].replace(":", "-"), [JAVA_DRIVER]).folder
    sources = [JAVA / "cql" / "Cql.java", JAVA / "peer" / "Meter.java"]
    host, port = task.node
    return Jvm(sources, f"{jars}/*", "Cql", host, str(port))


def build_programs() -> Path:
    """The folder of the programs in `rust/`, built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or HERE.parents[1] / "target").absolute()
    where = ["--target-dir", str(target), "--manifest-path", str(HERE / "rust" / "Cargo.toml")]
    subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", *where], check=True)
    return target / "release"


def install_latte() -> Path:
    """latte's binary of the pinned release, in our cache."""
    root = cache_folder() / f"latte-{LATTE}"
    binary = root / "bin" / "latte"
    if not binary.exists():
        print(f"building latte {LATTE} (once, minutes)", flush=True)
        words = ["--quiet", "--locked", "--version", LATTE, "--root", str(root)]
        subprocess.run(["cargo", "install", *words, "latte-cli"], check=True)
    return binary


def run_program(binary: Path, task: Task, kind: str) -> Cost:
    """One run of a program of `rust/`."""
    host, port = task.node
    said, peak = run([binary, f"{host}:{port}", kind, *task.words])
    found = json.loads(said)
    calls = [math.nan if found[name] is None else found[name] for name in ("per_read", "per_write")]
    return Cost(found["rate_per_s"], found["cpu_us"], peak, found["p99_us"], *calls)


def run_latte(binary: Path, task: Task, kind: str) -> Cost:
    """One run of latte, with one thread and one connection as it has by default."""
    host, port = task.node
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        times = ["--warmup", f"{task.warm_up_s:g}s", "--duration", f"{task.seconds:g}s"]
        shape = ["-P", f"rows={task.rows}", "-P", f"value_bytes={task.value_bytes}"]
        load = ["--functions", kind, "--concurrency", str(task.in_flight), "--consistency", "ONE"]
        words = [*load, *shape, *times, "--quiet", "--output", str(report), str(HERE / "latte.rn")]
        _, peak = run([binary, "--log-dir", folder, "run", *words, f"{host}:{port}"])
        found = json.loads(report.read_text())["result"]
    if found["error_count"]:
        raise SystemExit(f"latte: {found['errors'][:3]}")
    count, latencies = found["request_count"], found["request_latency"]["percentiles"]
    p99_us = latencies[LATTE_P99]["value"] * 1000
    return Cost(count / found["elapsed_time_s"], found["cpu_time_s"] * 1e6 / count, peak, p99_us)


LATTE_P99 = 11
"""Place of the 99th among the percentiles of latte's report."""
