"""Actions of a timeline as data: what is done to a cluster while it serves, each with its parameters.

What an action needs of a system is a capability (`systems.capabilities`); `lab.timeline` does it.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    model_validator,
)

from steelyard.spec.triggers import Done, Triggered, Words, as_seconds

ALL = "all"
"""In place of a node: every node of the cluster."""
Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
Limit = Annotated[PositiveFloat, BeforeValidator(as_seconds, json_schema_input_type=float | str)]
Node = Annotated[str, Field(min_length=1)]


class Doing(Triggered):
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
    limit: Limit = 600
    """Seconds; one that takes longer is recorded as such and let be, and the trial goes on."""

    @property
    def what(self) -> str:
        """Its name."""
        return str(getattr(self, "do", ""))

    @property
    def parameters(self) -> dict[str, Any]:
        """What is asked, without when it begins and ends."""
        said = self.model_dump(mode="json", exclude={"do", *Doing.model_fields})
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


class OneNode(Doing):
    """What is done to one node."""

    node: Node
    """A node, or one of its servers: `node1`, `node1/datanode`."""


class AnyNode(Doing):
    """What is done to one node, or to one after the other."""

    node: Node = ALL


class Add(Doing):
    """Nodes that are reserved join, all at once."""

    needs: ClassVar[str] = "add"
    do: Literal["add"]
    nodes: PositiveInt = 1
    bootstrap: bool = True
    """They take over data before they serve; otherwise reads miss what is now theirs."""
    balance: bool = True
    """Data are spread evenly afterwards (HBase)."""
    stream_mbit: PositiveFloat | None = None
    """What each node may send for it, in Mbit/s; left out, as it is set."""
    limited: bool = True
    """They are under their CPU quota from their first instruction; otherwise from when they have joined."""


class Remove(Doing):
    """Nodes leave, their data first, one after the other."""

    needs: ClassVar[str] = "remove"
    do: Literal["remove"]
    nodes: PositiveInt = 1
    """So many, the last joined first."""
    node: Node | None = None
    """This one instead."""

    @model_validator(mode="after")
    def _either(self) -> Remove:
        if self.node is not None and "nodes" in self.model_fields_set and self.nodes != 1:
            raise ValueError("say either node or nodes")
        return self


class Kill(OneNode):
    """kill -9."""

    needs: ClassVar[str] = "kill"
    do: Literal["kill"]


class Freeze(OneNode):
    """SIGSTOP: connections are held and nothing is answered."""

    needs: ClassVar[str] = "freeze"
    do: Literal["freeze"]


class Thaw(OneNode):
    """What is frozen goes on."""

    needs: ClassVar[str] = "freeze"
    do: Literal["thaw"]


class Restart(Doing):
    """Servers are stopped if they run, and started on the same data."""

    needs: ClassVar[str] = "restart"
    do: Literal["restart"]
    node: Node | None = None
    rolling: bool = False
    """Every node, one after the other."""

    @model_validator(mode="after")
    def _either(self) -> Restart:
        _one_way(self.node, rolling=self.rolling)
        return self


class Resize(AnyNode):
    """The CPU quota of nodes changes."""

    needs: ClassVar[str] = "resize"
    do: Literal["resize"]
    cpu: NonNegativeFloat
    """Cores of each; 0 lifts the quota."""
    restart: bool = False
    """Its servers are started anew with it, as a machine of another size would be."""

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The quota, and a restart if that is asked for."""
        return ("resize", "restart") if self.restart else ("resize",)


class Partition(OneNode):
    """No packet goes to the node or from it, its servers alive."""

    needs: ClassVar[str] = "partition"
    do: Literal["partition"]


class Heal(OneNode):
    """The node is joined to the network again."""

    needs: ClassVar[str] = "partition"
    do: Literal["heal"]


class Throttle(OneNode):
    """The node's disk is made slow."""

    needs: ClassVar[str] = "throttle"
    do: Literal["throttle"]
    read_mib: NonNegativeFloat = 0
    """MiB/s; 0 lifts that limit."""
    write_mib: NonNegativeFloat = 0


class StreamLimit(AnyNode):
    """What nodes may send for a change of the cluster."""

    needs: ClassVar[str] = "limit_streams"
    do: Literal["stream-limit"]
    mbit: NonNegativeFloat
    """Mbit/s; 0 lifts the limit."""


class CompactionLimit(AnyNode):
    """What nodes may write while they merge files."""

    needs: ClassVar[str] = "limit_compactions"
    do: Literal["compaction-limit"]
    mbit: NonNegativeFloat
    """Mbit/s; 0 lifts the limit."""


class Balance(Doing):
    """Data are moved until nodes have equally much."""

    needs: ClassVar[str] = "balance"
    changes: ClassVar[bool] = False
    do: Literal["balance"]


class Compact(AnyNode):
    """Files are merged."""

    needs: ClassVar[str] = "compact"
    changes: ClassVar[bool] = False
    do: Literal["compact"]


class Flush(AnyNode):
    """What is in memory is written to files."""

    needs: ClassVar[str] = "flush"
    changes: ClassVar[bool] = False
    do: Literal["flush"]


class Cleanup(AnyNode):
    """Data that is no longer a node's own is removed from it."""

    needs: ClassVar[str] = "cleanup"
    changes: ClassVar[bool] = False
    do: Literal["cleanup"]


class Repair(AnyNode):
    """Copies that differ are made equal."""

    needs: ClassVar[str] = "repair"
    changes: ClassVar[bool] = False
    do: Literal["repair"]


class Upgrade(Doing):
    """Nodes go on with another version."""

    needs: ClassVar[str] = "upgrade"
    do: Literal["upgrade"]
    version: str
    node: Node | None = None
    rolling: bool = False
    """Every node, one after the other."""

    @model_validator(mode="after")
    def _either(self) -> Upgrade:
        _one_way(self.node, rolling=self.rolling)
        return self


class PowerLoss(AnyNode):
    """Nodes lose what was written and not synced, all at once, and are started again."""

    needs: ClassVar[str] = "power_loss"
    do: Literal["power-loss"]


class Run(Doing):
    """A command of the user's own, such as kubectl: how a cluster that we do not operate is changed."""

    changes: ClassVar[bool] = False
    do: Literal["run"]
    command: Words

    @property
    def words(self) -> str:
        """`run kubectl scale ...`."""
        return f"run {' '.join(self.command)}"

    @model_validator(mode="after")
    def _no_milestones(self) -> Run:
        if isinstance(self.done, str):
            raise ValueError("a command passes no milestones: done = { command = [...] } or { metric = ... }")
        return self


def _one_way(node: str | None, *, rolling: bool) -> None:
    if (node is None) != rolling:
        raise ValueError("say either node or rolling = true")


Action = Annotated[
    Add | Remove | Kill | Freeze | Thaw | Restart | Resize | Partition | Heal | Throttle | StreamLimit
    | CompactionLimit | Balance | Compact | Flush | Cleanup | Repair | Upgrade | PowerLoss | Run,
    Discriminator("do"),
]  # fmt: skip
"""Any of them, told apart by `do`."""
MODELS: tuple[type[Doing], ...] = Action.__origin__.__args__  # type: ignore[attr-defined]
