"""What all actions of a timeline have: an id, when they begin and are done, a limit, the nodes they name."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, PositiveFloat

from steelyard.spec.triggers import Done, Triggered, as_seconds

ALL = "all"
"""In place of a node: every node of the cluster."""
Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
Limit = Annotated[PositiveFloat, BeforeValidator(as_seconds, json_schema_input_type=float | str)]
Node = Annotated[str, Field(min_length=1)]


class ActionBase(Triggered):
    """What all actions have.

    Attributes:
        needs: the capability of a system by which it is done; "" = none.
        changes: whether the cluster may be another afterwards: such trials do not share one.
    """

    needs: ClassVar[str] = ""
    changes: ClassVar[bool] = True

    id: Id
    done: Done | None = None
    """When it is done; left out, when the system says so, or the command has succeeded."""
    undo: bool = False
    """It takes back what an action before it did: a node that was killed is started again. That is no part of
    `scaling_s`; all else goes on until it has ended, since users feel what it takes back until then."""
    limit: Limit = 600
    """Seconds; one that takes longer is recorded as such and let be, and the trial goes on."""

    @property
    def what(self) -> str:
        """Its name."""
        return str(getattr(self, "do", ""))

    @property
    def parameters(self) -> dict[str, Any]:
        """What is asked, without when it begins and ends."""
        said = self.model_dump(mode="json", exclude={"do", *ActionBase.model_fields})
        return {name: value for name, value in said.items() if value is not None}

    @property
    def nodes_named(self) -> tuple[str, ...]:
        """Nodes or servers that it names; empty = all, or whichever it is."""
        node = getattr(self, "node", None)
        return (node,) if node not in (None, ALL) else ()

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What the system must be able to do."""
        return (self.needs,) if self.needs else ()

    @property
    def words(self) -> str:
        """`add nodes=1 stream_mbit=40`: what is not as usual."""
        usual = {name: field.default for name, field in type(self).model_fields.items()}
        said = {name: value for name, value in self.parameters.items() if value != usual.get(name)}
        return " ".join([self.what, *(f"{name}={_short(value)}" for name, value in said.items())])

    @property
    def ends(self) -> str:
        """`done when joined`, empty where the action itself says so."""
        if self.done is None:
            return ""
        return f"done when {self.done if isinstance(self.done, str) else self.done.words}"


def _short(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


class OneNode(ActionBase):
    """What is done to one node."""

    node: Node
    """A node, or one of its servers: `node1`, `node1/datanode`."""


class AnyNode(ActionBase):
    """What is done to one node, or to one after the other."""

    node: Node = ALL
