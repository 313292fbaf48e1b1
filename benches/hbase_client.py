"""Our HBase client against HBase's own: CPU per operation and throughput of single-row gets and puts.

    cargo build --release -p steelyard-hbase --example single_row
    python benches/hbase_client.py --registry HOST:PORT --class-path 'LIB/*' --ours .../examples/single_row

Both do the same on the same table: so many single rows of 1 KB in flight over one connection to each server,
the same rows in the same order. Each round runs ours, Java's blocking client (threads) and its
asynchronous one (`AsyncTable`, no thread waits), for gets and puts; the order turns from round to round.
The JVM lives through all rounds; before the first, Java's clients run until their CPU per operation falls
no further (their code is compiled then), and each run has a warm-up besides. CPU is user and system time of
the whole process, each as that process reads it of itself. Prints the ratios of ours to Java's with 95 %
intervals over the rounds. Allowed: CPU 0.2, throughput not below 1.

What an operation costs depends on how many answers one wake-up finds: see `op per read()`. On a machine that
has nothing else to do that is hardly more than one, and system calls are most of the cost; on a busy one both
clients come to their turn later, find more, and spend less.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from peers.cost import OURS, Cost, Round, show, table
from peers.jvm import JAVA, Jvm

FAMILY = "family"
MODES = ("blocking", "async")
FALLING = 0.95
"""A run that costs less than this share of the best one before shows that the JVM still compiles."""
MOST_WARM_UPS = 8


@dataclass(frozen=True)
class Load:
    """What every run does."""

    registry: str
    table: str
    rows: int
    value_bytes: int
    in_flight: int
    warm_up_s: int
    seconds: int


def run_java(java: Jvm, mode: str, kind: str, load: Load) -> Cost:
    """One run of HBase's client."""
    shape = (FAMILY.encode().hex(), kind, load.rows, load.value_bytes, mode, load.in_flight)
    return java.cost("bench", load.table, *shape, load.warm_up_s, load.seconds)


def run_ours(binary: Path, kind: str, load: Load) -> Cost:
    """One run of ours."""
    words = (load.registry, load.table, load.in_flight, load.seconds, kind, load.rows)
    command = [str(binary), *map(str, words)]
    said = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    if said["failed"] or said["missing"]:
        raise SystemExit(f"our client failed: {said}")
    calls = (said["answers_per_read"], said["calls_per_write"])
    return Cost(said["calls_per_s"], said["cpu_us_per_call"], said["max_rss_mib"], said["p99_us"], *calls)


def settle(java: Jvm, mode: str, kind: str, load: Load) -> None:
    """Runs of HBase's client until two in a row have not become cheaper."""
    best, steady = math.inf, 0
    for _ in range(MOST_WARM_UPS):
        cost = run_java(java, mode, kind, load).cpu_us
        steady = 0 if cost < FALLING * best else steady + 1
        best = min(best, cost)
        if steady == 2:
            return


@contextmanager
def loaded(java: Jvm, load: Load) -> Iterator[None]:
    """The table, split in three, every row written once; dropped afterwards."""
    family = FAMILY.encode().hex()
    splits = [key.encode().hex() for key in ("user3333", "user6666")]
    java.ask("create", load.table, family, 1, *splits)
    try:
        java.ask("load", load.table, family, "put", load.rows, load.value_bytes)
        yield
    finally:
        java.ask("drop", load.table)


def main() -> None:
    """The rounds, then the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--registry", required=True, help="HOST:PORT,... of masters or region servers")
    parser.add_argument("--class-path", required=True, help="of HBase's client")
    parser.add_argument("--ours", type=Path, required=True, help="the example single_row, a release build")
    parser.add_argument("--table", default="client_bench")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--value-bytes", type=int, default=1000)
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--warm-up", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    shape = (given.rows, given.value_bytes, given.in_flight, given.warm_up, given.seconds)
    load = Load(given.registry, given.table, *shape)
    sources = sorted((JAVA / "peer").glob("*.java"))
    with Jvm(sources, given.class_path, "Peer", given.registry) as java, loaded(java, load):
        for kind in ("get", "put"):
            for mode in MODES:
                settle(java, mode, kind, load)
            done = rounds(java, given.ours, kind, load, given.rounds)
            print("\n".join(["", f"{kind}:", *table(done), ""]), flush=True)


def rounds(java: Jvm, binary: Path, kind: str, load: Load, count: int) -> list[Round]:
    """So many rounds, after one that is thrown away: it warms the servers for ours too."""
    done = []
    for number in range(count + 1):
        order = [OURS, *MODES]
        order = order[number % 3 :] + order[: number % 3]
        one = {
            who: run_ours(binary, kind, load) if who == OURS else run_java(java, who, kind, load)
            for who in order
        }
        name = f"round {number}" if number else "warm-up"
        print(f"{kind} {name}:", "; ".join(show(who, one[who]) for who in sorted(one)), flush=True)
        done.append({who: one[who] for who in (OURS, *MODES)})
    return done[1:]


if __name__ == "__main__":
    main()
