"""Recorded loads are put into the study as points: a result holds what it offered, without the file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steelyard.errors import InputError
from steelyard.spec.curves import points_of
from steelyard.spec.draft import Draft
from steelyard.spec.lines import Place

LEVELS = "load.curve"
"""The factor whose levels are curves."""


def embed_traces(draft: Draft, folder: Path | None) -> None:
    """Replace every curve that names a file by its points, and note the file and its SHA-256 beside them.

    Args:
        draft: a study file's values.
        folder: that of the study file; None = the working directory.

    Raises:
        InputError: a file cannot be read or is no trace; a trace is a factor's level, which has no name.
    """
    tables: list[Place] = [("load",), *(("variants", name, "load") for name in draft.table(("variants",)))]
    for table in tables:
        place: Place = (*table, "curve")
        if _is_trace(said := draft.get(place)):
            _embed(draft, table, said, folder, draft.origins.get(place, ""))
    factor = draft.table(("factors",)).get(LEVELS)
    levels = factor.get("levels") if isinstance(factor, dict) else factor
    if isinstance(levels, list) and any(map(_is_trace, levels)):
        said = draft.origins.get(("factors", LEVELS), "")
        raise InputError(
            f"{said}: a trace cannot be a level of a factor".lstrip(": "),
            hint="give each trace a name: [variants.NAME.load] curve = { kind = 'trace', file = ... }",
        )


def forget_whence(draft: Draft, table: Place, laid: Mapping[str, Any]) -> None:
    """Another curve that is laid over a load's is not of the file that the one before was read from.

    Args:
        draft: it is laid over.
        table: the load in it.
        laid: the settings that are laid over that.
    """
    if "curve" in laid and "curve_from" not in laid:
        draft.drop((*table, "curve_from"))


def _is_trace(said: Any) -> bool:
    return isinstance(said, dict) and said.get("kind") == "trace"


def _embed(draft: Draft, table: Place, said: dict[str, Any], folder: Path | None, origin: str) -> None:
    named = said.get("file")
    told = f"{origin}: ".lstrip(": ")
    if not isinstance(named, str):
        raise InputError(f"{told}a trace wants its file: {{ kind = 'trace', file = 'load.csv' }}")
    path = ((folder or Path()) / Path(named).expanduser()).absolute()
    try:
        points = points_of({**said, "file": str(path)})
    except ValueError as error:
        raise InputError(f"{told}{error}") from None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    draft.put((*table, "curve"), points, origin)
    draft.put((*table, "curve_from"), f"{path.name} (SHA-256 {digest})", origin)
