"""Load hosts that are cut off for a moment, cut off for good, and frozen, all in one run."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ssh_machines import RUN, Machines, ended, machines, until_line

from steelyard.engine.path import find_engine

AWAY, CUT, FROZEN = 1, 2, 3
SECONDS, RATE = 45, 300
"""A machine that answers nothing is found to be lost after 30 s at most; operations/s of each engine."""
SILENT_S = 5.0
UNSENT = 10
"""Operations that are due in the last 33 ms: a busy machine may stop the engine before they are sent."""
NS = 1_000_000_000


@pytest.fixture
def three(tmp_path: Path) -> Iterator[Machines]:
    with machines(3, tmp_path / "machines", find_engine().path) as found:
        yield found


def test_a_silence_costs_nothing_and_a_lost_machine_only_its_own(three: Machines, tmp_path: Path) -> None:
    """Nothing is left on the machine that was cut off: its worker and its engine end themselves."""
    out = tmp_path / "one"
    load = ["-w", "a", "--records", "1000", "--duration", f"{SECONDS}s", "--target", str(3 * RATE)]
    words = ["--no-report", "--out", str(out), "--ssh", three.ssh, "--key", str(three.key)]
    one = three.steelyard("bench", "null", *load, *words)
    until_line(one, RUN)
    began_ns = time.monotonic_ns()
    os.kill(three.worker(FROZEN), signal.SIGSTOP)
    for i in (AWAY, CUT):
        three.cut(i)
    three.until(lambda: time.monotonic_ns() > began_ns + SILENT_S * NS)
    three.join(AWAY)
    assert one.poll() is None, "the others go on"
    assert any("steelyard-engine run" in line for line in three.processes(AWAY))
    three.until(lambda: not three.processes(CUT))
    _, error = ended(one)
    assert one.returncode == 3, error
    three.join(CUT)

    folder = out / "trials" / "001"
    said = json.loads((folder / "manifest.json").read_text())
    assert said["status"] == "failed"
    lost = [host["lost_ns"] for host in said["hosts"]]
    assert lost[AWAY - 1] is None
    for i in (CUT, FROZEN):
        assert SILENT_S * NS < lost[i - 1] - began_ns < SECONDS * NS, "known while the others went on"
        assert f"the host root@{three.addresses[i - 1]} is lost" in str(said["timeline"])
    whole = folder / "engines" / str(AWAY - 1) / "run.series.ndjson"
    seconds = [json.loads(line) for line in whole.read_text().splitlines()]
    due, started, ok = (sum(second[count] for second in seconds) for count in ("due", "started", "ok"))
    assert (due, ok) == (SECONDS * RATE, started), "nothing is lost by a silence"
    assert due - started <= UNSENT, "the last are due just before the end"
    three.until(lambda: not any(three.processes(i) for i in (AWAY, CUT, FROZEN)))
