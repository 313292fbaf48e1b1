"""From a study file, with settings laid over it, to a checked study."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from steelyard.errors import InputError, nearest
from steelyard.spec.draft import Draft, place_of
from steelyard.spec.embed import forget_whence
from steelyard.spec.expand import expand
from steelyard.spec.kind import declared
from steelyard.spec.lines import Place
from steelyard.spec.models import Study
from steelyard.spec.workloads import parse_toml, read_text


def read_study(path: Path, overrides: Sequence[str] = (), *, small: bool = False) -> Study:
    """Read a study file.

    `workload = "a"` or `base = "a"` in its `[workload]` starts from that workload; a study without a name has
    its file's. Its other form (`[small]`, or without it) is checked too, as it stands in the file.

    Args:
        path: the TOML file.
        overrides: `workload.records=50000` and the like, laid over it; the value is TOML, or else text.
        small: lay the file's `[small]` over it.

    Raises:
        InputError: with file and line of each mistake.
    """
    draft, overlay = _read(path)
    if small and not overlay.data:
        raise InputError(f"{path}: --small: the study has no [small] overlay")
    form = overlay if small else None
    if overlay.data:
        _form(draft, None if small else overlay, (), path)
    if {"claims", "checks", "figures"} & {*draft.data} and any(map(_narrows, overrides)):
        _form(draft, form, (), path)  # what claims name is held against all that the file has
    return _form(draft, form, overrides, path)


def both_forms(path: Path) -> tuple[Study, Study | None]:
    """A study in full, and in its small form if it has one."""
    draft, overlay = _read(path)
    return _form(draft, None, (), path), _form(draft, overlay, (), path) if overlay.data else None


def _read(path: Path) -> tuple[Draft, Draft]:
    """A study file's values, and those of its `[small]`."""
    values, origins = parse_toml(path, read_text(path))
    small = values.pop("small", {})
    if not isinstance(small, dict):
        raise InputError(f"{origins.get(('small',), path)}: small is no table")
    draft, overlay = Draft(), Draft()
    draft.put_all(values, {place: said for place, said in origins.items() if place[0] != "small"})
    overlay.put_all(
        small, {place[1:]: said for place, said in origins.items() if place[0] == "small" and place[1:]}
    )
    if "name" not in draft.data:
        draft.put(("name",), path.stem, str(path))
    for part in (draft, overlay):
        _spell_out_base(part)
    return draft, overlay


def _form(draft: Draft, small: Draft | None, overrides: Sequence[str], path: Path) -> Study:
    draft = draft.copy()
    if small is not None:
        for name in small.table(("variants",)):
            _known_variant(draft, name, small.origins.get(("variants", name), "[small]"))
        forget_whence(draft, ("load",), small.table(("load",)))
        draft.put_all(deepcopy(small.data), small.origins)
        draft.put(("form",), "small", "--small")
        if "name" not in small.data:
            draft.put(("name",), f"{draft.get(('name',))}-small", draft.origins.get(("name",), ""))
    for override in overrides:
        put_override(draft, override)
        if _narrows(override):
            draft.put(("narrowed",), True, f"--set {override}")
    resolve_paths(draft, path.parent)
    return expand(draft, path.parent)


def _narrows(override: str) -> bool:
    """Whether it may leave out levels or variants that claims name."""
    place = place_of(override.partition("=")[0].strip())
    return place[0] == "factors" or (place[0] == "variants" and place[-1] == "run")


def _known_variant(draft: Draft, name: str, said: str) -> None:
    """What is laid over a study changes the variants it has: a misspelled one would run beside them."""
    known = list(draft.table(("variants",)))
    if name not in known:
        there = f"; there are: {', '.join(known)}" if known else "; this study has none"
        raise InputError(f"{said}: no variant '{name}'{nearest(name, known)}{there}")


def _spell_out_base(draft: Draft) -> None:
    """`workload = "a"` is short for `base = "a"` in `[workload]`."""
    word = draft.get(("workload",))
    if isinstance(word, str):
        said = draft.origins.get(("workload",), "")
        draft.put(("workload",), {"base": word}, said)
        draft.origins["workload", "base"] = said


def put_override(draft: Draft, text: str) -> None:
    """Lay one `a.b=c` over a draft; of several systems, `system.b=c` is said to each."""
    dotted, equals, value = text.partition("=")
    place = place_of(dotted.strip())
    if not equals or not all(place):
        raise InputError(f"--set {text}: expected path=value, e.g. --set workload.records=50000")
    if place == ("workload",):
        place = ("workload", "base")
    if place[0] == "variants" and len(place) > 1:
        _known_variant(draft, str(place[1]), f"--set {dotted.strip()}")
    if place == ("workload", "base"):
        draft.put(place, value.strip("\"'"), f"--set {dotted.strip()}")
        return
    systems = draft.table(("systems",)) if place[0] == "system" else {}
    forget_whence(draft, place[:-1], {str(place[-1]): value})
    for target in [("systems", name, *place[1:]) for name in systems] or [place]:
        draft.put(target, literal(value), f"--set {dotted.strip()}")
        draft.raw[target] = value


def literal(text: str) -> Any:
    """A TOML value, or the text itself when it is none."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def resolve_paths(draft: Draft, folder: Path) -> None:
    """Make the files that systems name absolute."""
    systems: list[Place] = [("system",), *(("systems", name) for name in draft.table(("systems",)))]
    files = [(*place, name) for place in systems for name in declared(str(draft.get((*place, "kind")))).files]
    for place in files:
        value = draft.get(place)
        if isinstance(value, str):
            draft.put(
                place, str((folder / Path(value).expanduser()).absolute()), draft.origins.get(place, "")
            )
