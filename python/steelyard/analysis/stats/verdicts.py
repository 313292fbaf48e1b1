"""Better, worse, equivalent or open, for many contrasts at once.

**Equivalent**: the 95 % interval of the ratio lies inside the margin (two one-sided tests, each at 2.5 %),
also when it excludes 1. **Better** and **worse**: it excludes 1. **Open**: neither.

Many contrasts are judged together by Holm's correction, for differences and for equivalence apart: the chance
of *any* false word of a kind stays below 5 %, however the contrasts hang together, and figures of one run
always do (a false discovery rate would let a share of the words be wrong, and people read words one by one).
The intervals shown are the plain 95 % ones, so an interval may exclude 1 while the word is `open`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.stats.percentiles import Extremes
from steelyard.analysis.stats.runs import Contrast

Word = Literal["better", "worse", "equivalent", "open"]
Better = Literal["higher", "lower"]

LEVEL = 0.05


def holm(chances: Sequence[float]) -> NDArray[np.float64]:
    """p-values corrected by Holm's step-down procedure, in their order; compare them with 0.05."""
    p = np.asarray(chances, dtype=np.float64)
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected


def verdicts(
    contrasts: Sequence[Contrast | Extremes], better: Sequence[Better], margins: Sequence[float]
) -> list[Word]:
    """The word for each contrast, all of them being judged as one family.

    Args:
        contrasts: B against A.
        better: which way each figure is better.
        margins: for each, the relative difference that does not matter, e.g. 0.03.
    """
    different = [c.difference_p() for c in contrasts]
    alike = [c.equivalence_p(margin) for c, margin in zip(contrasts, margins, strict=True)]
    return words([c.log_ratio for c in contrasts], better, different, alike)


def words(
    log_ratios: Sequence[float], better: Sequence[Better], different: Sequence[float], alike: Sequence[float]
) -> list[Word]:
    """The same from chances, such as those that hold over several looks at growing data.

    Args:
        log_ratios: of B to A.
        better: as of `verdicts`.
        different, alike: chances of such figures when nothing differs, and when the margin does.
    """
    apart, same = (holm(chances) < LEVEL for chances in (different, alike))
    parts = zip(log_ratios, better, apart, same, strict=True)
    return [
        "equivalent" if no_matter else _word(log_ratio, way) if differs else "open"
        for log_ratio, way, differs, no_matter in parts
    ]


def _word(log_ratio: float, better: Better) -> Word:
    return "better" if (log_ratio > 0) == (better == "higher") else "worse"
