"""A study being put together: plain words, each with the place it came from, until checked as a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from steelyard.errors import InputError
from steelyard.spec.complain import complaints
from steelyard.spec.lines import Place

Checked = TypeVar("Checked", bound=BaseModel)


def place_of(dotted: str) -> Place:
    """`workload.records` as a path."""
    return tuple(dotted.split("."))


@dataclass
class Draft:
    """Nested plain values as in a study file, and where each was said.

    Attributes:
        data: the values.
        origins: path -> where it was said, e.g. `study.toml:12` or `--nodes`.
    """

    data: dict[str, Any] = field(default_factory=dict)
    origins: dict[Place, str] = field(default_factory=dict)
    raw: dict[Place, str] = field(default_factory=dict)
    """Text of values read from `--set`, for settings that turn out to be text (`system.version=4.1`)."""

    def put(self, place: Place, value: Any, origin: str) -> None:
        """Set one value; tables on the way are made."""
        table = self.data
        for depth, part in enumerate(place[:-1], start=1):
            table = table.setdefault(str(part), {})
            if not isinstance(table, dict):
                raise InputError(f"{origin}: {'.'.join(map(str, place[:depth]))} is no table")
        table[str(place[-1])] = value
        for said in [p for p in self.origins if p[: len(place)] == place]:
            del self.origins[said]
        self.origins[place] = origin

    def put_all(self, values: Mapping[str, Any], origins: Mapping[Place, str], under: Place = ()) -> None:
        """Lay a table of values over what is there; tables are merged, everything else replaced."""
        for key, value in values.items():
            place = (*under, key)
            origin = origins.get(place, origins.get(under, ""))
            if isinstance(value, dict) and _same_kind(self.get(place), value):
                self.put_all(value, origins, place)
            else:
                self.put(place, value, origin)
        self.origins.update(origins)

    def drop(self, place: Place) -> None:
        """Forget a value and where it was said."""
        table = self.get(place[:-1])
        if isinstance(table, dict):
            table.pop(str(place[-1]), None)
        self.origins.pop(place, None)

    def copy(self) -> Draft:
        """An independent draft that says the same."""
        return Draft(deepcopy(self.data), dict(self.origins), dict(self.raw))

    def get(self, place: Place) -> Any:
        """The value at a path, or None."""
        here: Any = self.data
        for part in place:
            if not isinstance(here, dict) or part not in here:
                return None
            here = here[part]
        return here

    def table(self, place: Place) -> dict[str, Any]:
        """The table at a path; empty if there is none."""
        found = self.get(place)
        return found if isinstance(found, dict) else {}

    def check(self, model: type[Checked]) -> Checked:
        """The values as a checked model.

        Raises:
            InputError: naming every setting at fault, where it was said, and the nearest known name.
        """
        try:
            return self._validate(model)
        except ValidationError as error:
            if not self._as_text(error):
                raise InputError("\n".join(complaints(error, self.data, self.origins))) from None
        try:
            return self._validate(model)
        except ValidationError as error:
            raise InputError("\n".join(complaints(error, self.data, self.origins))) from None

    def _validate(self, model: type[Checked]) -> Checked:
        # through JSON: strict about types (no "12" for 12, no true for 1), yet lists are tuples
        return model.model_validate_json(json.dumps(self.data, default=str), strict=True)

    def _as_text(self, error: ValidationError) -> bool:
        """Turn values of `--set` into text where text is wanted; whether anything changed."""
        wanted = [place for place in self.raw if _asks_for_text(error, place)]
        for place in wanted:
            self.put(place, self.raw.pop(place), self.origins[place])
        return bool(wanted)


def _same_kind(old: Any, new: dict[str, Any]) -> bool:
    """Whether two tables may be merged: another `kind` has other settings."""
    return isinstance(old, dict) and new.get("kind", old.get("kind")) == old.get("kind")


def _asks_for_text(error: ValidationError, place: Place) -> bool:
    return any(e["type"] == "string_type" and e["loc"][-1] == place[-1] for e in error.errors())
