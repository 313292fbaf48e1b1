"""A result as frames, with what only the analysis knows: the steady part, what servers did, verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.results.frames import Results

if TYPE_CHECKING:
    import polars as pl


class Opened(Results):
    """What `steelyard.open` gives."""

    def analysed(self) -> pl.DataFrame:
        """`trials()` of the measured phase, and every figure that claims may name (`report.figures`); earlier
        attempts in words only, so that it can be written as CSV."""
        from steelyard.report.figures import trial_frame

        return trial_frame(self.path).drop("earlier")

    def claims(self) -> pl.DataFrame:
        """One row a claim of the study: what was claimed, found and decided; no rows without claims."""
        from steelyard.report.model import build
        from steelyard.report.study.answers import ROW, answers

        found = answers(build(self.path))
        if found is None:
            import polars as pl

            return pl.DataFrame(schema=ROW)
        return found.claims_frame()
