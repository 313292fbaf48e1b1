"""Commands of the user's own: what is left of them when nobody waits for them any more."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from pydantic import TypeAdapter

from steelyard.errors import InfrastructureError, InputError
from steelyard.lab.timeline.commands import Cancelled, check_programs, run_command
from steelyard.spec.do_words import actions_of
from steelyard.spec.timeline import Timeline

LIMIT_S = 20.0
TOOL = """
import sys, threading
from pathlib import Path
from steelyard.lab.timeline.commands import run_command
run_command(["sh", "-c", sys.argv[1]], Path(sys.argv[2]), threading.Event())
"""


def until(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)


def written(path: Path) -> bool:
    return path.exists() and path.read_text().endswith("\n")


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def end_of(path: Path) -> None:
    """The process that wrote its id there ends; a test that fails leaves none."""
    pid = int(path.read_text())
    try:
        until(lambda: gone(pid))
    finally:
        if not gone(pid):
            psutil.Process(pid).kill()


def test_what_a_command_started_ends_with_it_even_if_it_does_not_listen(tmp_path: Path) -> None:
    deaf, cancelled = tmp_path / "deaf", threading.Event()
    script = f"sh -c 'trap \"\" TERM; echo $$ > {deaf}; exec sleep 1000' & wait"

    def cancel() -> None:
        until(lambda: written(deaf))
        cancelled.set()

    watcher = threading.Thread(target=cancel)
    watcher.start()
    with pytest.raises(Cancelled):
        run_command(["sh", "-c", script], tmp_path / "logs" / "it.txt", cancelled)
    watcher.join()
    end_of(deaf)


@pytest.mark.skipif(not shutil.which("setpriv"), reason="no `setpriv` program")
def test_a_command_dies_with_the_tool(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    words = [sys.executable, "-c", TOOL, f"echo $$ > {mark}; exec sleep 1000", str(tmp_path / "it.txt")]
    with subprocess.Popen(words) as tool:
        until(lambda: written(mark))
        tool.kill()
    end_of(mark)


@pytest.mark.skipif(not shutil.which("setpriv"), reason="no `setpriv` program")
@pytest.mark.parametrize("how", [[], ["nohup"]])
def test_what_a_command_has_started_dies_with_the_tool(tmp_path: Path, how: list[str]) -> None:
    mark = tmp_path / "mark"
    script = f"sh -c 'echo $$ > {mark}; exec sleep 1000'; echo over"
    with subprocess.Popen([*how, sys.executable, "-c", TOOL, script, str(tmp_path / "it.txt")]) as tool:
        until(lambda: written(mark))
        tool.kill()
    end_of(mark)


@pytest.mark.parametrize("status", [0, 3])
def test_a_command_s_status_and_words_are_its_own(tmp_path: Path, status: int) -> None:
    log = tmp_path / "it.txt"
    words = ["sh", "-c", 'echo "$1" "$2"; exit $3', "-", "a  b", "$HOME", str(status)]
    assert run_command(words, log, threading.Event()) == status
    assert log.read_text().splitlines()[-1] == "a  b $HOME"


@pytest.mark.skipif(not shutil.which("setpriv"), reason="no `setpriv` program")
def test_a_command_can_be_interrupted_as_it_would_be_without_us(tmp_path: Path) -> None:
    log, program = tmp_path / "it.txt", tmp_path / "with=sign"
    program.write_text("#!/bin/sh\ngrep SigIgn /proc/self/status\n")
    program.chmod(0o755)
    assert run_command([str(program)], log, threading.Event()) == 0
    ignored = int(log.read_text().split()[-1], 16)
    assert not [number.name for number in (signal.SIGINT, signal.SIGQUIT) if ignored >> number - 1 & 1]


def test_what_cannot_be_run_is_told_as_it_is(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    for name, why in (("no-such-program", "No such file or directory"), (str(plain), "Permission denied")):
        with pytest.raises(InfrastructureError, match=f"{name} cannot be run: {why}"):
            run_command([name], tmp_path / "it.txt", threading.Event())


def test_a_program_that_is_not_found_says_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain").write_text("no program")
    hints = {
        "no-such-kubectl": "it is in no folder of PATH",
        "./plain": f"{tmp_path}/plain may not be executed: chmod +x",
        "./scale-in": f"from the folder in which steelyard runs, and there is no {tmp_path}/scale-in",
    }
    for program, hint in hints.items():
        timeline = TypeAdapter(Timeline).validate_python(actions_of([f"0 run -- {program}"]))
        with pytest.raises(InputError) as refused:
            check_programs(timeline)
        assert hint in str(refused.value.hint)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("0 run -- true", ""),
        ("0 run -- no-such-kubectl scale", "action run: command: there is no program 'no-such-kubectl'"),
        ("0 run done=no-such-check -- true", "action run: done: there is no program 'no-such-check'"),
    ],
)
def test_programs_are_looked_for_before_anything_starts(text: str, missing: str) -> None:
    timeline = TypeAdapter(Timeline).validate_python(actions_of([text]))
    if not missing:
        return check_programs(timeline)
    with pytest.raises(InputError, match=missing):
        check_programs(timeline)
    return None
