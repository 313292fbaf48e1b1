"""Claims and figures are checked before the start: factors, levels and metrics that no trial will have
are refused, each with the place where it was said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.spec.asked import Asked
from steelyard.spec.check_construction import by_construction
from steelyard.spec.check_match import ambiguous
from steelyard.spec.check_signed import signed
from steelyard.spec.checks import (
    Check,
    Claim,
    Elsewhere,
    Ratio,
    Side,
    Sided,
    SlopeCheck,
    Where,
    levels_of,
)
from steelyard.spec.levels import level_number, level_text
from steelyard.spec.lines import Place
from steelyard.spec.metrics import named, names
from steelyard.spec.models import Point
from steelyard.spec.plots import LATENCY, TIME, Plot


@dataclass(frozen=True)
class _Word:
    """A name said at a place of the study file."""

    text: str
    place: Place
    what: str
    known: Sequence[str]


def check_asked(asked: Asked, points: Sequence[Point], origins: Mapping[Place, str]) -> None:
    """Refuse names that no trial of this study can have, and two claims or figures of one name.

    Raises:
        InputError: a line for each, with where it was said and the nearest known name.
    """
    said = [_said_by(point) for point in points]
    levels = _levels(said)
    faults = [_unknown(word, origins) for word in _words(asked, list(levels)) if not _is_known(word)]
    # A small form may leave out levels that it shares claims about, and so may who asks for fewer.
    if asked.form == "full":
        if not asked.narrowed:
            faults += [_no_level(place, factor, level, levels[factor], origins)
                       for place, factor, level in _said_levels(asked)
                       if factor in levels and level_text(level) not in levels[factor]]  # fmt: skip
        faults += [_said((*place, "check", "match"), origins, fault)
                   for place, claim in _claims(asked) if isinstance(claim.check, Sided)
                   for fault in ambiguous(claim.check, claim.where, said)]  # fmt: skip
    faults += [_said((*place, "check"), origins, fault)
               for place, claim in _claims(asked) if (fault := by_construction(claim))]  # fmt: skip
    faults += [_said((*place, *within), origins, fault)
               for place, claim in _claims(asked) for within, fault in signed(claim)]  # fmt: skip
    faults += _twice(asked, origins)
    if faults:
        raise InputError("\n".join(dict.fromkeys(faults)))


def _said_by(point: Point) -> dict[str, str]:
    """Column -> its level as text: system, variant, and every factor that applies."""
    said = {"system": point.system_name or point.system.kind, "variant": point.variant, **point.levels}
    return {column: level_text(level) for column, level in said.items() if level is not None}


def _levels(points: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Column -> its levels."""
    found: dict[str, list[str]] = {"system": [], "variant": []}
    for point in points:
        for column, text in point.items():
            if text not in found.setdefault(column, []):
                found[column].append(text)
    return found


def _claims(asked: Asked) -> Iterator[tuple[Place, Claim]]:
    """Every claim and check with where it stands."""
    for key in ("claims", "checks"):
        yield from (((key, number), claim) for number, claim in enumerate(getattr(asked, key)))


def _words(asked: Asked, columns: list[str]) -> Iterator[_Word]:
    """Every name of a factor or metric in claims, checks and figures."""
    for place, claim in _claims(asked):
        yield from _of_claim(claim, place, columns)
    for number, plot in enumerate(asked.figures):
        yield from _of_plot(plot, ("figures", number), columns)


def _of_claim(claim: Claim, place: Place, columns: list[str]) -> Iterator[_Word]:
    check = claim.check
    yield _Word(claim.metric, (*place, "metric"), "metric", names())
    for name, factor in _factors(check):
        yield _Word(factor, (*place, "check", name), "factor", columns)
    if isinstance(check, (Ratio, SlopeCheck)):
        yield _Word(check.throughput, (*place, "check", "throughput"), "metric", names())
    for number, why in enumerate(claim.why):
        if why.metric:
            yield _Word(why.metric, (*place, "why", number, "metric"), "metric", names())
    for said, side in _sides(claim, place):
        if side.metric:
            yield _Word(side.metric, said, "metric", names())
        yield from (_Word(column, (*said, column), "factor", columns) for column in side.where)
    yield from (_Word(column, (*place, "where", column), "factor", columns) for column in claim.where)


def _factors(check: Check) -> Iterator[tuple[str, str]]:
    """(key, factor) of every factor that a check names besides its conditions."""
    for name in ("factor", "depends_on"):
        if factor := getattr(check, name, None):
            yield name, factor
    if isinstance(check, Sided):
        yield from (("match", factor) for factor in check.match or ())
    if isinstance(check, Ratio) and check.cells != "all":
        yield "target", check.target


def _sides(claim: Claim, place: Place) -> Iterator[tuple[Place, Side]]:
    """Both sides of a comparison, and those at which its reasons are judged as well."""
    compared: list[tuple[Place, Sided | Elsewhere]] = []
    if isinstance(claim.check, Sided):
        compared.append(((*place, "check"), claim.check))
    compared += [((*place, "why", n, "also"), why.also) for n, why in enumerate(claim.why) if why.also]
    for said, both in compared:
        yield (*said, "numerator"), both.numerator
        yield (*said, "denominator"), both.denominator


def _of_plot(plot: Plot, place: Place, columns: list[str]) -> Iterator[_Word]:
    if named(plot.x) is None:
        yield _Word(plot.x, (*place, "x"), "factor", [*columns, TIME, LATENCY, *names()])
    yield from (_Word(metric, (*place, "y"), "metric", names()) for metric in plot.y)
    columns_of = {"lines": plot.lines, "panels": plot.panels, "where": plot.where, "relative": plot.relative}
    for key, said in columns_of.items():
        yield from (_Word(column, (*place, key, column), "factor", columns) for column in said)
    for number, values in enumerate(plot.paper):
        yield from (_Word(c, (*place, "paper", number, "at", c), "factor", columns) for c in values.at)
        if values.metric:
            yield _Word(values.metric, (*place, "paper", number, "metric"), "metric of y", plot.y)


def _is_known(word: _Word) -> bool:
    return named(word.text) is not None if word.what == "metric" else word.text in word.known


def _unknown(word: _Word, origins: Mapping[Place, str]) -> str:
    near = nearest(word.text, word.known)
    those = f"; there are: {', '.join(word.known)}" if word.what == "factor" and not near else ""
    return _said(word.place, origins, f"no {word.what} '{word.text}' in this study{near}{those}")


def _said_levels(asked: Asked) -> Iterator[tuple[Place, str, Any]]:
    """(where it was said, factor, level) of every level in claims, checks and figures."""
    for place, claim in _claims(asked):
        conditions = [
            claim.where,
            *(side.where for _, side in _sides(claim, place)),
            levels_of(claim.check),
        ]
        yield from ((place, factor, level) for where in conditions for factor, level in _each(where))
        if claim.covers and any(level_number(level) is None for level in claim.covers):
            yield from ((place, claim.factor, level) for level in claim.covers)
    for number, plot in enumerate(asked.figures):
        conditions = [
            plot.where,
            {**plot.relative},
            *({**values.at, plot.x: values.x} for values in plot.paper),
        ]
        yield from ((("figures", number), f, level) for where in conditions for f, level in _each(where))


def _each(where: Where) -> Iterator[tuple[str, Any]]:
    for factor, said in where.items():
        for level in said if isinstance(said, tuple) else (said,):
            yield factor, level_text(level)


def _no_level(place: Place, factor: str, level: Any, known: list[str], origins: Mapping[Place, str]) -> str:
    told = f"{factor} has no level '{level}'{nearest(str(level), known)}; levels: {', '.join(known)}"
    return _said(place, origins, told)


def _twice(asked: Asked, origins: Mapping[Place, str]) -> list[str]:
    """Claims and checks share their names: what a look had shown of one is found by its name."""
    faults = []
    for keys in (("claims", "checks"), ("figures",)):
        said = [((key, n), one.id) for key in keys for n, one in enumerate(getattr(asked, key))]
        seen = [name for _, name in said]
        faults += [_said(place, origins, f"id '{name}' stands there twice")
                   for n, (place, name) in enumerate(said) if name in seen[:n]]  # fmt: skip
    return faults


def _said(place: Place, origins: Mapping[Place, str], text: str) -> str:
    """`study.toml:12: claims 3: text`, from the nearest place that is known."""
    where = next((said for n in range(len(place), 0, -1) if (said := origins.get(place[:n]))), "")
    told = f"{place[0]} {int(place[1]) + 1}: {text}"
    return f"{where}: {told}" if where else told
