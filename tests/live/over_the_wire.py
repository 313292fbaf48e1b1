"""What an administrator does to a real HBase cluster, over its own protocol."""

from __future__ import annotations

from steelyard.systems.hbase import serving, wire
from steelyard.systems.hbase.layout import MASTER, HBaseSpec
from steelyard.systems.hbase.testbed import HBaseTestbed
from steelyard.systems.waiting import wait_until

FAMILY = "f"
WAIT_S = 60.0


def specs(testbed: HBaseTestbed) -> list[HBaseSpec]:
    return [node.spec for node in testbed.nodes]


def active(testbed: HBaseTestbed) -> HBaseSpec:
    found = serving.active_master(specs(testbed))
    assert found is not None
    return found


def create_table(testbed: HBaseTestbed, table: str, splits: list[bytes]) -> None:
    """Make a table of one family; returns when all its regions are open."""
    f = wire.field
    name = f(1, "default") + f(2, table)
    param = f(1, f(1, name) + f(3, f(1, FAMILY))) + b"".join(f(2, key) for key in splits)
    wire.ask(active(testbed).place(MASTER), wire.MASTER, "CreateTable", param, WAIT_S)
    wait_until(lambda: sum(testbed.regions(table).values()) == len(splits) + 1, [], WAIT_S, "not all regions")
