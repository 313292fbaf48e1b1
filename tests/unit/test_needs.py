"""What studies need in their full form, and what small forms do not reach."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli import app
from steelyard.report.across.kept import read_claims
from steelyard.report.needs import Needs, needs_of, page
from steelyard.report.page import render_markdown
from steelyard.spec.read import both_forms, read_study
from steelyard.spec.shipped import find_study, shipped

DOCS = Path(__file__).parents[2] / "docs"
KEPT = sorted((DOCS / "findings").glob("*/claims.json"))


def needs(study: str) -> Needs:
    return needs_of(*both_forms(find_study(study)))


def test_the_page_of_what_paper_scale_needs_is_what_the_command_writes() -> None:
    found = {name: needs_of(*both_forms(path)) for name, path in shipped().items()}
    assert (DOCS / "paper-scale.md").read_text(encoding="utf-8") == render_markdown(page(found))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.parent.name)
def test_what_a_small_form_does_not_reach_is_what_its_run_could_not_judge(path: Path) -> None:
    kept = read_claims(path)
    [study] = [name for name in shipped() if name.replace("/", "-") == path.parent.name]
    beyond = {a.claim.id for a in kept.answers if a.verdict.direction == "range not covered"}
    assert beyond == needs(study).unreached.keys()


def test_nodes_cores_and_memory_are_those_of_the_largest_cluster() -> None:
    """Twelve nodes of four cores and 15 GiB, and HBase's master of as much."""
    found = needs("kuhlenkamp-2014/workload-r")
    assert (found.nodes, found.cores, found.memory_mib) == ((4, 13), 52.0, 13 * 15 * 1024)
    assert "| workload-r | 4 to 13 |" in render_markdown(page({"workload-r": found}))


def test_nodes_in_reserve_are_told_beside_those_that_start() -> None:
    """Six nodes and a master, and six more that join."""
    found = needs("kuhlenkamp-2014/elasticity-hbase")
    assert (found.nodes, found.reserve) == ((7, 7), 6)
    assert "| elasticity-hbase | 7 + 6 |" in render_markdown(page({"elasticity-hbase": found}))


def test_a_folder_s_name_chooses_its_studies(tmp_path: Path) -> None:
    out = tmp_path / "needs.json"
    done = CliRunner().invoke(app, ["studies", "needs", "seis630", "--format", "json", "--out", str(out)])
    assert done.exit_code == 0, done.output
    studies = json.loads(out.read_text())["studies"]
    assert {*studies} == {name for name in shipped() if name.startswith("seis630/")}
    assert all(study["disk_bytes"] > 0 and study["seconds"] > 0 for study in studies.values())


def test_a_name_that_is_neither_is_refused_with_the_nearest() -> None:
    done = CliRunner().invoke(app, ["studies", "needs", "seis360"])
    assert done.exit_code == 2
    assert "seis630" in done.output


def test_figures_of_a_paper_that_a_small_form_is_not_held_to_are_listed() -> None:
    """SEIS 630's means are figures alone; what it says in words has none."""
    found = needs("seis630/workloads")
    asked = {claim.id for claim in read_study(find_study("seis630/workloads")).claims}
    assert found.sizes
    assert {*found.sizes} < asked
    assert f"| seis630/workloads | {', '.join(found.sizes)} |" in render_markdown(
        page({"seis630/workloads": found})
    )
