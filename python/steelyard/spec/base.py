"""The base of every model: frozen, and unknown keys are refused."""

from __future__ import annotations

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Model(BaseModel):
    """A frozen model that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)


LISTED = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
"""For tuples of a model with a validator before it: behind one, strict validation takes no list for them."""
