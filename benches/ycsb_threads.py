"""YCSB's threads and our tasks on one cluster: is a fall beyond the peak the cluster's, or the client's own?

    python benches/ycsb_threads.py [--rounds 6] [--seconds 12] [--write FILE]

Brings up the three nodes of `sheth-2023/threads` in its small form and loads them; then YCSB 0.17.0 itself
and `steelyard ycsb --as-ycsb`, given the same words (workload A, ONE), take turns with each number of
threads, in a random order in each round; a round before these warms the nodes and is not counted. A run's
figures are of a window after its warm-up, by its own status lines. Take figures on a quiet machine: the
load before is printed.

YCSB's driver has one connection to a node, and at most 1,024 requests on it (PoolingOptions of driver 3.0.0):
of more than 3,072 threads the others wait for it. Ours sends what its tasks have.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import psutil
from peers.cost import text
from peers.report import machine, write
from peers.ycsb import make_table, our_command, ours, over_cql, parsed

from steelyard.analysis.stats.runs import Interval, Runs, mean
from steelyard.hosts.local import LocalHost
from steelyard.spec.system import CassandraSystem
from steelyard.systems.cassandra.login import CqlPlace
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.watch.cgroup import read_group

WORKLOAD = Path(__file__).resolve().parents[1] / "workloads" / "workloada"
THREADS = (1, 100, 1000, 3000, 8000)
"""From the paper's least to its most; 3,000 is what YCSB's driver can have under way."""
SYSTEM = {
    "version": "3.11.13",
    "nodes": 3,
    "profile": "quick",
    "heap_mib": 384,
    "limits": {"cpu": 0.4, "memory_mib": 1536},
    "watch": False,
}
RECORDS = 2000
SEED = 42
STATUS = re.compile(r"\S+ \S+ (\d+) sec: (\d+) operations;")


@dataclass(frozen=True)
class Mark:
    """How far a run was at a moment."""

    at_s: float
    operations: int
    client_cpu_s: float
    nodes_cpu_s: float

    def rate_per_s(self, before: Mark) -> float:
        """Operations a second since then."""
        return (self.operations - before.operations) / (self.at_s - before.at_s)


@dataclass(frozen=True)
class Window:
    """What a run did in its window.

    Attributes:
        later: throughput of its second half over that of its first.
        failed: share of operations of the whole run.
    """

    rate_per_s: float
    client_cores: float
    nodes_cores: float
    later: float
    failed: float

    def __str__(self) -> str:
        return (
            f"{self.rate_per_s:,.0f}/s, client {self.client_cores:.2f} cores, "
            f"nodes {self.nodes_cores:.2f}, second half {self.later:.2f} of the first, "
            f"failed {self.failed:.2%}"
        )


FIGURES = ("rate_per_s", "client_cores", "nodes_cores", "later")
BEYOND_S = 8
"""A run goes on for so long after its window, so that a late status line is still of the run."""
LATE_S = 1.5
TRIES = 3
Round = dict[tuple[str, int], Window]
"""(client, threads) -> its run."""


class Bed:
    """The cluster, loaded, and what both clients are told of it.

    Args:
        testbed: it is up.
        folder: receives YCSB's classes.
        warm_up_s: seconds of a run before its window.
        seconds: of the window.
    """

    def __init__(self, testbed: CassandraTestbed, folder: Path, warm_up_s: int, seconds: int) -> None:
        self._testbed, self._seconds = testbed, seconds
        self._due = (warm_up_s, warm_up_s + seconds // 2, warm_up_s + seconds)
        driver = testbed.driver()
        hosts, port = driver["hosts"], driver["port"]
        self._said = [
            *("-P", str(WORKLOAD), "-p", f"recordcount={RECORDS}"),
            *("-p", f"hosts={','.join(hosts)}", "-p", f"port={port}"),
            *("-p", "cassandra.readconsistencylevel=ONE", "-p", "cassandra.writeconsistencylevel=ONE"),
        ]
        self._ycsb = over_cql(folder, options=())
        self._load(hosts[0], port)

    def _load(self, host: str, port: int) -> None:
        make_table(CqlPlace(host, port), "ycsb")
        done = ours("load", "cassandra-cql", *self._said, "-threads", "16")
        if done.returncode:
            raise SystemExit(f"the load failed: {done.stderr}")

    def run(self, client: str, threads: int) -> Window:
        """One run of a client; again, if a status line came late."""
        command = self._command(client, threads)
        for _ in range(TRIES):
            marks, said = self._watched(command)
            if len(marks) == len(self._due):
                first, middle, last = marks
                elapsed = last.at_s - first.at_s
                if abs(elapsed - self._seconds) < LATE_S:
                    break
            print(f"{client}, {threads:,} threads: no status line in time", flush=True)
        else:
            raise SystemExit(f"{client}, {threads:,} threads: no status line in time in {TRIES} runs")
        return Window(
            last.rate_per_s(first),
            (last.client_cpu_s - first.client_cpu_s) / elapsed,
            (last.nodes_cpu_s - first.nodes_cpu_s) / elapsed,
            last.rate_per_s(middle) / middle.rate_per_s(first),
            failed_share(said),
        )

    def _command(self, client: str, threads: int) -> list[str]:
        words = [
            *self._said,
            *("-threads", str(threads), "-s", "-p", "status.interval=1"),
            *("-p", "operationcount=100000000", "-p", f"maxexecutiontime={self._due[-1] + BEYOND_S}"),
        ]
        if client == "ours":
            return our_command("run", "cassandra-cql", "--as-ycsb", *words)
        return self._ycsb.command("run", *words)

    def _watched(self, command: Sequence[str]) -> tuple[list[Mark], str]:
        """What a client's status lines marked, and its output."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            if process.stdout is None or process.stderr is None:
                raise SystemExit("a pipe to the client is missing")
            deadline = threading.Timer(self._due[-1] + 120, process.kill)
            deadline.start()
            try:
                marks = list(self._marks(process.pid, process.stderr))
                said = process.stdout.read()
            except BaseException:
                process.kill()
                raise
            finally:
                deadline.cancel()
        if process.returncode:
            raise SystemExit(f"{command[0]} ended with {process.returncode}: {said}")
        return marks, said

    def _marks(self, pid: int, lines: Iterator[str]) -> Iterator[Mark]:
        """At the beginning, the middle and the end of the window; `lines` are read to their end."""
        due = list(self._due)
        for line in lines:
            status = STATUS.match(line)
            if status and due and int(status[1]) >= due[0]:
                del due[0]
                yield Mark(time.monotonic(), int(status[2]), tree_cpu_s(pid), self._nodes_cpu_s())

    def _nodes_cpu_s(self) -> float:
        return sum(
            read_group(target.cgroups, lambda path: Path(path).read_text(), _fail)["cpu_seconds_total"]
            for target in self._testbed.targets()
        )


def _fail(what: str, error: Exception) -> None:
    raise SystemExit(f"the nodes' {what} cannot be read: {error}")


def tree_cpu_s(pid: int) -> float:
    """CPU seconds so far of a process and those that it started."""
    process = psutil.Process(pid)
    found = 0.0
    for one in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            found += times.user + times.system
    return found


def failed_share(said: str) -> float:
    """Of YCSB's output: what returned anything but OK, of all. Other lines tell of the limit of time."""
    figures = "\n".join(line for line in said.splitlines() if line.startswith("["))
    returned = [
        (name == "Return=OK", count)
        for rows in parsed(figures).values()
        for name, count in rows.items()
        if name.startswith("Return=")
    ]
    return sum(count for ok, count in returned if not ok) / sum(count for _, count in returned)


def rounds(bed: Bed, levels: Sequence[int], count: int) -> Iterator[Round]:
    """So many rounds, every pair of client and threads once in each; the first, of warming, is not given."""
    pairs = [(client, threads) for threads in levels for client in ("ours", "YCSB")]
    order = random.Random(SEED)  # noqa: S311 - an order, to be had again
    for number in range(count + 1):
        one = {}
        for client, threads in order.sample(pairs, len(pairs)):
            one[client, threads] = bed.run(client, threads)
            print(f"{number or 'warming'}: {client}, {threads:,} threads: {one[client, threads]}", flush=True)
        if number:
            yield one


def table(done: Sequence[Round], levels: Sequence[int]) -> Iterator[str]:
    """Each client at each number of threads, then each step's factor of throughput, as lines of Markdown."""
    yield (
        "| threads | client | op/s | client, cores | nodes, cores | second half over first "
        "| failed, of the whole run |"
    )
    yield "| ---: | --- | ---: | ---: | ---: | ---: | ---: |"
    for threads in levels:
        for client in ("YCSB", "ours"):
            runs = [one[client, threads] for one in done]
            found = [mean(Runs([getattr(run, figure) for run in runs])) for figure in FIGURES]
            cells = [f"{found[0].estimate:,.0f} ({found[0].low:,.0f} to {found[0].high:,.0f})"]
            cells += [f"{one.estimate:.2f}" for one in found[1:]]
            failed = sum(run.failed for run in runs) / len(runs)
            yield f"| {threads:,} | {client} | {' | '.join(cells)} | {failed:.2%} |"
    yield from ("", "| throughput over that before | YCSB | ours |", "| --- | ---: | ---: |")
    for before, threads in pairwise(levels):
        cells = [text(step(done, client, before, threads)) for client in ("YCSB", "ours")]
        yield f"| {threads:,} threads over {before:,} | {' | '.join(cells)} |"


def step(done: Sequence[Round], client: str, before: int, threads: int) -> Interval:
    """A client's throughput over its own with fewer threads, within a round."""
    return mean(Runs([one[client, threads].rate_per_s / one[client, before].rate_per_s for one in done]))


def measure(asked: argparse.Namespace) -> Iterator[str]:
    """Everything, as lines of Markdown."""
    levels = [int(word) for word in asked.threads.split(",")]
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        system = CassandraSystem.model_validate(SYSTEM)
        testbed = CassandraTestbed(system, name=f"ycsb-threads-{os.getpid()}", root=folder, host=LocalHost())
        try:
            testbed.up(lambda line: print(line, flush=True))
            (folder / "classes").mkdir()
            bed = Bed(testbed, folder / "classes", asked.warm_up, asked.seconds)
            done = list(rounds(bed, levels, asked.rounds))
        finally:
            testbed.down(print)
    yield from machine(load)
    yield (
        f"- Cassandra {SYSTEM['version']}, three nodes of 0.4 cores, three copies, {RECORDS:,} records, "
        "workload A at ONE"
    )
    yield (
        f"- {asked.rounds} rounds; {asked.seconds} s of each run after {asked.warm_up} s; means are "
        "geometric, with 95 % intervals over rounds, given this start and this load"
    )
    yield from ("", *table(done, levels))


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=int, default=12, help="of each run's window")
    parser.add_argument("--warm-up", type=int, default=30, help="seconds of each run before it")
    parser.add_argument("--threads", default=",".join(map(str, THREADS)), help="numbers, by commas")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables into this file, too")
    asked = parser.parse_args()
    lines = list(measure(asked))
    print("\n".join(["", *lines]))
    if asked.write:
        write(asked.write, "benches/ycsb_threads.py", lines)


if __name__ == "__main__":
    main()
