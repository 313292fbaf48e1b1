"""YCSB's property files, and the ones that are shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import InputError
from steelyard.spec.draft import Draft
from steelyard.spec.expand import expand
from steelyard.spec.models import Study
from steelyard.spec.trials import mean_field_length
from steelyard.spec.workload import CORE
from steelyard.spec.workloads import find_workload

SHIPPED = Path(__file__).parents[2] / "workloads"


def study(path: Path) -> Study:
    draft = Draft()
    draft.put_all(*find_workload(str(path), "-w"))
    draft.put(("name",), "x", "")
    draft.put(("system",), {"kind": "null"}, "")
    return expand(draft)


def written(folder: Path, text: str) -> Path:
    path = folder / "w"
    path.write_text(text)
    return path


@pytest.mark.parametrize("letter", sorted(CORE))
def test_the_shipped_files_are_the_workloads_of_that_letter(letter: str) -> None:
    found = study(SHIPPED / f"workload{letter}")
    core = CORE[letter]
    assert found.workload.mix == core.mix
    assert found.workload.request.kind == core.request.kind
    assert found.workload.request.compat == "ycsb"
    assert (found.workload.records, found.load.operations) == (1000, 1000)
    assert (found.workload.key, found.workload.fields) == (core.key, core.fields)
    if core.mix.scan:
        assert found.workload.scan_length == core.scan_length


def test_every_shipped_file_has_a_letter() -> None:
    assert {path.name for path in SHIPPED.iterdir()} == {f"workload{letter}" for letter in CORE}


def test_the_workloads_of_rabl_have_records_of_75_bytes() -> None:
    settings, _ = find_workload("rsw", "-w")
    key, fields = settings["workload"]["key"], settings["workload"]["fields"]
    assert len("user") + key["zero_padding"] + fields["count"] * fields["length"]["length"] == 75


def test_what_is_left_out_keeps_ycsbs_default(tmp_path: Path) -> None:
    found = study(written(tmp_path, "# nothing\n\n! nothing\n")).workload
    assert (found.mix.read, found.mix.update) == (0.95, 0.05)
    assert found.request.kind == "uniform"
    assert found.scan_length.max == 1000  # type: ignore[union-attr]


def test_every_property_with_an_equivalent(tmp_path: Path) -> None:
    text = """
recordcount = 5
operationcount: 6
maxexecutiontime 7
threadcount=8
target=9
table=t
fieldcount=3
fieldnameprefix=f
fieldlength=20
minfieldlength=2
fieldlengthdistribution=uniform
readallfields=false
writeallfields=true
dataintegrity=true
requestdistribution=hotspot
hotspotdatafraction=0.1
hotspotopnfraction=0.9
zeropadding=10
insertorder=ordered
"""
    found = study(written(tmp_path, text))
    load, w = found.load, found.workload
    assert (w.records, load.operations, load.duration_s, load.clients, load.target) == (5, 6, 7, 8, 9)
    assert (w.table, w.fields.count, w.fields.prefix) == ("t", 3, "f")
    assert (w.fields.length.min, w.fields.length.max) == (2, 20)  # type: ignore[union-attr]
    assert (w.read_all_fields, w.write_all_fields) == (False, True)
    assert w.request.data_fraction == 0.1  # type: ignore[union-attr]
    assert (w.key.order, w.key.zero_padding) == ("ordered", 10)


def test_exponential(tmp_path: Path) -> None:
    text = "requestdistribution=exponential\nexponential.percentile=90\nexponential.frac=0.5\n"
    request = study(written(tmp_path, text)).workload.request
    assert (request.kind, request.percentile, request.fraction) == ("exponential", 90, 0.5)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nrecordcont=5", "w:2: unknown property 'recordcont' (did you mean 'recordcount'?)"),
        ("recordcount=five", "w:1: recordcount = 'five' is not a whole number"),
        ("readproportion=half", "w:1: readproportion = 'half' is not a number"),
        ("readallfields=yes", "w:1: readallfields = 'yes' is not true or false"),
        ("requestdistribution=zipfan", "w:1: requestdistribution = 'zipfan' is unknown (did you mean"),
        ("fieldlengthdistribution=normal", "w:1: fieldlengthdistribution = 'normal' is unknown"),
        ("fieldlengthdistribution=histogram", "w:1: fieldlengthhistogram hist.txt cannot be read"),
        ("insertstart=5", "w:1: insertstart has no equivalent"),
        ("=5", "w:1: '=5' is no property; expected name=value"),
        ("recordcount=0", "w:1: workload.records = 0 should be greater than or equal to 1"),
        ("readproportion=-1", "w:1: workload.mix.read = -1.0 should be greater than or equal to 0"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        study(written(tmp_path, text + "\n"))
    assert caught.value.message.replace(f"{tmp_path}/", "").startswith(message)


def test_a_histogram_of_field_lengths(tmp_path: Path) -> None:
    file = tmp_path / "hist"
    file.write_text("BlockSize\t10\n0\t3\n1\t0\n2\t1\n")
    text = f"fieldlengthdistribution=histogram\nfieldlengthhistogram={file}\n"
    found = study(written(tmp_path, text))
    length = found.workload.fields.length
    assert length.weights == ((10, 3), (30, 1))  # type: ignore[union-attr]
    assert mean_field_length(found.workload) == 15
    file.write_text("10\t3\n")
    with pytest.raises(InputError, match="hist is no histogram of field lengths"):
        study(written(tmp_path, text))


def test_zero_is_unlimited(tmp_path: Path) -> None:
    load = study(written(tmp_path, "operationcount=5\ntarget=0\nmaxexecutiontime=0\n")).load
    assert (load.operations, load.target, load.duration_s) == (5, None, None)


def test_a_toml_workload(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('records = 9\nmix = { read = 1 }\n[request]\nkind = "zipfian"\ntheta = 0.5\n')
    assert study(path).workload.name == "mine"
    path.write_text("records = 9\nmix = { raed = 1 }\n")
    with pytest.raises(InputError, match=r"mine.toml:2: unknown key 'raed' in workload.mix"):
        study(path)
