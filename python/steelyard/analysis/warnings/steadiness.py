"""Whether the run was long enough and came to rest."""

from __future__ import annotations

from steelyard.analysis.steady import LEAST_INTERVALS
from steelyard.analysis.warnings.base import Check, Context, Warned, percent

WARM_UP_SHARE = 0.05
"""A warm-up of less than a twentieth of the run moves a mean by less than the noise between runs."""


def _tenth(seconds: float) -> str:
    """Seconds, to the tenth where they are not whole."""
    return f"{round(seconds, 1):g}"


def too_short(context: Context) -> Warned | None:
    """Too few intervals to judge steady state."""
    steady = context.steady
    if steady is None or not steady.too_short:
        return None
    return Warned(
        "too_short",
        f"The run is too short to judge: {_tenth(steady.seconds)} s, and "
        f"{_tenth(LEAST_INTERVALS * steady.interval_s)} s are needed to tell warm-up from steady state by "
        f"{steady.measure}. Give it more operations or a longer duration.",
    )


def no_steady_state(context: Context) -> Warned | None:
    """The best cut lies in the last half of the run."""
    if context.steady is None or context.steady.reached is not False:
        return None
    return Warned(
        "no_steady_state",
        f"No steady state: {context.steady.measure} still changed in the last half of "
        f"{_tenth(context.steady.seconds)} seconds (MSER-5 and change points). Means over the run depend on "
        "its length. Run longer, or add a warm-up.",
    )


def warm_up(context: Context) -> Warned | None:
    """A part at the start differs from the rest."""
    steady = context.steady
    if steady is None or not steady.reached or steady.warm_up_s < WARM_UP_SHARE * steady.seconds:
        return None
    return Warned(
        "warm_up",
        f"The first {_tenth(steady.warm_up_s)} of {_tenth(steady.seconds)} seconds look like warm-up (later "
        f"cut of MSER-5 and change points on {steady.measure}); the tables include them. Set warmup_s = "
        f"{_tenth(steady.warm_up_s)} to measure without.",
    )


def drift(context: Context) -> Warned | None:
    """A steady trend over the steady part."""
    steady = context.steady
    if steady is None or not steady.drift:
        return None
    way = "rose" if steady.drift > 0 else "fell"
    return Warned(
        "drift",
        f"After warm-up {steady.measure} {way} by {percent(abs(steady.drift))} until the end: something "
        "still grows or fills (data on disk, compactions, caches, heap). Run longer before comparing.",
    )


CHECKS: tuple[Check, ...] = (too_short, no_steady_state, warm_up, drift)
