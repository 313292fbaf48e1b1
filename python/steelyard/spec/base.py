"""The bases of models: frozen, and unknown keys are refused; what the settings of every system can tell."""

from __future__ import annotations

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Model(BaseModel):
    """A frozen model that refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)


class SystemSettings(Model):
    """The settings of a system; each kind has a model of its own, and tells here what the spec must know."""

    kind: str

    @property
    def size(self) -> int:
        """Nodes of the system, those of masters included."""
        return 1

    @property
    def data_nodes(self) -> int:
        """Nodes that hold data at its start."""
        return self.size

    @property
    def copies(self) -> int:
        """Replicas of a record."""
        return 1

    @property
    def node_names(self) -> tuple[str, ...]:
        """The names of its nodes, those in reserve last; empty where they are not ours to name."""
        return ()

    @property
    def given(self) -> bool:
        """Whether it was there before us, so that no new one can be made of it."""
        return False


LISTED = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
"""For tuples of a model with a validator before it: behind one, strict validation takes no list for them."""
