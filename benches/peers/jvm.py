"""A JVM with a program of `java/`, told by lines what to do; it outlives rounds: its code is compiled."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from peers.cost import Cost

JAVA = Path(__file__).resolve().parents[2] / "java"


class Jvm:
    """Compiles the sources, runs `main`, and ends with the block it is used in.

    Args:
        sources: Java files.
        class_path: of what they use.
        main: the class to run, with these words.
    """

    def __init__(self, sources: Sequence[Path], class_path: str, main: str, *words: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        classes = self._folder.name
        subprocess.run([tool("javac"), "-nowarn", "-d", classes, "-cp", class_path, *sources], check=True)
        self.process = subprocess.Popen(
            [tool("java"), "-Xmx1g", "-cp", f"{classes}:{class_path}", main, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        if self.process.stdin is None or self.process.stdout is None:
            raise SystemExit("a pipe to the JVM is missing")
        self._tell, self._hear = self.process.stdin, self.process.stdout
        self._answer()

    def ask(self, *words: object) -> list[str]:
        """The words of the answer to a command."""
        self._tell.write("\t".join(map(str, words)) + "\n")
        self._tell.flush()
        return self._answer()

    def cost(self, *words: object) -> Cost:
        """The answer of a command that measures, as `java/peer/Meter.java` gives it."""
        _, _, rate, cpu, resident_kib, p99 = self.ask(*words)
        return Cost(float(rate), float(cpu), int(resident_kib) / 1024, float(p99))

    def _answer(self) -> list[str]:
        verdict, *words = self._hear.readline().rstrip("\n").split("\t")
        if verdict != "ok":
            raise SystemExit(f"Java's client failed: {' '.join(words) or 'the JVM ended'}")
        return words

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tell.close()  # it ends with its input
        self.process.wait(60)
        self._folder.cleanup()


def tool(name: str) -> str:
    """`java` or `javac` of JAVA_HOME, or of the path."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / name) if home else name
