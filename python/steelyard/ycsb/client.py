"""YCSB's client: announce, run the one trial, print what was measured, say how it ended."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from steelyard.errors import InfrastructureError, InputError, Interrupted, SteelyardError
from steelyard.lab.study import Outcome, conduct
from steelyard.results.clock import process_start_ns
from steelyard.results.disk import write_atomically
from steelyard.results.read import TrialResult, open_run
from steelyard.results.store import new_folder
from steelyard.spec.properties import Properties
from steelyard.version import version
from steelyard.ycsb.arguments import Words, parse
from steelyard.ycsb.bindings import binding_of
from steelyard.ycsb.choices import Choices, choose
from steelyard.ycsb.differences import DIFFERENCES
from steelyard.ycsb.exporters import EXPORTERS
from steelyard.ycsb.hdr_files import write_hdr_files
from steelyard.ycsb.known_properties import remarks
from steelyard.ycsb.sections import overall, rows
from steelyard.ycsb.status import Status
from steelyard.ycsb.translate import Task, make_task

CLIPPED = "Warning: the threadcount is bigger than recordcount, the threadcount will be recordcount!"


def run(given: Sequence[str]) -> None:
    """Do what a command line of YCSB's asks: measurements to stdout or `exportfile`, the rest to stderr.

    Raises:
        SteelyardError: what went wrong; what was measured has been printed all the same.
    """
    words = parse(given)
    p = Properties(words.properties)
    with tempfile.TemporaryDirectory(prefix="steelyard-ycsb-") as folder:
        task = make_task(words, p, Path(folder))
        choices = choose(p, as_ycsb=words.as_ycsb)
        _check_places(choices)
        _say(announcement(given, words, task, p))
        if task.clipped:
            print(CLIPPED, flush=True)
        out = _result_folder(words, task, Path(folder))
        log = out / "trials" / "001.partial" / "engine" / f"{words.action}.hdr"
        show = Status(choices, log, task.study.load.operations)
        _say(["Starting test."])
        outcome = conduct(task.study, show, process_start_ns(), out)
        [trial] = open_run(outcome.path).trials
        _export(trial, words, choices)
        if words.keep:
            _say([f"result: {outcome.path}"])
    if outcome.interrupted:
        raise Interrupted("interrupted; what was measured has been printed")
    if error := failure(outcome, trial, words.action):
        raise error


def announcement(given: Sequence[str], words: Words, task: Task, p: Properties) -> Iterator[str]:
    """What is said before anything starts: how this differs from YCSB, and what means nothing here."""
    yield "".join(["Command line:", *(f" {_without_secret(word)}" for word in given)])
    yield f"Steelyard {version()}, in the words of YCSB 0.17.0"
    yield ""
    yield "Loading workload..."
    for name in task.differences:
        yield f"unlike YCSB: {DIFFERENCES[name].here}"
    if task.differences:
        yield "--as-ycsb undoes this; `steelyard ycsb --help` says what it is about"
    yield from (f"warning: {text}" for text in (*words.ignored, *remarks(p), *task.remarks))
    yield from (f"warning: {text}" for text in binding_of(words.database).remarks(p, words.class_path))


def _without_secret(word: str) -> str:
    name, equals, _ = word.partition("=")
    return f"{name}=***" if equals and name.endswith("password") else word


def failure(outcome: Outcome, trial: TrialResult, phase: str) -> SteelyardError | None:
    """Why the exit code must not be 0; None if there is no reason."""
    if outcome.errors:
        return outcome.errors[0]
    summary = trial.summary(phase) or {}
    ok, failed = int(summary.get("ok", 0)), sum(summary.get("failed", {}).values())
    if phase == "load" and failed:
        return InfrastructureError(f"{failed} of {ok + failed} records were not stored")
    if failed and not ok:
        return InfrastructureError(f"none of {failed} operations succeeded")
    if lost := int(summary.get("unflushed", 0)):
        return InfrastructureError(f"{lost} collected writes were never acknowledged")
    verdicts = summary.get("verify") or {}
    if wrong := int(verdicts.get("corrupt", 0)) + int(verdicts.get("foreign", 0)):
        return InfrastructureError(f"dataintegrity: {wrong} of {verdicts['checked']} values are wrong")
    return None


def _check_places(choices: Choices) -> None:
    """A file that cannot be written is said before the run, not after it."""
    wanted = {"exportfile": choices.exportfile, "hdrhistogram.output.path": None}
    if choices.log_prefix is not None:
        wanted["hdrhistogram.output.path"] = Path(f"{choices.log_prefix}READ.hdr")
    for name, path in wanted.items():
        if path is not None and not os.access(path.absolute().parent, os.W_OK):
            raise InputError(f"{name}: {path.absolute().parent} is no folder that can be written to")


def _result_folder(words: Words, task: Task, private: Path) -> Path:
    if not words.keep:
        return private / "result"
    return words.out or new_folder(task.study.name)


def _export(trial: TrialResult, words: Words, choices: Choices) -> None:
    """Print what was measured; nothing if the phase never ended."""
    if trial.summary(words.action) is None:
        return
    whole = overall(trial, words.action, as_ycsb=words.as_ycsb)
    text = EXPORTERS[choices.exporter](rows(trial, words.action, choices, whole))
    if choices.exportfile:
        write_atomically(choices.exportfile, text)
    else:
        sys.stdout.write(text)
        sys.stdout.flush()
    write_hdr_files(trial, words.action, choices)


def _say(lines: Iterator[str] | Sequence[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr, flush=True)
