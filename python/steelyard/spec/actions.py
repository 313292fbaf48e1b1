"""Actions of a timeline as data: what is done to a cluster while it serves, each with its parameters.

What an action needs of a system is a capability (`systems.capabilities`); `lab.timeline` does it.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, NonNegativeFloat, PositiveFloat, PositiveInt, model_validator

from steelyard.spec.action_base import ActionBase, AnyNode, Node
from steelyard.spec.fault_actions import Freeze, Heal, Kill, Partition, PowerLoss, Thaw, Throttle
from steelyard.spec.scale import Scale
from steelyard.spec.triggers import TOLD, Words


class Add(ActionBase):
    """Nodes that are reserved join, all at once."""

    needs: ClassVar[str] = "add"
    do: Literal["add"]
    nodes: PositiveInt = 1
    bootstrap: bool = True
    """They take over data before they serve; otherwise reads miss what is now theirs."""
    balance: bool = True
    """Data are spread evenly afterwards (HBase)."""
    local: bool = False
    """What was moved to them is written anew where it is now (HBase): until then they read it from others."""
    stream_mbit: PositiveFloat | None = None
    """What each node may send for it, in Mbit/s; left out, as it is set."""
    limited: bool = True
    """They are under their CPU quota from their first instruction; otherwise from when they have joined."""

    @property
    def capabilities(self) -> tuple[str, ...]:
        """Nodes that join, and data that can be made local if that is asked for."""
        return ("add", "localize") if self.local else ("add",)


class Remove(ActionBase):
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


class Restart(ActionBase):
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


class Balance(ActionBase):
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


class Upgrade(ActionBase):
    """Every node goes on with the same data under another version, one after the other."""

    needs: ClassVar[str] = "upgrade"
    do: Literal["upgrade"]
    version: Annotated[str, Field(min_length=1)]
    """What all servers of the system run afterwards: of Cassandra, of HBase."""
    rewrite: bool = False
    """When all have it, each node writes its files anew in the version's own format (Cassandra)."""

    @property
    def capabilities(self) -> tuple[str, ...]:
        """To change the version, and to rewrite files if that is asked for."""
        return ("upgrade", "rewrite") if self.rewrite else ("upgrade",)


class Run(ActionBase):
    """A command of the user's own, such as kubectl: how a cluster that we do not operate is changed."""

    changes: ClassVar[bool] = False
    do: Literal["run"]
    command: Words
    nodes: PositiveInt | None = None
    """So many nodes (1) must pass the milestone that `done` names."""

    @property
    def words(self) -> str:
        """`run kubectl scale ...`."""
        return f"run {' '.join(self.command)}"

    @model_validator(mode="after")
    def _milestones(self) -> Run:
        if isinstance(self.done, str) and self.done not in TOLD:
            raise ValueError(
                f"done = '{self.done}': a cluster that others operate tells of {', '.join(TOLD)}; else "
                "say { command = [...] } or { metric = ... }"
            )
        if self.nodes is not None and not isinstance(self.done, str):
            raise ValueError("nodes goes with a milestone: done = 'joined'")
        return self


def _one_way(node: str | None, *, rolling: bool) -> None:
    if (node is None) != rolling:
        raise ValueError("say either node or rolling = true")


Action = Annotated[
    Add | Remove | Kill | Freeze | Thaw | Restart | Resize | Partition | Heal | Throttle | StreamLimit
    | CompactionLimit | Balance | Compact | Flush | Cleanup | Repair | PowerLoss | Upgrade | Scale | Run,
    Discriminator("do"),
]  # fmt: skip
"""Any of them, told apart by `do`."""
