"""The records of the kinds of systems: what each says is there, and nobody else compares a kind's name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import steelyard
from steelyard.errors import InfrastructureError
from steelyard.spec.kind import SystemDeclaration, declarations, declared
from steelyard.spec.read import read_study
from steelyard.spec.systems import has_setting
from steelyard.spec.trials import trials
from steelyard.systems.capabilities import CAPABILITIES, check
from steelyard.systems.cassandra.testbed import CassandraTestbed
from steelyard.systems.hbase.testbed import HBaseTestbed
from steelyard.systems.kind import SystemKind
from steelyard.systems.null import NullTestbed

SOURCES = Path(steelyard.__file__).parent
TESTBEDS = {"cassandra": CassandraTestbed, "hbase": HBaseTestbed}
COMPARED = re.compile(r"""(==|!=|\bin\b|\.startswith\()\s*\(?["'](cassandra|hbase|hosts|embedded)\b""")


@pytest.mark.parametrize("record", declarations().values(), ids=lambda record: record.name)
def test_every_setting_that_a_record_names_is_one(record: SystemDeclaration) -> None:
    named = {f"system.{path}" for path in (*record.client_side, *record.shapeless, *record.files)}
    named |= {path for paths in record.short_names.values() for path in paths}
    named |= {flag.setting for flag in record.flags}
    assert [path for path in named if not has_setting(record.name, path)] == []
    assert record.settings().model_fields["kind"].default == record.name
    assert isinstance(record, SystemKind)


@pytest.mark.parametrize("kind", TESTBEDS)
def test_a_testbed_has_the_methods_of_every_capability_it_declares(kind: str) -> None:
    for capability in declared(kind).capabilities:
        methods = [name for name, value in vars(CAPABILITIES[capability]).items() if callable(value)]
        wanted = [name for name in methods if not name.startswith("_")]
        assert wanted, capability
        assert [name for name in wanted if not hasattr(TESTBEDS[kind], name)] == []


@pytest.mark.parametrize(
    ("capability", "told"),
    [("kill", "capability 'kill' and has no method"), ("kil", "is no capability .did you mean 'kill'?")],
)
def test_a_testbed_that_declares_what_it_cannot_do_is_refused(capability: str, told: str) -> None:
    testbed = NullTestbed()
    testbed.capabilities = frozenset({capability})
    with pytest.raises(InfrastructureError, match=told):
        check(testbed)


def test_a_client_setting_of_one_kind_is_a_servers_setting_of_another(tmp_path: Path) -> None:
    """`sync` belongs to the client of an embedded store, and `durability` to that of HBase."""
    assert "sync" in declared("embedded").client_side
    assert not any("sync" in record.client_side for record in declarations().values() if record.local)
    text = """
        reset = "truncate"
        repetitions = 1
        workload = "c"
        system = { kind = "cassandra" }
        [factors]
        "system.access.durable_writes" = [true, false]
        consistency = ["ONE", "ALL"]
    """
    (tmp_path / "s.toml").write_text(text)
    found = trials(read_study(tmp_path / "s.toml"))
    groups = {(t.levels["system.access.durable_writes"], t.group) for t in found}
    assert (len(found), len(groups)) == (4, 2)


def test_nobody_but_systems_compares_the_name_of_a_kind() -> None:
    """The engine's drivers, which calibration names, and file names are no kinds."""
    found = [
        f"{path.relative_to(SOURCES)}:{number}: {line.strip()}"
        for path in SOURCES.rglob("*.py")
        if path.relative_to(SOURCES).parts[0] not in {"systems", "calibrate"}
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if COMPARED.search(line)
    ]
    assert found == []
