"""Finding the engine, and refusing a wrong one."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from engine_fixtures import FakeEngine

from steelyard.engine.path import engine_path, find_engine, source_hash
from steelyard.errors import EngineError


def test_the_override_is_used(fake_engine: FakeEngine) -> None:
    found = find_engine()
    assert (found.path, found.version) == (fake_engine.path, "fake")


def test_another_plan_format_is_refused(fake_engine: FakeEngine) -> None:
    fake_engine.handshake(plan_format=99)
    with pytest.raises(EngineError, match="speaks plan format 99, this Steelyard 2") as caught:
        find_engine()
    assert caught.value.exit_code == 3


def test_a_stale_engine_is_refused(fake_engine: FakeEngine) -> None:
    fake_engine.handshake(source_hash="0123456789abcdef")
    with pytest.raises(EngineError, match="stale") as caught:
        find_engine()
    assert caught.value.hint == "run `make build`"


def test_installed_apart_from_its_sources_any_hash_will_do(
    fake_engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.engine.path.checkout", lambda: None)
    fake_engine.handshake(source_hash="0123456789abcdef")
    assert find_engine().source_hash == "0123456789abcdef"


@pytest.mark.parametrize("said", ["garbage", "[1]", ""])
@pytest.mark.usefixtures("fake_engine")
def test_what_is_no_engine_is_refused(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setenv("FAKE_HANDSHAKE", said)
    with pytest.raises(EngineError, match="does not answer as an engine does"):
        find_engine()


def test_no_engine_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STEELYARD_ENGINE", str(tmp_path / "nothing"))
    with pytest.raises(EngineError, match="there is no engine at") as caught:
        engine_path()
    assert "make build" in str(caught.value.hint)


def test_the_source_hash_is_that_of_the_build_script(tmp_path: Path) -> None:
    files = {
        "Cargo.lock": b"lock",
        "Cargo.toml": b"toml",
        "crates/engine/Cargo.toml": b"a",
        "crates/engine/src/main.rs": b"b",
        "crates/engine/notes.md": b"not counted",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    counted = [(n, c) for n, c in sorted(files.items()) if not n.endswith(".md")]
    wanted = hashlib.sha256(b"".join(n.encode() + b"\0" + c + b"\0" for n, c in counted)).hexdigest()[:16]
    assert source_hash(tmp_path) == wanted
