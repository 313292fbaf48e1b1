"""What it takes to merge the files of many engines: an engine's own files, so many times, for so long."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from words import study_of

from steelyard.engine.fleet import Fleet
from steelyard.engine.path import find_engine
from steelyard.spec.plan import RUN, engine_plan
from steelyard.spec.trials import trials

RATE, SECONDS = 1000, 10
"""The engine whose files are taken: operations a second, and how long it ran."""
TAGGED = re.compile(r"(Tag=[^,]+,)([\d.]+)(,.*)")
SECOND_NS = 1_000_000_000


@dataclass
class Merged:
    """A merge.

    Attributes:
        hosts, seconds: so many engines, for so long.
        took_s, cpu_s, memory_mib: None where it was not done: it would have taken too long.
    """

    hosts: int
    seconds: int
    took_s: float | None = None
    cpu_s: float = 0.0
    memory_mib: float = 0.0

    @property
    def engine_seconds(self) -> int:
        """Work there was."""
        return self.hosts * self.seconds


def merges(hosts: Sequence[int], seconds: Sequence[int], until_s: float) -> Iterator[Merged]:
    """Merge each number of engines at each length, small ones first, as long as there is time.

    Args:
        hosts: how many engines; the files of one are the result as they are.
        seconds: how long they ran.
        until_s: nothing is begun that would end after that time, CLOCK_MONOTONIC.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        source = _ran(root)
        each_s = 0.005  # of an engine's second, until it is known
        todo = sorted(
            ((n, length) for n in hosts if n > 1 for length in seconds), key=lambda one: one[0] * one[1]
        )
        for count, length in todo:
            one = Merged(count, length)
            if time.monotonic() + 1.3 * each_s * one.engine_seconds < until_s:
                _merge(one, root, _stretched(source, root / f"for-{length}", length))
                assert one.took_s is not None  # noqa: S101 - it was done
                each_s = one.took_s / one.engine_seconds
            yield one


def _ran(root: Path) -> Path:
    """The folder of an engine that ran against nothing."""
    words = ["null", "-w", "a", "--records", "1000", "--target", str(RATE), "--duration", f"{SECONDS}s"]
    trial = trials(study_of(words))[0]
    (root / "one").mkdir()
    fleet = Fleet(
        find_engine().path, 1, root / "one", lambda out, _: engine_plan(trial, {"kind": "null"}, out)
    )
    try:
        fleet.start()
        fleet.phase(RUN)
        while (came := fleet.poll(60.0)) and came[1]["event"] != "phase_end":
            pass
        fleet.finish()
    finally:
        fleet.kill()
    return fleet.out


def _stretched(source: Path, into: Path, seconds: int) -> Path:
    """The same engine's files as if it had run so long: its seconds again and again."""
    if into.exists():
        return into
    into.mkdir()
    rows = [json.loads(line) for line in (source / "run.series.ndjson").read_text().splitlines()][:SECONDS]
    with (into / "run.series.ndjson").open("w") as file:
        for second in range(seconds):
            row = rows[second % len(rows)]
            t_ns = rows[0]["t_ns"] + second * SECOND_NS
            file.write(json.dumps({**row, "second": second, "t_ns": t_ns}, separators=(",", ":")) + "\n")
    head, lines = _tagged(source / "run.hdr", len(rows))
    with (into / "run.hdr").open("w") as file:
        file.writelines(head)
        for second in range(seconds):
            for tag, rest in lines[second % len(rows)]:
                file.write(f"{tag}{second:.3f}{rest}\n")
    (into / "run.totals.hdr").write_bytes((source / "run.totals.hdr").read_bytes())
    events = [json.loads(line) for line in (source / "events.ndjson").read_text().splitlines()]
    kept = [_longer(event, seconds) for event in events]
    (into / "events.ndjson").write_text("".join(json.dumps(event) + "\n" for event in kept))
    (into / "plan.json").write_bytes((source / "plan.json").read_bytes())
    return into


def _tagged(path: Path, seconds: int) -> tuple[list[str], list[list[tuple[str, str]]]]:
    """(lines before the histograms, (tag, rest) of each second's lines)."""
    head: list[str] = []
    found: list[list[tuple[str, str]]] = [[] for _ in range(seconds)]
    for line in path.read_text().splitlines():
        match = TAGGED.fullmatch(line)
        if match is None:
            head.append(line + "\n")
        elif (second := int(float(match[2]))) < seconds:
            found[second].append((match[1], match[3]))
    return head, found


def _longer(event: dict[str, Any], seconds: int) -> dict[str, Any]:
    """The end of a phase, as much later."""
    if event["event"] != "phase_end":
        return event
    end_ns = event["start_ns"] + seconds * SECOND_NS
    return {**event, "end_ns": end_ns, "summary": {**event["summary"], "end_ns": end_ns}}


def _merge(one: Merged, root: Path, folder: Path) -> None:
    out = root / "merged"
    out.mkdir()
    words = [str(find_engine().path), "merge", str(out), *[str(folder)] * one.hosts]
    began = time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"merging {one.hosts} engines over {one.seconds} s ended with {process.returncode}")
    rows = sum(1 for _ in (out / "run.series.ndjson").open())
    if rows < one.seconds:
        raise SystemExit(f"merging {one.hosts} engines over {one.seconds} s gave {rows} seconds only")
    one.took_s = time.monotonic() - began
    one.cpu_s, one.memory_mib = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    for path in out.iterdir():
        path.unlink()
    out.rmdir()
