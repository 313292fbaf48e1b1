"""Claims judged on trials: a verdict for direction and one for size, with the figures they rest on.

Input is a frame with one row per trial, as `analysis.evidence` has it. One module for each family of checks.
"""

from __future__ import annotations

from steelyard.analysis.claims.judge import judge
from steelyard.analysis.claims.verdict import Evidence, Verdict

__all__ = ["Evidence", "Verdict", "judge"]
