"""YCSB itself, from its published core, beside ours: over BasicDB, or over the bindings in `java/ycsb`.

Its own bindings are published nowhere that Maven reaches; only its core is.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from peers.jvm import JAVA
from steelyard.hosts.artifacts import fetch
from steelyard.systems.cassandra.cql_probe import ask
from steelyard.systems.cassandra.login import CqlPlace

CORE = "site.ycsb:core:0.17.0"
DRIVER = "com.datastax.cassandra:cassandra-driver-core:3.0.0"
"""What YCSB 0.17.0's `cassandra-cql` is built on (`cassandra.cql.version` of its pom.xml)."""
CALL = "from steelyard.cli import app; app()"
SHORT = ("-XX:TieredStopAtLevel=1",)
"""Options of a JVM that starts soon; what it runs for long is slower."""
LIMIT_S = 200

Output = dict[str, dict[str, float]]
Done = subprocess.CompletedProcess[str]


class RealYcsb:
    """YCSB's client.

    Args:
        binding: name of the class it drives.
        sources: Java files to be compiled for it.
        jars: class path of what they use.
        folder: receives the classes.
        options: of its JVM.
    """

    def __init__(
        self,
        binding: str,
        sources: Sequence[Path] = (),
        jars: str = "",
        *,
        folder: Path,
        options: Sequence[str] = SHORT,
    ) -> None:
        core = fetch("ycsb-0.17.0", [CORE]).folder
        self._words = ["java", *options, "-cp", f"{folder}:{jars}:{core}/*"]
        self._words += ["site.ycsb.Client", "-db", binding]
        if sources:
            words = ["javac", "-nowarn", "-d", str(folder), "-cp", f"{jars}:{core}/*"]
            subprocess.run([*words, *map(str, sources)], check=True)

    def __call__(self, action: str, *words: str) -> Done:
        """Run it to its end; `action` is `load` or `run`."""
        return _run(self.command(action, *words))

    def command(self, action: str, *words: str) -> list[str]:
        """The words that start it."""
        return [*self._words, {"load": "-load", "run": "-t"}[action], *words]


def over_cql(folder: Path, options: Sequence[str] = SHORT) -> RealYcsb:
    """YCSB's client over CQL; `folder` receives the classes."""
    jars = fetch(DRIVER.split(":", 1)[1].replace(":", "-"), [DRIVER]).folder
    sources = [JAVA / "ycsb" / "CqlBinding.java"]
    return RealYcsb("CqlBinding", sources, f"{jars}/*", folder=folder, options=options)


def make_table(place: CqlPlace, keyspace: str) -> None:
    """The table that YCSB's own page says, with three copies."""
    fields = ", ".join(f"field{n} varchar" for n in range(10))
    replication = "{'class': 'SimpleStrategy', 'replication_factor': 3}"
    for made in (
        f"KEYSPACE {keyspace} WITH replication = {replication}",
        f"TABLE {keyspace}.usertable (y_id varchar PRIMARY KEY, {fields})",
    ):
        ask(place, f"CREATE {made}", timeout_s=60)


def ours(action: str, database: str, *words: str) -> Done:
    """`steelyard ycsb ACTION DATABASE WORDS`, run to its end."""
    return _run(our_command(action, database, *words))


def our_command(action: str, database: str, *words: str) -> list[str]:
    """The words that start it."""
    return [sys.executable, "-c", CALL, "ycsb", action, database, "--no-result", *words]


def _run(words: Sequence[str]) -> Done:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)


def parsed(text: str) -> Output:
    """As scripts read YCSB's output: `[SECTION], measurement, value`; a line of another form is a mistake."""
    found: Output = {}
    for line in text.splitlines():
        section, measurement, value = line.split(", ")
        assert (section[0], section[-1]) == ("[", "]"), line  # noqa: S101 - tests ask for it
        found.setdefault(section[1:-1], {})[measurement] = float(value)
    return found
