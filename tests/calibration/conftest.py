"""Fake servers for a whole file of tests, and the engine that is tried against them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from steelyard.calibrate.drive import Lab
from steelyard.calibrate.fakes import Fakes
from steelyard.engine.path import engine_path


@pytest.fixture(scope="module")
def fakes() -> Iterator[Fakes]:
    with Fakes() as running:
        yield running


@pytest.fixture(params=["cql", "hbase"])
def lab(request: pytest.FixtureRequest, fakes: Fakes) -> Lab:
    return Lab(request.param, engine_path(), fakes)
