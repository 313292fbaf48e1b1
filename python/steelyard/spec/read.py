"""From a study file, with settings laid over it, to a checked study."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import InputError
from steelyard.spec.draft import Draft, place_of
from steelyard.spec.study import Study
from steelyard.spec.workloads import find_workload, parse_toml, read_text

PATHS = ("path", "password_file", "tls_ca", "tls_cert", "tls_key")
"""Settings of a system that are files of this host; relative ones are the study's neighbours."""


def read_study(path: Path, overrides: Sequence[str] = ()) -> Study:
    """Read a study file.

    `workload = "a"` or `base = "a"` in its `[workload]` starts from that workload; a study without a name has
    its file's.

    Args:
        path: the TOML file.
        overrides: `workload.records=50000` and the like, laid over it; the value is TOML, or else text.

    Raises:
        InputError: with file and line of each mistake.
    """
    values, origins = parse_toml(path, read_text(path))
    draft = Draft()
    base = _take_base(values)
    for (
        override
    ) in overrides:  # a base given on the command line must be known before it is laid under the rest
        if override.startswith(("workload=", "workload.base=")):
            base = override.partition("=")[2].strip("\"'")
    if base is not None:
        said = origins.get(("workload", "base")) or origins.get(("workload",), str(path))
        draft.put_all(*find_workload(base, said, path.parent))
    draft.put_all(values, origins)
    if "name" not in draft.data:
        draft.put(("name",), path.stem, str(path))
    for override in overrides:
        put_override(draft, override)
    resolve_paths(draft, path.parent)
    return draft.study()


def _take_base(values: dict[str, Any]) -> str | None:
    """Take the base workload's name out of a study's values."""
    workload = values.get("workload")
    if isinstance(workload, str):
        del values["workload"]
        return workload
    if isinstance(workload, dict) and isinstance(workload.get("base"), str):
        return str(workload.pop("base"))
    return None


def put_override(draft: Draft, text: str) -> None:
    """Lay one `a.b=c` over a draft."""
    dotted, equals, value = text.partition("=")
    place = place_of(dotted.strip())
    if not equals or not all(place):
        raise InputError(f"--set {text}: expected path=value, e.g. --set workload.records=50000")
    if place in ((("workload"),), ("workload", "base")):
        return
    draft.put(place, literal(value), f"--set {dotted.strip()}")
    draft.raw[place] = value


def literal(text: str) -> Any:
    """A TOML value, or the text itself when it is none."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def resolve_paths(draft: Draft, folder: Path) -> None:
    """Make the files a system names absolute."""
    for key in PATHS:
        place = ("system", key)
        value = draft.get(place)
        if isinstance(value, str):
            draft.put(
                place, str((folder / Path(value).expanduser()).absolute()), draft.origins.get(place, "")
            )
