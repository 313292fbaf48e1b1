"""Sums over processes that come and go."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from steelyard.watch.files import OpenFiles
from steelyard.watch.processes import Processes, family

BURN = """
import time
while time.process_time() < 0.3: pass
print("x", flush=True)
input()
"""


def burner() -> subprocess.Popen[bytes]:
    """A process that has used 0.3 s of CPU when this returns, and then waits."""
    process = subprocess.Popen([sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    process.communicate(b"\n")


def test_counters_keep_what_an_ended_process_had_used() -> None:
    processes = Processes(OpenFiles())
    first = burner()
    before = processes.sample([first.pid])
    assert before["cpu_seconds_total"] >= 0.28  # the kernel cuts to ticks
    assert before["memory_bytes"] > 1e6
    assert "disk_write_bytes_total" in before
    end(first)
    after = processes.sample([])
    assert after["cpu_seconds_total"] >= before["cpu_seconds_total"]
    assert after["memory_bytes"] == 0
    second = burner()
    restarted = processes.sample([second.pid])
    end(second)
    assert restarted["cpu_seconds_total"] >= after["cpu_seconds_total"] + 0.28


def test_a_process_that_vanishes_between_two_samples_is_no_error() -> None:
    processes = Processes(OpenFiles())
    process = burner()
    processes.sample([process.pid])
    end(process)
    assert processes.sample([process.pid])["cpu_seconds_total"] >= 0.28  # the kernel cuts to ticks
    assert processes.alive() == []


def test_nothing_is_said_before_the_first_process_was_seen() -> None:
    assert Processes(OpenFiles()).sample([2**22 + 5]) == {}


def test_what_turns_out_to_be_another_source_is_taken_out_again() -> None:
    processes = Processes(OpenFiles(), disk=False)
    process = burner()
    mine = processes.sample([os.getpid(), process.pid])["cpu_seconds_total"]
    alone = processes.sample([os.getpid()], disown={process.pid})["cpu_seconds_total"]
    end(process)
    assert alone < mine - 0.2


def test_the_family_of_a_process() -> None:
    child = subprocess.Popen(["sh", "-c", "sleep 60 & wait"])
    try:
        deadline = time.monotonic() + 5
        while len(found := family(os.getpid(), without=())) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert found[0] == os.getpid()
        assert child.pid in found
        assert len(found) >= 3  # the grandchild
        assert child.pid not in family(os.getpid(), without={child.pid})
    finally:
        for pid in family(child.pid, without=())[::-1]:
            os.kill(pid, 9)
        child.wait()


def test_open_files_forget_what_has_gone() -> None:
    files = OpenFiles()
    process = burner()
    path = f"/proc/{process.pid}/stat"
    assert files.read(path) != ""
    end(process)
    for _ in range(2):
        try:
            files.read(path)
        except OSError:
            continue
        raise AssertionError("an ended process still has a stat")
    files.close_all()
