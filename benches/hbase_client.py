"""Our HBase client against HBase's own: CPU per operation and throughput of single-row gets and puts.

    cargo build --release -p steelyard-hbase --example single_row
    python benches/hbase_client.py --registry HOST:PORT --class-path 'LIB/*' --ours .../examples/single_row

Both do the same on the same table: so many single rows of 1 KB in flight over one connection to each server,
the same rows in the same order. Each round runs ours, Java's blocking client (threads) and its
asynchronous one (`AsyncTable`, no thread waits), for gets and puts; the order turns from round to round.
The JVM lives through all rounds, so that its code is compiled, and its runs have a warm-up besides. CPU is
user and system time of the whole process, each as that process reads it of itself. Prints the ratio of ours
to Java's in the same round, mean and spread over the rounds. Allowed: CPU 0.2, throughput not below 1.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PEER = Path(__file__).resolve().parent.parent / "java" / "peer"
FAMILY = "family"
OURS, JAVA = "ours", ("blocking", "async")


@dataclass(frozen=True)
class Cost:
    """What one run measured."""

    rate_per_s: float
    cpu_us: float
    """CPU of the client process for one operation."""
    resident_mib: float


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


class Java:
    """One JVM with `java/peer`."""

    def __init__(self, class_path: str, classes: Path, registry: str) -> None:
        files = sorted(PEER.glob("*.java"))
        subprocess.run([tool("javac"), "-nowarn", "-d", classes, "-cp", class_path, *files], check=True)
        self.process = subprocess.Popen(
            [tool("java"), "-Xmx1g", "-cp", f"{classes}:{class_path}", "Peer", registry],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        if self.process.stdin is None or self.process.stdout is None:
            raise SystemExit("a pipe to the JVM is missing")
        self.tell, self.hear = self.process.stdin, self.process.stdout
        self.answer()

    def ask(self, *words: object) -> list[str]:
        """The words of the answer to a command."""
        self.tell.write("\t".join(map(str, words)) + "\n")
        self.tell.flush()
        return self.answer()

    def answer(self) -> list[str]:
        """The words of the next answer."""
        verdict, *words = self.hear.readline().rstrip("\n").split("\t")
        if verdict != "ok":
            raise SystemExit(f"Java's client failed: {words}")
        return words

    def close(self) -> None:
        """End the JVM: it ends with its input."""
        self.tell.close()
        self.process.wait(60)


def tool(name: str) -> str:
    """`java` or `javac` of JAVA_HOME, or of the path."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / name) if home else name


def run_java(java: Java, mode: str, kind: str, load: Load) -> Cost:
    """One run of HBase's client."""
    shape = (FAMILY.encode().hex(), kind, load.rows, load.value_bytes, mode, load.in_flight)
    _, _, rate, cpu, resident = java.ask("bench", load.table, *shape, load.warm_up_s, load.seconds)
    return Cost(float(rate), float(cpu), int(resident) / 1024)


def run_ours(binary: Path, kind: str, load: Load) -> Cost:
    """One run of ours."""
    words = (load.registry, load.table, load.in_flight, load.seconds, kind, load.rows)
    command = [str(binary), *map(str, words)]
    said = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    if said["failed"] or said["missing"]:
        raise SystemExit(f"our client failed: {said}")
    return Cost(said["calls_per_s"], said["cpu_us_per_call"], said["max_rss_mib"])


@contextmanager
def loaded(java: Java, load: Load) -> Iterator[None]:
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
    with tempfile.TemporaryDirectory() as classes:
        java = Java(given.class_path, Path(classes), given.registry)
        try:
            with loaded(java, load):
                for kind in ("get", "put"):
                    report(kind, rounds(java, given.ours, kind, load, given.rounds))
        finally:
            java.close()


def rounds(java: Java, binary: Path, kind: str, load: Load, count: int) -> list[dict[str, Cost]]:
    """So many rounds, after one that is thrown away: it warms the servers and the JVM."""
    done = []
    for number in range(count + 1):
        order = [OURS, *JAVA]
        order = order[number % 3 :] + order[: number % 3]
        one = {
            who: run_ours(binary, kind, load) if who == OURS else run_java(java, who, kind, load)
            for who in order
        }
        name = f"round {number}" if number else "warm-up"
        print(f"{kind} {name}:", *(show(who, one[who]) for who in sorted(one)), flush=True)
        done.append(one)
    return done[1:]


def show(who: str, cost: Cost) -> str:
    """One run in a few words."""
    return f" {who} {cost.rate_per_s:.0f}/s {cost.cpu_us:.1f} us {cost.resident_mib:.0f} MiB"


def report(kind: str, done: list[dict[str, Cost]]) -> None:
    """Ours divided by Java's, round by round."""
    for mode in JAVA:
        cpu = [one[OURS].cpu_us / one[mode].cpu_us for one in done]
        rate = [one[OURS].rate_per_s / one[mode].rate_per_s for one in done]
        print(f"{kind} ours / Java {mode:8}: CPU {spread(cpu)}, throughput {spread(rate)}")


def spread(values: list[float]) -> str:
    """Mean, standard deviation, least and most."""
    deviation = f" +- {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{deviation} ({min(values):.3f} to {max(values):.3f})"


if __name__ == "__main__":
    main()
