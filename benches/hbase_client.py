"""The engine's HBase driver against HBase's own clients: what single-row gets and puts cost.

    python benches/hbase_client.py [--rounds 5] [--seconds 5] [--write docs/performance.md]

Brings up a real cluster of HBase on HDFS. All keep so many single rows in flight, over one connection to each
server, on tables of one shape: ours is the engine with a plan, which makes its values and judges what it
reads; Java's blocking client (threads) and its asynchronous one (`AsyncTable`, no thread waits) store one
constant. Each round runs all three, for gets and then for puts; the order turns from round to round. The JVM
lives through all rounds; before the first, Java's clients run until their CPU per operation falls no further
(their code is compiled then), and each run has a warm-up besides. CPU is user and system time of the process.

What an operation costs depends on how many answers one wake-up finds: see `op per read()`. On a machine that
has nothing else to do that is hardly more than one, and system calls are most of the cost; on a busy one both
clients come to their turn later, find more, and spend less.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from peers.cost import OURS, Cost, Round, show, table
from peers.jvm import JAVA, Jvm
from peers.ours import KINDS, Task, load, run_ours
from peers.report import machine, write

from steelyard.hosts.artifacts import fetch
from steelyard.hosts.local import LocalHost
from steelyard.spec.hbase import HBaseSystem
from steelyard.systems.hbase import versions
from steelyard.systems.hbase.testbed import HBaseTestbed

FAMILY = b"family".hex()
JAVAS_TABLE = "of_java"
SPLITS = [key.encode().hex() for key in ("user3333", "user6666")]
MODES = {"blocking client": "blocking", "AsyncTable": "async"}
JAVAS_KINDS = {"read": "get", "write": "put"}
FALLING = 0.95
"""A run that costs less than this share of the best one before shows that the JVM still compiles."""
MOST_WARM_UPS = 8


def run_java(java: Jvm, mode: str, kind: str, task: Task) -> Cost:
    """One run of HBase's client."""
    shape = (FAMILY, JAVAS_KINDS[kind], task.rows, task.value_bytes, MODES[mode], task.in_flight)
    return java.cost("bench", JAVAS_TABLE, *shape, task.warm_up_s, task.seconds)


def settle(java: Jvm, mode: str, kind: str, task: Task) -> None:
    """Runs of HBase's client until two in a row have not become cheaper."""
    best, steady = math.inf, 0
    for _ in range(MOST_WARM_UPS):
        cost = run_java(java, mode, kind, task)
        print(f"warming: {kind} {show(mode, cost)}", flush=True)
        steady = 0 if cost.cpu_us < FALLING * best else steady + 1
        best = min(best, cost.cpu_us)
        if steady == 2:
            return


@contextmanager
def cluster(nodes: int) -> Iterator[HBaseTestbed]:
    """A cluster of so many region servers, up; down again afterwards."""
    system = HBaseSystem.model_validate({"nodes": nodes, "profile": "quick", "watch": False})
    with tempfile.TemporaryDirectory() as root:
        testbed = HBaseTestbed(system, name=f"peers-{os.getpid()}", root=Path(root), host=LocalHost())
        try:
            testbed.up(lambda line: print(line, flush=True))
            yield testbed
        finally:
            testbed.down(print)


def javas_client(testbed: HBaseTestbed) -> Jvm:
    """HBase's own client of the servers' version, told by lines what to do."""
    wanted, without = versions.coordinates(testbed.version, testbed.line), testbed.line.without
    jars = fetch(f"hbase-{testbed.version}", wanted, without).folder
    return Jvm(sorted((JAVA / "peer").glob("*.java")), f"{jars}/*", "Peer", ",".join(testbed.answers_at()))


def rounds(java: Jvm, kind: str, task: Task, count: int) -> list[Round]:
    """So many rounds, after one that is thrown away: it warms the servers for ours too."""
    done = []
    names = [OURS, *MODES]
    for number in range(count + 1):
        turn = number % len(names)
        one = {}
        for who in names[turn:] + names[:turn]:
            one[who] = run_ours(task, kind) if who == OURS else run_java(java, who, kind, task)
            print(f"{kind} {number or 'warm-up'}: {show(who, one[who])}", flush=True)
        done.append({who: one[who] for who in names})
    return done[1:]


def measure(asked: argparse.Namespace) -> Iterator[str]:
    """Everything, as lines of Markdown."""
    with cluster(asked.nodes) as testbed, javas_client(testbed) as java:
        shape = (asked.rows, asked.value_bytes, asked.in_flight, asked.warm_up, asked.seconds)
        task = Task(testbed.driver(), *shape)
        before = os.getloadavg()[0]
        java.ask("create", JAVAS_TABLE, FAMILY, 1, *SPLITS)
        java.ask("load", JAVAS_TABLE, FAMILY, "put", asked.rows, asked.value_bytes)
        load(task)
        yield from machine(before)
        servers = f"{asked.nodes} region servers, profile quick"
        yield f"- HBase {testbed.version} on HDFS, {servers}; its own client of that version, one JVM"
        yield (
            f"- {asked.in_flight} in flight, one connection to each server, {asked.rows:,} rows, "
            f"{asked.rounds} interleaved rounds of {asked.seconds} s after {asked.warm_up} s"
        )
        for kind in KINDS:
            for mode in MODES:
                settle(java, mode, kind, replace(task, seconds=2))
            done = rounds(java, kind, task, asked.rounds)
            yield from ("", f"### HBase {JAVAS_KINDS[kind]}s of {asked.value_bytes:,} B", "", *table(done))


def words() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=3, help="region servers")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--value-bytes", type=int, default=1000)
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--warm-up", type=int, default=1, help="seconds of each run before its window")
    parser.add_argument("--seconds", type=int, default=5, help="of each run, after its warm-up")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables into this file, too")
    return parser.parse_args()


def main() -> None:
    """Measure, print, write."""
    asked = words()
    lines = list(measure(asked))
    print("\n".join(["", *lines]))
    if asked.write:
        write(asked.write, "benches/hbase_client.py", lines)


if __name__ == "__main__":
    main()
