"""What an administrator does to a real HBase cluster, over its own protocol."""

from __future__ import annotations

from steelyard.systems.hbase import admin, serving, wire
from steelyard.systems.hbase.layout import MASTER, REGIONSERVER, HBaseSpec
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


def where(testbed: HBaseTestbed, table: str, row: bytes) -> tuple[HBaseSpec, bytes]:
    """The node that serves a row, and the name of its region; raises ValueError while none does."""
    found = [
        (one.name.split(b",")[1], spec, one.name)
        for spec in specs(testbed)
        if REGIONSERVER in spec.parts
        for one in admin.regions(spec, table)
    ]
    first = max((start for start, *_ in found if start <= row), default=None)
    [(spec, name)] = [(spec, name) for start, spec, name in found if start == first]
    return spec, name


def put(testbed: HBaseTestbed, table: str, row: bytes, value: bytes) -> None:
    f = wire.field
    spec, name = where(testbed, table, row)
    mutation = f(1, row) + f(2, 2) + f(3, f(1, FAMILY) + f(2, f(1, "q") + f(2, value)))
    param = f(1, serving.region(name)) + f(2, mutation)
    assert wire.number_of(wire.ask(spec.place(REGIONSERVER), wire.CLIENT, "Mutate", param), 2) == 1


def value(testbed: HBaseTestbed, table: str, row: bytes) -> bytes:
    f = wire.field
    spec, name = where(testbed, table, row)
    param = f(1, serving.region(name)) + f(2, f(1, row))
    answer = wire.ask(spec.place(REGIONSERVER), wire.CLIENT, "Get", param)
    return wire.raw(wire.message(wire.message(answer, 1), 1), 6)
