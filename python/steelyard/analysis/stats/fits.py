"""Which shape a curve has: models fitted to the same points and weighed against each other, never one R2.

Every model is fitted to the logarithms of all runs by least squares (the scatter of a figure is a share of
its size). The weight of a model is its Akaike weight, from AIC corrected for few points: the chance of being
the best of those compared. A model wins with nine tenths of the weight; a special case of others, which a
further parameter cannot but fit as well, wins with nine tenths of the weight together with them, unless they
hold nine tenths against it. Else the shape is undecided, and the models that share the weight are named. That
a model wins does not say that it is right: `miss` is how far the means of the levels lie from it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.stats import student
from steelyard.analysis.stats.models import MODELS, Model
from steelyard.analysis.stats.runs import CONFIDENCE, Interval

Floats = NDArray[np.float64]

WINS = 0.9
TINY = 1e-12
EVALUATIONS = 100


@dataclass(frozen=True)
class Fit:
    """One model on one curve.

    Attributes:
        parameters: name -> value with its 95 % interval (Student's t on the covariance of the fit).
        aicc: Akaike's criterion, corrected; less is better, only differences count.
        weight: share of the evidence among the models compared.
        miss: greatest relative distance between the model and the mean of a level.
    """

    model: Model
    parameters: dict[str, Interval]
    aicc: float
    weight: float
    miss: float

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    def at(self, x: Floats) -> Floats:
        """The fitted curve."""
        return self.model.function(x, *(p.estimate for p in self.parameters.values()))

    @property
    def top(self) -> float | None:
        """Where the fitted curve is highest, for models that can fall again; None when it never does."""
        values = {name: p.estimate for name, p in self.parameters.items()}
        if self.name == "peak":
            return values["place"]
        if self.name == "usl" and values["k"] > 0 and values["s"] < 1:
            return float(np.sqrt((1 - values["s"]) / values["k"]))
        return None


@dataclass(frozen=True)
class Comparison:
    """The models that were compared, best first; those left out, with the reason."""

    fits: tuple[Fit, ...]
    left_out: dict[str, str]

    @property
    def winner(self) -> str:
        """The model's name, or `undecided`."""
        if not self.fits:
            return "undecided"
        simple = self._simplest()
        return simple.name if self._held(simple) + simple.weight >= WINS else "undecided"

    def _simplest(self) -> Fit:
        """The best model, or the special case of it with fewest parameters, unless the models that contain
        that one hold nine tenths of the evidence against it."""
        best = self.fits[0]
        special = [fit for fit in self.fits if fit.name in best.model.special_cases]
        near = [fit for fit in special if self._held(fit) < WINS * (self._held(fit) + fit.weight)]
        return min([best, *near], key=lambda fit: len(fit.parameters))

    def _held(self, simple: Fit) -> float:
        """Share of the evidence of the models of which this one is a special case."""
        return sum(fit.weight for fit in self.fits if simple.name in fit.model.special_cases)

    def weight(self, *names: str) -> float:
        """Share of the evidence of these models together."""
        return sum(fit.weight for fit in self.fits if fit.name in names)


def compare(x: Floats, y: Floats, names: Sequence[str]) -> Comparison:
    """Weigh models against each other on one curve.

    Args:
        x: the factor of every run, above zero; repeated levels are expected.
        y: the figure of every run, above zero.
        names: models, of `models.MODELS`.

    Raises:
        ValueError: not above zero, or fewer than two points.
    """
    if x.size < 2 or x.size != y.size or min(x.min(), y.min()) <= 0:
        raise ValueError("a fit needs two or more pairs (x, y) above zero")
    sizes = np.unique(x).size
    left_out: dict[str, str] = {}
    found: list[Fit] = []
    for model in (MODELS[name] for name in names):
        if sizes < model.least_sizes:
            left_out[model.name] = f"needs {model.least_sizes} sizes, there are {sizes}"
        elif x.size <= len(model.parameters) + 2:
            left_out[model.name] = f"needs more than {len(model.parameters) + 2} runs, there are {x.size}"
        elif fit := _fit(model, x, y):
            found.append(fit)
        else:
            left_out[model.name] = "could not be fitted"
    return Comparison(_weighed(found), left_out)


def _weighed(fits: list[Fit]) -> tuple[Fit, ...]:
    if not fits:
        return ()
    shares = np.exp(-0.5 * (np.array([f.aicc for f in fits]) - min(f.aicc for f in fits)))
    weighed = [
        Fit(f.model, f.parameters, f.aicc, float(w), f.miss)
        for f, w in zip(fits, shares / shares.sum(), strict=True)
    ]
    return tuple(sorted(weighed, key=lambda f: -f.weight))


def _fit(model: Model, x: Floats, y: Floats) -> Fit | None:
    from scipy import optimize  # as long to load as a report takes, and seldom asked for

    scale = float(np.median(y))
    logs = np.log(y / scale)

    def curve(at: Floats, *values: float) -> Floats:
        return np.asarray(np.log(np.maximum(model.function(at, *values), TINY)))

    def squares_of(values: Floats) -> float:
        return float(((logs - curve(x, *values)) ** 2).sum())

    low = np.array(model.low) + TINY
    start = min((np.clip(guess, low, model.high) for guess in model.guess(x, y / scale)), key=squares_of)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optimize.OptimizeWarning)  # no covariance: an interval of inf
            values, covariance = optimize.curve_fit(
                curve, x, logs, p0=start, bounds=(model.low, model.high), method="trf", x_scale="jac",
                max_nfev=EVALUATIONS,
            )  # fmt: skip
    except RuntimeError:  # no convergence
        return None
    fitted = np.exp(curve(x, *values)) * scale
    parameters = _intervals(model, values, covariance, x.size, scale)
    return Fit(model, parameters, _aicc(squares_of(values), x.size, values.size), 0.0, _miss(x, y, fitted))


def _aicc(squares: float, n: int, parameters: int) -> float:
    k = parameters + 1  # and the scatter
    return n * float(np.log(max(squares, TINY) / n)) + 2 * k + 2 * k * (k + 1) / (n - k - 1)


def _intervals(model: Model, values: Floats, covariance: Floats, n: int, scale: float) -> dict[str, Interval]:
    """Of every parameter, within the model's bounds, those that carry the unit of y scaled back."""
    half = student.quantile((1 + CONFIDENCE) / 2, n - values.size) * np.sqrt(np.diag(covariance))
    found = {}
    for place, name in enumerate(model.parameters):
        unit = scale if name in ("a", "b", "c", "top") else 1.0
        low = max(values[place] - half[place], model.low[place]) * unit
        high = min(values[place] + half[place], model.high[place]) * unit
        found[name] = Interval(float(values[place] * unit), float(low), float(high), n)
    return found


def _miss(x: Floats, y: Floats, fitted: Floats) -> float:
    levels = [x == level for level in np.unique(x)]
    return float(max(abs(np.exp(np.log(y[at]).mean()) / fitted[at][0] - 1) for at in levels))
