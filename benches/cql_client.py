"""Our CQL driver against its peers, and against the floor: what an operation costs the client.

    python benches/cql_client.py [--rounds 6] [--seconds 5] [--write docs/performance.md]

Brings up one real Cassandra node and loads it, lets the engine read and write until neither gets faster, and
then, for reads and for writes, runs every client once a round, in an order that turns from round to round.
Prints each client's figures (geometric means over the rounds) and the ratios of ours to the others' with 95 %
intervals; then reads at given rates, with every way of pacing beside latte. The first call
builds latte and the programs in `peers/rust`. Take figures on a quiet machine: the load before is printed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from peers import cql, ours, paced
from peers.cost import Round, show, table
from peers.report import machine, write

from steelyard.hosts.local import LocalHost
from steelyard.spec.system import CassandraSystem
from steelyard.systems.cassandra.testbed import CassandraTestbed

STEADY = 0.05
"""Throughput is steady when the last three runs of a kind lie this close together."""


def words() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=5, help="of each run, after its warm-up")
    parser.add_argument("--warm-up", type=float, default=1, help="seconds of each run before its window")
    parser.add_argument("--steady-limit", type=float, default=180, help="seconds; longest warming")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--value-bytes", type=int, default=1000)
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--profile", choices=("quick", "default"), default="quick", help="of the node")
    parser.add_argument("--only", default="", help="these peers, separated by commas; default: all")
    parser.add_argument("--write", type=Path, metavar="FILE", help="put the tables into this file, too")
    return parser.parse_args()


@contextmanager
def node(profile: str) -> Iterator[CassandraTestbed]:
    """One node of Cassandra, up; down again afterwards."""
    system = CassandraSystem.model_validate({"nodes": 1, "profile": profile, "watch": False})
    with tempfile.TemporaryDirectory() as root:
        testbed = CassandraTestbed(system, name=f"peers-{os.getpid()}", root=Path(root), host=LocalHost())
        try:
            testbed.up(lambda line: print(line, flush=True))
            yield testbed
        finally:
            testbed.down(print)


def warmed(run: ours.Client, limit_s: float, run_s: float) -> str:
    """Let ours read and write in turns until both are steady; says how that ended."""
    rates: dict[str, list[float]] = {kind: [] for kind in ours.KINDS}
    for turn in range(1, max(3, int(limit_s / run_s / len(rates))) + 1):
        for kind, found in rates.items():
            found.append(run(kind).rate_per_s)
            print(f"warming: {kind} {found[-1]:,.0f}/s", flush=True)
        newest = [found[-3:] for found in rates.values()]
        if turn >= 3 and all(max(last) < min(last) * (1 + STEADY) for last in newest):
            return f"steady after {turn} runs of {run_s:g} s of each kind"
    return f"NOT steady (within {STEADY:.0%}) after {turn} runs of {run_s:g} s of each kind"


def rounds(found: dict[str, ours.Client], kind: str, count: int) -> Iterator[Round]:
    """So many rounds, every client once in each."""
    names = list(found)
    for number in range(count):
        turn = number % len(names)
        one = {}
        for who in names[turn:] + names[:turn]:
            one[who] = found[who](kind)
            print(f"{kind} {number + 1}: {show(who, one[who])}", flush=True)
        yield {who: one[who] for who in names}


def measure(asked: argparse.Namespace) -> Iterator[str]:
    """Everything, as lines of Markdown."""
    with node(asked.profile) as testbed:
        shape = (asked.rows, asked.value_bytes, asked.in_flight, asked.warm_up, asked.seconds)
        task = ours.Task(testbed.driver(), *shape)
        with cql.java_driver(task) as java:
            found = cql.clients(task, java, [name.strip() for name in asked.only.split(",") if name.strip()])
            before = os.getloadavg()[0]
            ours.load(task)
            warm = warmed(found["ours"], asked.steady_limit, asked.warm_up + asked.seconds)
            print(warm, testbed.settle(120, print), flush=True)
            yield from about(asked, testbed, before, warm)
            for kind in ours.KINDS:  # reads first: the peers' writes are no values that ours would accept
                done = list(rounds(found, kind, asked.rounds))
                yield from ("", f"### 1 x {asked.value_bytes:,} B {kind}s", "", *table(done))
            for rate in paced.RATES:
                yield from at_rate(task, rate, asked.rounds)


def at_rate(task: ours.Task, rate: int, count: int) -> Iterator[str]:
    """Reads at so many a second, so many rounds."""
    binary = cql.install_latte()
    done = []
    for number in range(count):
        done.append(paced.one_round(binary, task, rate, number))
        print(f"{rate:,}/s {number + 1}: {done[-1]}", flush=True)
    title = f"### 1 x {task.value_bytes:,} B reads at {rate:,}/s, {paced.IN_FLIGHT} in flight at most"
    yield from ("", title, "", *paced.table(done))


def about(asked: argparse.Namespace, testbed: CassandraTestbed, load: float, warm: str) -> Iterator[str]:
    """The command, the machine, and what the node was."""
    yield from machine(load)
    yield f"- Cassandra {testbed.version}, one node, profile {asked.profile}; {warm}"
    yield f"- latte {cql.LATTE}, {cql.JAVA_DRIVER}, scylla crate as in Cargo.lock"
    yield (
        f"- {asked.in_flight} in flight on one connection, {asked.rows:,} rows, {asked.rounds} interleaved "
        f"rounds of {asked.seconds:g} s after {asked.warm_up:g} s"
    )


def main() -> None:
    """Measure, print, write."""
    asked = words()
    lines = list(measure(asked))
    print("\n".join(["", *lines]))
    if asked.write:
        write(asked.write, "benches/cql_client.py", lines)


if __name__ == "__main__":
    main()
