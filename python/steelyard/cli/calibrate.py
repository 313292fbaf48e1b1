"""`steelyard calibrate`: how far this machine's figures are from the truth."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from steelyard.calibrate.conduct import Calibration

WIDE = 190
"""Columns where there is no terminal: the table's rows stay whole."""
EXAMPLE = "Example: steelyard calibrate --driver cql --quick"


def calibrate(
    driver: Annotated[str, typer.Option(help="Whose client is calibrated: cql, hbase, or null.")] = "cql",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter tries: minutes less.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write the certificate (JSON) there too; the file must not exist.")
    ] = None,
) -> None:
    """Measure servers whose latency is known, and print how far each reported percentile is off.

    The certificate is kept, and reports on this machine cite it. Nothing else should run meanwhile.
    """
    from rich.console import Console

    from steelyard.calibrate.conduct import DRIVERS
    from steelyard.errors import InputError, nearest

    if driver not in DRIVERS:
        known = ", ".join(DRIVERS)
        raise InputError(f"--driver {driver}: expected one of {known}{nearest(driver, DRIVERS)}")
    if out is not None and out.exists():
        raise InputError(f"--out {out}: it exists already, and a result is never written over")
    console = Console(highlight=False, width=None if sys.stdout.isatty() else WIDE)
    _conclude(_measure(driver, quick=quick), out, console)


def _measure(driver: str, *, quick: bool) -> Calibration:
    from rich.console import Console

    from steelyard.calibrate.conduct import Calibration
    from steelyard.calibrate.judge import Verdict
    from steelyard.engine.session import Event
    from steelyard.lab.progress import Live, make_show
    from steelyard.lab.signals import Interrupts

    show = make_show(Console(stderr=True, highlight=False))

    def seen(event: Event) -> None:
        if event["event"] == "interval":
            show.update(Live.of([event]))

    def told(_: str, verdict: Verdict) -> None:
        off = "" if verdict.within else "  off"
        show.end(f"{verdict.completed:,} of {verdict.operations:,} done{off}")

    calibration = Calibration(driver, quick=quick, begin=show.begin, seen=seen, told=told)
    try:
        with Interrupts() as interrupts:
            calibration.conduct(interrupts)
    finally:
        show.finish()
    return calibration


def _conclude(calibration: Calibration, out: Path | None, console: Console) -> None:
    """Print and keep what was found; what was interrupted is kept too, but never cited."""
    from steelyard.calibrate.text import show
    from steelyard.errors import Interrupted
    from steelyard.results.certificates import save
    from steelyard.results.disk import write_json, writing

    certificate = calibration.certificate()
    show(certificate, console)
    path = save(certificate)
    if out is not None:
        with writing(out.parent):
            out.parent.mkdir(parents=True, exist_ok=True)
        write_json(out, certificate)
    console.print(f"certificate: {out or path}", soft_wrap=True, markup=False)
    if calibration.interrupted:
        raise Interrupted(f"interrupted; what was measured is in {out or path}")
