"""A whole calibration, in order; what there is when it is stopped is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from steelyard.calibrate import cells as tries
from steelyard.calibrate import limit
from steelyard.calibrate.cells import CalibrationCell
from steelyard.calibrate.drive import Lab, run
from steelyard.calibrate.fakes import Fakes
from steelyard.calibrate.judge import ABSOLUTE_US, RELATIVE, Verdict, judge
from steelyard.engine.path import Engine, find_engine
from steelyard.engine.session import Event
from steelyard.errors import Interrupted
from steelyard.lab.signals import Interrupts
from steelyard.results.certificates import FORMAT
from steelyard.results.clock import now_text
from steelyard.version import version
from steelyard.watch.host import host_facts

DRIVERS = ("cql", "hbase", "null")
TRIES = 4
"""Of a cell, at most, while other guests of the host take too much."""
PARTS = ("rates", "cells", "coarse", "busy")
"""Under which heading a cell stands, in the order in which they are run."""
Told = Callable[[str, Verdict], None]
"""Receives each verdict, and under which heading it stands."""


class Calibration:
    """One calibration.

    Args:
        driver: one of `DRIVERS`.
        quick: fewer and shorter cells.
        begin: receives a cell's name before it is run, and how many follow at most.
        seen: receives the engine's events.
        told: receives verdicts.
    """

    def __init__(
        self,
        driver: str,
        *,
        quick: bool,
        begin: Callable[[str], None],
        seen: Callable[[Event], None],
        told: Told,
    ) -> None:
        self.driver, self.quick = driver, quick
        self.interrupted = False
        self._begin, self._seen, self._told = begin, seen, told
        self._verdicts: dict[str, list[Verdict]] = {part: [] for part in PARTS}
        self._started = now_text()
        self._engine: Engine = find_engine()

    def conduct(self, interrupts: Interrupts) -> None:
        """Run all cells; a Ctrl-C ends it in order.

        Raises:
            EngineError: the engine or the servers did not do as they were told.
        """
        try:
            with (
                interrupts.raising(),
                tempfile.TemporaryDirectory(prefix="steelyard-calibrate-") as folder,
                nullcontext() if self.driver == "null" else Fakes() as fakes,
            ):
                self._all(Lab(self.driver, self._engine.path, fakes), Path(folder))
        except Interrupted:
            self.interrupted = True

    def _all(self, lab: Lab, folder: Path) -> None:
        for verdict in self._each("rates", limit.rising(quick=self.quick), lab, folder):
            if limit.ends(verdict):
                break
        for _ in self._each("cells", self._cells(), lab, folder):
            pass
        if lab.driver == "null":  # it has no answers to wait for, and no server
            return
        for part, more in (("coarse", tries.coarse_cells), ("busy", tries.busy_cells)):
            for _ in self._each(part, more(quick=self.quick), lab, folder):
                pass

    def _cells(self) -> Iterable[CalibrationCell]:
        """With the null driver there is nothing to wait for, and one law is as good as all."""
        every = tries.cells(quick=self.quick)
        return every if self.driver != "null" else [c for c in every if c.law.kind == "constant"]

    def _each(self, part: str, cells: Iterable[CalibrationCell], lab: Lab, folder: Path) -> Iterable[Verdict]:
        for number, cell in enumerate(cells):
            self._begin(cell.name)
            verdict = self._calmest(cell, lab, folder / f"{part}-{number}")
            self._verdicts[part].append(verdict)
            self._told(part, verdict)
            yield verdict

    def _calmest(self, cell: CalibrationCell, lab: Lab, folder: Path) -> Verdict:
        """The try from which the host stole least; another is made only if it stole too much."""
        tries: list[Verdict] = []
        while not tries or (tries[-1].disturbed and len(tries) < TRIES):
            tries.append(judge(cell, run(lab, cell, folder / str(len(tries)), self._seen)))
        return replace(min(tries, key=lambda verdict: verdict.steal_share), tries=len(tries))

    def certificate(self) -> dict[str, Any]:
        """What was found, for JSON (docs/calibration.md)."""
        return {
            "format": FORMAT,
            "created": self._started,
            "ended": now_text(),
            "status": "interrupted" if self.interrupted else "done",
            "steelyard": version(),
            "engine": {"version": self._engine.version, "source_hash": self._engine.source_hash},
            "driver": self.driver,
            "quick": self.quick,
            "host": host_facts(()),
            "allowed": {"relative": RELATIVE, "absolute_us": ABSOLUTE_US},
            "rates": limit.found(self._verdicts["rates"]),
            "cells": [plain(v) for v in self._verdicts["cells"]],
            "coarse_pacing": [plain(v) for v in self._verdicts["coarse"]],
            "busy_server": [plain(v) for v in self._verdicts["busy"]],
        }


def plain(verdict: Verdict) -> dict[str, Any]:
    """A verdict for JSON, with what follows from its figures."""
    errors = {
        name: {**asdict(e), "error_us": e.error_us, "within": e.within} for name, e in verdict.errors.items()
    }
    return {
        **asdict(verdict),
        "errors": errors,
        "within": verdict.within,
        "disturbed": verdict.disturbed,
        "follows_model": verdict.follows_model,
    }
