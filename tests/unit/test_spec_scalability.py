"""The types of scalability benchmark: what may change between the points of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import InputError
from steelyard.spec.estimate import estimate, searches_seconds
from steelyard.spec.read import both_forms, read_study
from steelyard.spec.shipped import find_study, shipped
from steelyard.spec.trials import trials

STUDY = """
scalability = "{kind}"
workload = "r"
system = {{ kind = "cassandra", limits = {{ cpu = 0.5 }} }}
{load}
[factors]
{factors}
"""
NODES, CLIENTS = "nodes = [2, 3, 4]", "clients = [4, 8]"
BOTH = "both = { zip = { nodes = [2, 3, 4], records = [2000, 3000, 4000], clients = [16, 24, 32] } }"
HALF = "both = { zip = { nodes = [2, 4], clients = [16, 32] } }"


def read(folder: Path, kind: str, factors: str, load: str = "") -> None:
    path = folder / "s.toml"
    path.write_text(STUDY.format(kind=kind, factors=factors, load=load))
    read_study(path)


SHARE = """
[rates.most]
per = []
[load]
target = { of = "most" }
"""


@pytest.mark.parametrize(
    ("kind", "factors", "load"),
    [
        ("SB1", CLIENTS, ""),
        ("SB1", '"load.target.share" = [0.5, 1.0]', SHARE),
        ("SB1", f'{CLIENTS}\nworkload = ["r", "w"]', ""),
        ("SB2", NODES, ""),
        ("SB2", "cpu = [0.2, 0.4]", ""),
        ("SB3", BOTH, ""),
        ("SB3", "nodes = [2]", ""),  # one of its points alone
    ],
)
def test_points_that_do_what_the_type_says(tmp_path: Path, kind: str, factors: str, load: str) -> None:
    read(tmp_path, kind, factors, load)


@pytest.mark.parametrize(
    ("kind", "factors", "words"),
    [
        ("SB1", NODES, "capacity differs between nodes=2 and nodes=3"),
        ("SB1", 'consistency = ["ONE", "ALL"]', "load is the same at all points"),
        ("SB2", CLIENTS, "capacity is the same at all points"),
        ("SB2", BOTH, "load differs between"),
        ("SB3", NODES, "load is the same at all points"),
        ("SB3", HALF, "not from nodes=2 clients=16 to nodes=4 clients=32"),  # as many records on both
    ],
)
def test_points_that_do_not(tmp_path: Path, kind: str, factors: str, words: str) -> None:
    with pytest.raises(InputError, match=f"scalability = '{kind}'") as caught:
        read(tmp_path, kind, factors)
    assert words in caught.value.message


def test_a_type_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="SB4"):
        read(tmp_path, "SB4", CLIENTS)


def test_shipped_studies_of_each_type_have_a_small_form_of_half_an_hour() -> None:
    """By what is assumed before anything is measured, searches for shared rates included."""
    names = [n for n in shipped() if n.startswith("kuhlenkamp-2014/") and "elasticity" not in n]
    smalls = {name: small for name in names if (small := both_forms(find_study(name))[1])}
    assert {small.scalability for small in smalls.values()} >= {"SB1", "SB2", "SB3"}
    for name, small in smalls.items():
        planned = trials(small)
        assert estimate(planned).seconds + searches_seconds(small, planned) < 1800, name
        assert small.deviations, name
        assert small.dropped, name
