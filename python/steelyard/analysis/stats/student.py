"""Student's t, from scipy's special functions: `scipy.stats` alone takes longer to load than a report to
make."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import special


def quantile(p: float, freedom: float) -> float:
    """The value below which t lies with chance `p`."""
    return float(special.stdtrit(freedom, p))


def two_sided(t: float, freedom: float) -> float:
    """Chance of a value at least as far from 0 as `t`."""
    return float(2 * special.stdtr(freedom, -abs(t)))


def standard_error(values: NDArray[np.float64]) -> float:
    """Of the mean of two values or more."""
    return float(values.std(ddof=1)) / math.sqrt(values.size)
