"""Compiling the agent; the compilers are shell scripts of this file."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from steelyard.errors import InfrastructureError, MissingToolError
from steelyard.watch import agent_jar, jar

COMPILER = """#!/bin/sh
echo "$@" >> {log}
[ "$1" = "{refused}" ] && {{ echo "invalid flag: $1" >&2; exit 2; }}
while [ "$1" != "-d" ]; do shift; done
echo class > "$2/SteelyardAgent.class"
"""


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "cache"))


def compiler(tmp_path: Path, refused: str = "nothing") -> tuple[Path, Path]:
    path, log = tmp_path / "javac", tmp_path / "log"
    path.write_text(COMPILER.format(log=log, refused=refused))
    path.chmod(0o755)
    return path, log


def test_the_source_is_in_the_package() -> None:
    assert "class SteelyardAgent" in jar.SOURCE.read_text()


def test_it_is_compiled_once(tmp_path: Path) -> None:
    javac, log = compiler(tmp_path)
    first = agent_jar(javac)
    assert agent_jar(javac) == first
    assert len(log.read_text().splitlines()) == 1
    assert "--release 8" in log.read_text()
    with zipfile.ZipFile(first) as archive:
        assert sorted(archive.namelist()) == ["META-INF/MANIFEST.MF", "SteelyardAgent.class"]
        assert b"Premain-Class: SteelyardAgent\r\n" in archive.read("META-INF/MANIFEST.MF")
    assert list(first.parent.iterdir()) == [first]


def test_the_old_compiler_of_java_8_is_spoken_to_in_its_words(tmp_path: Path) -> None:
    javac, log = compiler(tmp_path, refused="--release")
    assert agent_jar(javac).exists()
    assert "-source 8 -target 8" in log.read_text()


def test_without_a_jdk_there_is_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jar, "compilers", lambda: iter(()))
    with pytest.raises(MissingToolError) as caught:
        agent_jar()
    assert "no javac" in caught.value.message
    assert "install a JDK" in (caught.value.hint or "")


def test_a_compiler_that_fails_is_quoted(tmp_path: Path) -> None:
    javac = tmp_path / "javac"
    javac.write_text("#!/bin/sh\necho 'error: out of luck' >&2\nexit 1\n")
    javac.chmod(0o755)
    with pytest.raises(InfrastructureError, match="out of luck"):
        agent_jar(javac)


def test_where_compilers_are_looked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "bin"
    folder.mkdir(parents=True)
    javac, _ = compiler(folder)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(folder))
    found = list(jar.compilers())
    assert found[0] == javac
    assert len({path.resolve() for path in found}) == len(found)
