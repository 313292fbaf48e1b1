"""Who is slow is told apart: a client without CPU beside a quick server, and a slow server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from steelyard.calibrate.cells import CalibrationCell
from steelyard.calibrate.drive import Lab, run
from steelyard.calibrate.fakes import Fakes
from steelyard.calibrate.laws import Constant
from steelyard.engine.path import engine_path
from steelyard.errors import InfrastructureError
from steelyard.hosts.cgroup import Group, limit_cpu, make, remove
from steelyard.results.intervals import CLIENT, TOTAL, read_series

QUOTA_CORES = 0.1
TRIES = 2


@pytest.fixture
def group() -> Iterator[Group]:
    made = make("client-state-test", f"engine-{os.getpid()}")
    try:
        limit_cpu(made, QUOTA_CORES)
    except InfrastructureError as error:
        pytest.skip(f"needs a CPU quota: {error}")
    yield made
    for folder in made.folders.values():
        remove(folder)


def limited(group: Group, folder: Path) -> Path:
    """A command that is the engine with the group's quota."""
    joins = "".join(f"echo $$ > {at}/cgroup.procs\n" for at in group.folders.values())
    script = folder / "limited-engine"
    script.write_text(f'#!/bin/sh\n{joins}exec {engine_path()} "$@"\n')
    script.chmod(0o755)
    return script


def states(folder: Path) -> dict[str, int]:
    rows = read_series(folder)
    return dict(rows.filter(rows["op"] == TOTAL)[CLIENT].value_counts().iter_rows())


def saturation(lab: Lab, folder: Path, cell: CalibrationCell) -> dict[str, Any]:
    return dict(run(lab, cell, folder).summary["saturation"])


def test_a_client_under_a_quota_is_starved_whatever_it_has_claimed(
    fakes: Fakes, group: Group, tmp_path: Path
) -> None:
    lab = Lab("cql", limited(group, tmp_path), fakes)
    cell = CalibrationCell(Constant(1000), "open constant", 40_000, 64, 10_000)
    said = saturation(lab, tmp_path / "run", cell)
    told = states(tmp_path / "run")
    assert said["seconds_starved"] >= 3, (said, told)
    assert said["seconds_starved"] > said["seconds_saturated"] + said["seconds_cap_reached"]
    assert told["starved"] == said["seconds_starved"]


def test_a_slow_server_fills_the_cap_and_starves_nobody(fakes: Fakes, tmp_path: Path) -> None:
    lab = Lab("cql", engine_path(), fakes)
    cell = CalibrationCell(Constant(200_000), "open constant", 400, 4, 100)
    said: list[dict[str, Any]] = []
    # A busy machine starves a client for a second now and then: an engine that is wrong says so every time.
    while len(said) < TRIES and (not said or said[-1]["seconds_starved"]):
        said.append(saturation(lab, tmp_path / str(len(said)), cell))
        assert said[-1]["seconds_saturated"] == 0, said
    assert said[-1]["seconds_starved"] == 0, said
    assert said[-1]["seconds_cap_reached"] >= 3, said
