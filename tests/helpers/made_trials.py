"""Synthetic trials whose truth is known, and claims judged on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from steelyard.analysis.claims import Verdict, judge
from steelyard.spec.checks import Claim

METRIC = "read_service_mean_ns"


def trials(
    law: Callable[..., dict[str, float]],
    points: list[dict[str, Any]],
    repetitions: int = 6,
    scatter: float = 0.03,
    seed: int = 1,
) -> pl.DataFrame:
    """One row a trial: `law` gives each metric at a point; runs scatter by 3 %."""
    rng = np.random.default_rng(seed)
    rows = []
    for point in points:
        for repetition in range(1, repetitions + 1):
            measured = {name: value * np.exp(rng.normal(0, scatter)) for name, value in law(**point).items()}
            fixed = {"system": "x", "variant": None, "status": "done", "tainted": None, "steady": "steady"}
            rows.append({**fixed, "trial": len(rows) + 1, "repetition": repetition, **point, **measured})
    return pl.DataFrame(rows, infer_schema_length=None)


def claim(check: dict[str, Any], metric: str = METRIC, **more: Any) -> Claim:
    """A claim of one check."""
    return Claim.model_validate({"id": "C1", "statement": "s", "metric": metric, "check": check, **more})


def one(
    check: dict[str, Any], frame: pl.DataFrame, factors: list[str], small: bool = False, **more: Any
) -> Verdict:
    """Its verdict."""
    (found,) = judge([claim(check, **more)], frame, factors, small=small)
    return found
