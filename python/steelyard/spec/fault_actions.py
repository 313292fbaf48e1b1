"""Faults as actions: servers that die or stand still, links that are cut, slow disks, lost power."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import NonNegativeFloat, NonNegativeInt

from steelyard.spec.action_base import AnyNode, OneNode


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


class Partition(OneNode):
    """No packet goes to the node or from it, its servers alive."""

    needs: ClassVar[str] = "partition"
    do: Literal["partition"]


class Heal(OneNode):
    """The node is joined to the network again."""

    needs: ClassVar[str] = "partition"
    do: Literal["heal"]


class Throttle(AnyNode):
    """Nodes' disks are made slow."""

    needs: ClassVar[str] = "throttle"
    do: Literal["throttle"]
    read_mib: NonNegativeFloat = 0
    """MiB/s; 0 lifts that limit."""
    write_mib: NonNegativeFloat = 0
    read_iops: NonNegativeInt = 0
    """Operations a second, as the kernel hands them to the disk; 0 lifts that limit."""
    write_iops: NonNegativeInt = 0


class PowerLoss(AnyNode):
    """Nodes lose what was written and not synced, all at once, and are started again."""

    needs: ClassVar[str] = "power_loss"
    do: Literal["power-loss"]
