"""From a draft of a study file to the checked study: every point it asks for is made and checked.

A point's settings are laid one over the other: its base workload, the study's own settings, those of its
named system, its variant's, and last the levels of its factors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.spec.check_asked import check_asked
from steelyard.spec.design import SETTINGS, Sweep
from steelyard.spec.draft import Draft, place_of
from steelyard.spec.embed import LEVELS, embed_traces, forget_whence
from steelyard.spec.factors import ROOTS, put_level, settings_of
from steelyard.spec.filled import filled
from steelyard.spec.lines import Place
from steelyard.spec.models import SWEEP_REPETITIONS, Point, Settings, Study
from steelyard.spec.rates import check_rates
from steelyard.spec.reserved import reserving
from steelyard.spec.rules import check_layout
from steelyard.spec.scalability import check_scalability
from steelyard.spec.timeline import Timelines, check_timelines, timeline_of
from steelyard.spec.workloads import find_workload

BASE = "workload.base"


@dataclass(frozen=True)
class Combination:
    """Which system and variant, and which level of each factor."""

    system: str | None = None
    variant: str | None = None
    levels: Mapping[str, Any] = field(default_factory=dict)
    factor_of: Mapping[str, str] = field(default_factory=dict)
    """Setting or short name -> the factor it belongs to."""


def expand(draft: Draft, folder: Path | None = None) -> Study:
    """The study of a draft.

    Args:
        draft: a study file's values, without `small`.
        folder: relative workload files are looked for here; None = the working directory.

    Raises:
        InputError: every mistake in it, each with where it was said and the nearest known name.
    """
    draft = draft.copy()
    _flatten_factors(draft)
    _name_files_in_full(draft, folder)
    embed_traces(draft, folder)
    faults = _Faults()
    sweep = Sweep(name="unknown")
    with faults:
        sweep = _of(draft, [key for key in draft.data if key not in SETTINGS]).check(Sweep)
    with faults:
        _check_names(draft, sweep)
    timelines = None if faults.lines else sweep.timelines  # else what names one would be told as a mistake
    points: list[Point] = []
    for cell in cells(sweep, _systems(draft)):
        with faults:
            points.append(_point(draft, cell, folder, len(points) + 1, timelines))
    points = reserving(points)
    with faults:
        check_timelines(sweep.timelines, points, draft.origins)
    if not faults.lines:  # else points are missing that claims name, or that may offer a share
        with faults:
            check_asked(sweep, points, draft.origins)
        with faults:
            check_rates(sweep.rates, points, draft)
    with faults:
        sweep = _with_deviations(draft, sweep, points)
    faults.throw()
    study = _study(draft, sweep, points)
    check_layout(study)
    check_scalability(study)
    return study


class _Faults:
    """Collects the mistakes of parts that are checked one by one; each is told once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.hint: str | None = None

    def __enter__(self) -> None: ...

    def __exit__(self, _type: object, error: object, _trace: object) -> bool:
        if not isinstance(error, InputError):
            return False
        self.hint = self.hint or error.hint
        self.lines += [line for line in error.message.splitlines() if line not in self.lines]
        return True

    def throw(self) -> None:
        if self.lines:
            raise InputError("\n".join(self.lines), hint=self.hint)


def cells(sweep: Sweep, systems: Sequence[str]) -> Iterator[Combination]:
    """Every combination, the last factor changing fastest."""
    names: Sequence[str | None] = systems or [None]
    for system in names:
        factors = {n: f for n, f in sweep.factors.items() if _applies(f.only, system)}
        owner = {column: name for name, f in factors.items() for column in (f.zip or [name])}
        variants: Sequence[str | None] = [
            v for v, o in sweep.variants.items() if o.run and _applies(o.only, system)
        ] or [None]
        for variant in variants:
            for steps in product(*(f.steps(name) for name, f in factors.items())):
                levels = {column: level for step in steps for column, level in step.items()}
                yield Combination(system, variant, levels, owner)


def _applies(only: Sequence[str], system: str | None) -> bool:
    return not only or system in only


def _systems(draft: Draft) -> list[str]:
    return list(draft.table(("systems",)))


def _of(draft: Draft, keys: Sequence[str]) -> Draft:
    """The part of a draft that stands under some of its keys."""
    return Draft(
        {key: draft.data[key] for key in keys},
        {place: said for place, said in draft.origins.items() if place[0] in keys},
        {place: text for place, text in draft.raw.items() if place[0] in keys},
    )


def _flatten_factors(draft: Draft) -> None:
    """`load.target = [...]` without quotes is a table in a table: give it its dotted name."""

    def walk(table: Mapping[str, Any], under: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        for key, value in table.items():
            inside = (under or key in ROOTS) and isinstance(value, dict) and not {"levels", "zip"} & {*value}
            yield from walk(value, (*under, key)) if inside else [((*under, key), value)]

    flat = list(walk(draft.table(("factors",)), ()))
    if flat:
        draft.data["factors"] = {".".join(path): value for path, value in flat}
    for path, _ in flat:
        if len(path) > 1 and (said := draft.origins.get(("factors", *path))):
            draft.origins["factors", ".".join(path)] = said


def _check_names(draft: Draft, sweep: Sweep) -> None:
    """Systems that factors and variants name must be there, and one variant be run, if there are any."""
    if sweep.variants and not any(variant.run for variant in sweep.variants.values()):
        raise InputError("variants: none of them is run", hint="leave out run = false in one of them")
    names = _systems(draft)
    if names and "system" in draft.data:
        said = draft.origins.get(("system",), "")
        raise InputError(f"{said}: [system] and [systems.NAME] exclude each other".removeprefix(": "))
    said_only = {("factors", name): factor.only for name, factor in sweep.factors.items()}
    said_only |= {("variants", name): (*v.only, *v.systems) for name, v in sweep.variants.items()}
    for place, only in said_only.items():
        for name in only:
            if name not in names:
                known = f"; known: {', '.join(names)}" if names else "; systems get names as [systems.NAME]"
                raise InputError(
                    f"{draft.origins.get(place, '')}: {'.'.join(place)}: no system '{name}'"
                    f"{nearest(name, names)}{known}"
                )


def _with_deviations(draft: Draft, sweep: Sweep, points: Sequence[Point]) -> Sweep:
    """With the settings of this form in their words, also in what is written down."""
    if not sweep.deviations or not points:
        return sweep
    texts = filled(sweep.deviations, points, draft.origins)
    draft.put(("deviations",), list(texts), draft.origins.get(("deviations",), ""))
    return sweep.model_copy(update={"deviations": texts})


def _point(
    draft: Draft, cell: Combination, folder: Path | None, number: int, timelines: Timelines | None
) -> Point:
    made = point_draft(draft, cell, folder)
    settings = made.check(Settings)
    said = made.origins.get(("load", "timeline"), "")
    actions = () if timelines is None else timeline_of(settings.load.timeline, timelines, said)
    return Point(
        system=settings.system,
        timeline=actions,
        workload=settings.workload,
        load=settings.load,
        number=number,
        system_name=cell.system,
        variant=cell.variant,
        levels=dict(cell.levels),
    )


def point_draft(draft: Draft, cell: Combination, folder: Path | None) -> Draft:
    """A point's settings, not yet checked."""
    system: Place = ("systems", cell.system) if cell.system else ("system",)
    layers: list[tuple[Place, Place]] = [
        (("workload",), ("workload",)), (("load",), ("load",)), (system, ("system",)),
    ]  # fmt: skip
    if cell.variant:
        inside: Place = ("variants", cell.variant)
        layers += [((*inside, table), (table,)) for table in ("workload", "load", "system")]
        layers += [((*inside, "systems", cell.system), ("system",))] if cell.system else []
    made = Draft()
    for source, target in layers:
        if target == ("load",):
            forget_whence(made, target, draft.table(source))
        _lay(made, draft, source, target)
    kind = made.get(("system", "kind"))
    levels = [
        (path, level, draft.origins.get(("factors", cell.factor_of[name]), ""), cell.factor_of[name])
        for name, level in cell.levels.items()
        for path in settings_of(name, kind, draft.origins.get(("factors", cell.factor_of[name]), ""))
    ]
    for path, level, said, _ in levels:
        if path == BASE:
            made.put(place_of(path), level, said)
    made = _on_its_base(made, folder)
    for path, level, said, factor in sorted(levels, key=lambda row: row[0] == "workload.data-size"):
        if path != BASE:
            _refuse_overridden(made, path, factor)
            if path == LEVELS:
                forget_whence(made, ("load",), {"curve": level})
            put_level(made, path, level, said)
    return made


def _refuse_overridden(made: Draft, path: str, factor: str) -> None:
    said = made.origins.get(place_of(path), "")
    if said.startswith("--set "):
        raise InputError(
            f"{said}: a factor of this study varies it",
            hint=f"change its levels: --set 'factors.{factor}=[...]'",
        )


def _lay(made: Draft, draft: Draft, source: Place, target: Place) -> None:
    """Lay what stands at a place of a draft over what was made."""
    values = deepcopy(draft.get(source))
    if values is None:
        return

    def moved(places: Mapping[Place, str]) -> dict[Place, str]:
        depth = len(source)
        return {(*target, *p[depth:]): said for p, said in places.items() if p[:depth] == source}

    if isinstance(values, dict):
        made.data.setdefault(str(target[0]), {})
        made.put_all({str(target[0]): values}, moved(draft.origins))
    else:
        made.put(target, values, draft.origins.get(source, ""))
    made.raw |= moved(draft.raw)


def _on_its_base(made: Draft, folder: Path | None) -> Draft:
    """Put the base workload under the settings."""
    word = made.get(("workload", "base")) if isinstance(made.get(("workload",)), dict) else None
    if not isinstance(word, str):
        return made
    said = made.origins.get(("workload", "base"), "")
    made.drop(("workload", "base"))
    under = Draft(raw=made.raw)
    under.put_all(*find_workload(word, said, folder))
    under.put_all(made.data, made.origins)
    return under


def _study(draft: Draft, sweep: Sweep, points: list[Point]) -> Study:
    design = {name: getattr(sweep, name) for name in type(sweep).model_fields if name in Study.model_fields}
    several = SWEEP_REPETITIONS if len(points) > 1 else 1
    design["repetitions"] = sweep.repetitions or several
    swept = bool(sweep.factors or sweep.variants or sweep.timelines or _systems(draft))
    first = points[0]
    return Study(
        system=first.system,
        workload=first.workload,
        load=first.load,
        points=tuple(points) if swept else (),
        source=_said(draft.data) if swept else {},
        **design,
    )


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, without the nulls that flags leave where they reset a setting: TOML knows none."""
    tables = {key: _said(value) if isinstance(value, dict) else value for key, value in values.items()}
    return {key: value for key, value in tables.items() if value is not None}


def _name_files_in_full(draft: Draft, folder: Path | None) -> None:
    """Words that are workload files are made absolute: what is written down may be read from anywhere."""
    bases: list[Place] = [("workload", "base")]
    bases += [("variants", name, "workload", "base") for name in draft.table(("variants",))]
    for place in bases:
        if isinstance(word := draft.get(place), str):
            draft.put(place, _absolute(word, folder), draft.origins.get(place, ""))
    for name, factor in draft.table(("factors",)).items():
        levels = factor.get("levels") if isinstance(factor, dict) else factor
        if name in ("workload", BASE) and isinstance(levels, list):
            levels[:] = [_absolute(word, folder) if isinstance(word, str) else word for word in levels]


def _absolute(word: str, folder: Path | None) -> str:
    path = (folder or Path()) / word
    return str(path.absolute()) if path.is_file() else word
