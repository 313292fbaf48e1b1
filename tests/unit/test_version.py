"""Which Steelyard made a run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from steelyard import version as which


def git(*words: str, at: Path) -> str:
    named = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    done = subprocess.run(["git", *named, *words], cwd=at, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of one commit, taken for the one we run from."""
    (tmp_path / "Cargo.toml").write_text("")
    git("init", "-q", at=tmp_path)
    git("add", ".", at=tmp_path)
    git("commit", "-q", "-m", "first", at=tmp_path)
    monkeypatch.setattr(which, "checkout", lambda: tmp_path)
    return tmp_path


def revision() -> str:
    return which.revision.__wrapped__()


def test_a_checkout_says_its_commit_and_whether_a_file_differs_from_it(checkout: Path) -> None:
    commit = f"{which.version()}+g{git('rev-parse', '--short=8', 'HEAD', at=checkout)}"
    assert revision() == commit
    (checkout / "untracked").write_text("")
    assert revision() == commit
    (checkout / "Cargo.toml").write_text("changed")
    assert revision() == commit + ".dirty"
    git("tag", "-a", "-m", "a release", "v9", at=checkout)
    assert revision() == commit + ".dirty"


def test_sources_unpacked_in_a_repository_of_others_do_not_take_its_commit(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked = checkout / "vendor" / "steelyard"
    unpacked.mkdir(parents=True)
    monkeypatch.setattr(which, "checkout", lambda: unpacked)
    assert revision() == which.version()


def test_an_installed_package_says_its_version_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(which, "checkout", lambda: None)
    assert revision() == which.version()


def test_without_git_the_version_stands_alone(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    assert revision() == which.version()
