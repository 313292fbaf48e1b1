"""YCSB itself, from its published core, beside ours: over BasicDB, or over the bindings in `java/ycsb`.

Its own bindings are published nowhere that Maven reaches; only its core is.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from steelyard.hosts.artifacts import fetch

JAVA = Path(__file__).resolve().parents[2] / "java"
CORE = "site.ycsb:core:0.17.0"
CALL = "from steelyard.cli import app; app()"
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
    """

    def __init__(self, binding: str, sources: Sequence[Path] = (), jars: str = "", *, folder: Path) -> None:
        core = fetch("ycsb-0.17.0", [CORE]).folder
        self._words = ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{folder}:{jars}:{core}/*"]
        self._words += ["site.ycsb.Client", "-db", binding]
        if sources:
            words = ["javac", "-nowarn", "-d", str(folder), "-cp", f"{jars}:{core}/*"]
            subprocess.run([*words, *map(str, sources)], check=True)

    def __call__(self, action: str, *words: str) -> Done:
        """Run it to its end; `action` is `load` or `run`."""
        return _run([*self._words, {"load": "-load", "run": "-t"}[action], *words])


def ours(action: str, database: str, *words: str) -> Done:
    """`steelyard ycsb ACTION DATABASE WORDS`, run to its end."""
    return _run([sys.executable, "-c", CALL, "ycsb", action, database, "--no-result", *words])


def _run(words: Sequence[str]) -> Done:
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=LIMIT_S)


def parsed(text: str) -> Output:
    """As scripts read YCSB's output: `[SECTION], measurement, value`; a line of another form is a mistake."""
    found: Output = {}
    for line in text.splitlines():
        section, measurement, value = line.split(", ")
        assert (section[0], section[-1]) == ("[", "]"), line
        found.setdefault(section[1:-1], {})[measurement] = float(value)
    return found
