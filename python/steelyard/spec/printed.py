"""A figure as a paper prints it: a value, a range, or only a bound, with its unit and a label.

paper = 4.0
paper = "35 ms"
paper = "25 to 30 ms"
paper = "> 1000 ms"                                              # censored: the paper's scale ends there
paper = { low = 3, high = 5, label = "three to five times" }
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BeforeValidator, PositiveFloat, model_validator

from steelyard.spec.base import Model

_NUMBER = r"\d[\d_,]*(?:\.\d+)?(?:[eE][+-]?\d+)?"
_TEXT = re.compile(
    rf"(?P<sign>[<>]?)\s*(?P<low>{_NUMBER})(?:\s*(?:to|-)\s*(?P<high>{_NUMBER}))?\s*(?P<unit>[a-zA-Z%/][\w/%]*)?"
)


class Printed(Model):
    """A figure that a paper prints; one end is missing where the paper says only that it lies beyond."""

    low: PositiveFloat | None = None
    high: PositiveFloat | None = None
    """The same as `low` for a plain value."""
    unit: str = ""
    """Left out: that of what the check estimates."""
    label: str = ""
    """What it is called where one number says too little."""

    @model_validator(mode="after")
    def _in_order(self) -> Printed:
        if self.low is None and self.high is None:
            raise ValueError("say a value, a range such as '3 to 5', or a bound such as '> 5'")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"the range ends at {self.high:g}, below {self.low:g}")
        return self

    @property
    def middle(self) -> float:
        """One number to draw: the value, the geometric middle of a range, or the bound."""
        if self.low is None or self.high is None:
            return self.high if self.low is None else self.low  # type: ignore[return-value]
        return math.sqrt(self.low * self.high) if self.low < self.high else self.low

    @property
    def band(self) -> tuple[float, float]:
        """The least and the greatest value it may mean."""
        return self.low or 0.0, math.inf if self.high is None else self.high

    def scaled(self, factor: float) -> Printed:
        """The same in another unit, which is not named."""
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return Printed(low=low, high=high, label=self.label)

    @property
    def words(self) -> str:
        """`35 ms`, `25 to 30 ms`, `> 1,000 ms (the axis ends there)`."""
        ends = ["" if end is None else f"{end:,.6g}" for end in (self.low, self.high)]
        if self.low is None:
            said = f"< {ends[1]}"
        elif self.high is None:
            said = f"> {ends[0]}"
        else:
            said = ends[0] if self.low == self.high else f"{ends[0]} to {ends[1]}"
        return f"{said} {self.unit}".rstrip() + (f" ({self.label})" if self.label else "")


def _of_words(value: Any) -> Any:
    """A number or a text as the table that it is short for."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return {"low": value, "high": value}
    if isinstance(value, dict) and "value" in value:
        rest = {key: said for key, said in value.items() if key != "value"}
        return {"low": value["value"], "high": value["value"], **rest}
    return _of_text(value) if isinstance(value, str) else value


def _of_text(text: str) -> dict[str, Any]:
    match = _TEXT.fullmatch(text.strip())
    if match is None or (match["sign"] and match["high"]):
        raise ValueError(f"'{text}' is no figure: expected '35 ms', '25 to 30 ms' or '> 1000 ms'")
    low = float(match["low"].replace(",", "").replace("_", ""))
    high = float(match["high"].replace(",", "").replace("_", "")) if match["high"] else low
    ends: dict[str, dict[str, Any]] = {"": {"low": low, "high": high}, ">": {"low": low}, "<": {"high": low}}
    return {**ends[match["sign"]], "unit": match["unit"] or ""}


Figure = Annotated[Printed, BeforeValidator(_of_words, json_schema_input_type=float | str | Printed)]
Paper = Figure | None
Papers = dict[str, Figure]
"""Source -> its figure."""
