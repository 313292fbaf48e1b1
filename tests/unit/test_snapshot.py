"""Kept data: what is shared and what is copied, that nothing has changed, that nothing is half there."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest

from steelyard.errors import InfrastructureError, InputError
from steelyard.hosts import clusters, network
from steelyard.hosts.files import LocalFiles
from steelyard.hosts.snapshots import Rules, Snapshot, checksums, files, store
from steelyard.hosts.snapshots.checksums import SnapshotChangedError
from steelyard.systems.cassandra import data as cassandra
from steelyard.systems.hbase import data as hbase
from steelyard.systems.restorable import difference

PYTHON = Path(__file__).parents[2] / "python"
NODES = ("node1", "node2")
TABLE = "data/ycsb/usertable-1b255f4def2540a6"
CONTENT = {
    f"{TABLE}/nb-1-big-Data.db": "rows",
    f"{TABLE}/nb-1-big-Statistics.db": "figures",
    "data/system/local-7ad54392bcdd35a6/nb-1-big-Data.db": "host id",
    "commitlog/CommitLog-7-1.log": "log",
    "conf/cassandra.yaml": "no data",
}


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a stopped cluster; snapshots go to a state folder of the test's own."""
    monkeypatch.setenv("STEELYARD_STATE", str(tmp_path / "state"))
    for node in NODES:
        for name, content in CONTENT.items():
            path = tmp_path / "nodes" / node / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{content} of {node}")
        (tmp_path / "nodes" / node / "hints").mkdir()
    return tmp_path / "nodes"


def about(key: str = "k1", block: str = "127.10.7") -> Snapshot:
    load = {"id": "0a", "created": "2026-01-02T03:04:05Z", "records": 10, "seconds": 2.5, "run": "r"}
    return Snapshot(key, "cassandra", "loaded", block, NODES, load, {"seed": 1}, {"node1": {"host_id": "x"}})


def keep(cluster: Path, key: str = "k1") -> Snapshot:
    return store.keep(about(key), cluster, cassandra.RULES)


def names(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("path", "shared"),
    [
        (f"{TABLE}/nb-1-big-Data.db", True),
        (f"{TABLE}/me-12-big-Index.db", True),
        (f"{TABLE}/da-3-bti-Partitions.db", True),
        (f"{TABLE}/da-3-bti-Rows.db", True),
        (f"{TABLE}/nb-1-big-CompressionInfo.db", True),
        (f"{TABLE}/nb-1-big-Statistics.db", False),  # rewritten when a repair or a level changes
        (f"{TABLE}/nb-1-big-Summary.db", False),
        (f"{TABLE}/nb-1-big-Filter.db", False),
        (f"{TABLE}/nb-1-big-TOC.txt", False),
        (f"{TABLE}/nb_txn_flush_f0.log", False),
        (f"{TABLE}/backups/nb-1-big-Data.db", False),
        ("data/system_schema/tables-af/nb-1-big-Data.db", False),
        ("data/system/local-7a/nb-1-big-Data.db", False),
        ("commitlog/CommitLog-7-1.log", False),
    ],
)
def test_what_cassandra_never_writes_again(path: str, shared: bool) -> None:
    assert cassandra.written_once(PurePosixPath(path)) is shared


@pytest.mark.parametrize(
    ("path", "shared"),
    [
        ("data/current/BP-1/current/finalized/subdir0/subdir0/blk_1073741825", True),
        ("data/current/BP-1/current/finalized/subdir0/subdir0/blk_1073741825_1001.meta", True),
        ("data/current/BP-1/current/rbw/blk_1073741826", False),
        ("data/current/BP-1/current/VERSION", False),
        ("data/current/VERSION", False),
        ("data/current/BP-1/scanner.cursor", False),
        ("namenode/current/fsimage_0000000000000000000", False),
        ("namenode/current/edits_inprogress_0000000000000000001", False),
        ("zookeeper/version-2/log.1", False),
    ],
)
def test_what_hdfs_never_writes_again(path: str, shared: bool) -> None:
    assert hbase.written_once(PurePosixPath(path)) is shared


def test_a_lock_is_not_kept() -> None:
    assert hbase.RULES.left_out(PurePosixPath("data/in_use.lock"))
    assert not hbase.RULES.left_out(PurePosixPath("data/current/VERSION"))


def test_files_are_shared_or_copied_and_come_back(cluster: Path, tmp_path: Path) -> None:
    kept = keep(cluster)
    assert names(kept.folder) == {
        "snapshot.json", "CHECKSUMS", *(f"{n}/{c}" for n in NODES for c in CONTENT if "conf" not in c),
    }  # fmt: skip
    assert (kept.folder / "node2" / "hints").is_dir()

    def inode(root: Path, name: str) -> int:
        return (root / "node1" / name).stat().st_ino

    same = {name: inode(cluster, name) == inode(kept.folder, name) for name in CONTENT if "conf" not in name}
    assert {name for name, shared in same.items() if shared} == {f"{TABLE}/nb-1-big-Data.db"}
    target = tmp_path / "again"
    copied = files.place(kept.tree(cassandra.RULES), kept.folder, target)
    assert copied == kept.bytes - 2 * len("rows of node1")
    assert {name: (target / name).read_text() for name in names(target)} == {
        name: (cluster / name).read_text() for name in names(target)
    }
    (target / "node1" / "commitlog" / "CommitLog-7-1.log").write_text("written after the restore")
    (target / "node1" / TABLE / "nb-1-big-Data.db").unlink()  # as a compaction does
    kept.check()


def test_what_cannot_be_linked_is_copied(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    kept = keep(cluster)
    assert (kept.folder / "node1" / TABLE / "nb-1-big-Data.db").stat().st_nlink == 1
    kept.check()


def damage(name: str, change: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda root: change(root / name)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (damage(f"node2/{TABLE}/nb-1-big-Data.db", lambda p: p.write_text("rowz of node2")), "other content"),
        (damage("node1/commitlog/CommitLog-7-1.log", lambda p: p.unlink()), "1.log is missing"),
        (damage("node1/commitlog/CommitLog-7-2.log", lambda p: p.touch()), "2.log was not there"),
        (damage("CHECKSUMS", lambda p: p.write_text("")), "was not there"),
        (damage("CHECKSUMS", lambda p: p.unlink()), "cannot be checked"),
    ],
)
def test_a_changed_snapshot_is_refused(cluster: Path, change: Callable[[Path], object], told: str) -> None:
    kept = keep(cluster)
    kept.check()
    change(kept.folder)
    with pytest.raises(SnapshotChangedError, match=told) as caught:
        kept.check()
    assert f"snapshots rm {kept.key}" in str(caught.value.hint)


def test_the_list_is_that_of_b2sum(cluster: Path) -> None:
    kept = keep(cluster)
    done = subprocess.run(
        ["b2sum", "-c", "--strict", "CHECKSUMS"], cwd=kept.folder, capture_output=True, check=False
    )
    assert (done.returncode, done.stdout.count(b": OK")) == (0, kept.files)


def test_what_is_written_is_what_is_read(cluster: Path) -> None:
    kept = keep(cluster)
    assert store.get("k1") == kept == store.find("k1")
    assert (kept.files, kept.load["records"], kept.nodes) == (2 * (len(CONTENT) - 1), 10, NODES)
    assert store.find("k2") is None
    (kept.folder / "snapshot.json").write_text("{")
    with pytest.raises(SnapshotChangedError, match="cannot be read"):
        store.find("k1")
    store.remove("k1")  # also one that cannot be read
    assert store.listed() == []


def test_who_comes_second_gets_what_is_there(cluster: Path) -> None:
    first = keep(cluster)
    (cluster / "node1" / "commitlog" / "CommitLog-7-1.log").write_text("of another load")
    assert keep(cluster) == first
    first.check()


def test_nothing_is_left_where_there_is_no_room(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "SPARE_BYTES", 1 << 62)
    with pytest.raises(InfrastructureError, match="MiB left") as caught:
        keep(cluster)
    assert "snapshots rm" in str(caught.value.hint)
    assert store.listed() == []
    assert not list(store.folder().glob("*partial*"))


def test_shared_files_need_no_room(cluster: Path, tmp_path: Path) -> None:
    tree = files.scan(cluster, NODES, cassandra.RULES)
    assert tree.bytes - tree.copied_bytes(linkable=True) == 2 * len("rows of node1")
    assert tree.copied_bytes(linkable=False) == tree.bytes
    assert files.check_room(tree, cluster, tmp_path / "new" / "deep") == tree.copied_bytes(linkable=True)


def test_a_link_is_no_data(cluster: Path) -> None:
    (cluster / "node1" / "hints" / "elsewhere").symlink_to("/etc")
    with pytest.raises(InfrastructureError, match="neither file nor folder"):
        keep(cluster)


TAKER = """
import os, signal
from pathlib import Path
from steelyard.hosts.snapshots import Snapshot, Rules, checksums, store
checksums.text = lambda _: os.kill(os.getpid(), signal.SIGKILL)
about = Snapshot("k1", "c", "n", "b", ("node1",), {}, {}, {})
store.keep(about, Path(CLUSTER), Rules(("data",), lambda _: True))
"""


def test_a_killed_taker_leaves_nothing(cluster: Path) -> None:
    """Killed after all was copied, before it was complete."""
    code = textwrap.dedent(TAKER).replace("CLUSTER", repr(str(cluster)))
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, env=os.environ | {"PYTHONPATH": str(PYTHON)}
    )
    assert done.returncode == -signal.SIGKILL
    assert [path.name for path in store.folder().glob(".*.partial")] == [".k1.partial"]
    assert store.find("k1") is None
    assert store.listed() == []
    assert not list(store.folder().glob(".*.partial"))
    keep(cluster).check()


def test_one_in_use_is_not_removed(cluster: Path) -> None:
    kept = keep(cluster)
    with kept.held(), kept.held(), pytest.raises(InfrastructureError, match="in use"):  # two trials at once
        store.remove("k1")
    store.remove("k1")
    with pytest.raises(InfrastructureError, match="has been removed"), kept.held():
        pass
    with pytest.raises(InputError, match="no snapshot 'k1'"):
        store.remove("k1")


def test_a_partial_that_is_being_written_is_left_alone(cluster: Path) -> None:
    keep(cluster)
    partial = store.folder() / ".k2.partial"
    partial.mkdir()
    with (store.folder() / ".k2.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert store.listed() == ["k1"]
        assert partial.exists()
    assert store.listed() == ["k1"]
    assert not partial.exists()


def test_their_addresses_are_left_to_them(cluster: Path) -> None:
    keep(cluster)
    assert store.blocks() == {"127.10.7"}
    wanted = {f"127.10.{n}" for n in range(256)} - {"127.10.9"}
    assert network.free_block(["127.10.0"], namespaced=False, wanted={"127.10.1"}) == "127.10.2"
    assert network.free_block([], namespaced=False, wanted=wanted) == "127.10.9"
    assert network.free_block(["127.10.9"], namespaced=False, wanted=wanted) == "127.10.0"


def test_it_goes_to_its_own_addresses_or_nowhere(cluster: Path, tmp_path: Path) -> None:
    kept = keep(cluster)
    free = clusters.Claim("free", "cassandra", tmp_path / "free", 2, stays=False)
    again = replace(free, name="again", root=tmp_path / "again", block=kept.block)
    assert clusters.claim(free).block == "127.10.0"
    assert clusters.claim(again).block == "127.10.7"
    with pytest.raises(InfrastructureError, match="but cluster again has them") as caught:
        clusters.claim(replace(again, name="third"))
    assert "cluster down again" in str(caught.value.hint)


def test_differences_in_words() -> None:
    then = {"node1": {"host_id": "a", "tables": {"t": {"files": 3}}}}
    assert difference(then, {"node1": {"host_id": "a", "tables": {"t": {"files": 3}}}}) == ""
    assert difference(then, {"node1": {"host_id": "b"}}) == "node1 host_id was a, is b"
    changed = {"node1": {"host_id": "a", "tables": {"t": {"files": 4}}}}
    assert difference(then, changed) == "node1 tables t files was 3, is 4"
    assert difference(then, {**then, "node2": {"x": 1}}).startswith("node2 was None")
    assert difference(then, {}).startswith("node1 was {'host_id'")


def test_a_set_of_texts() -> None:
    cell = b"\0\0\0\2" + b"\0\0\0\2-9" + b"\0\0\0\1" + b"7"
    assert cassandra.texts(cell) == ["-9", "7"]
    assert cassandra.texts(b"") == []


def test_tables_of_a_node(cluster: Path) -> None:
    found = cassandra.tables(LocalFiles().list(cluster / "node1" / "data", "*/*/*"))
    assert found == {"ycsb/usertable": {"sstables": 1, "files": 1, "bytes": len("rows of node1")}}


FSCK = """Connecting to namenode via http://127.10.0.4:9870/fsck
FSCK started by root (auth:SIMPLE) from /127.0.0.1 for path /hbase/data at Sat Nov 21

/hbase/data <dir>
/hbase/data/default/usertable/.tabledesc/.tableinfo.0000000001.635 635 bytes, replicated: replication=3, 1 block(s):  OK
/hbase/data/default/usertable/1b255f4def2540a61b255f4def2540a6/.regioninfo 43 bytes, replicated: replication=3, 1 block(s):  OK
/hbase/data/default/usertable/1b255f4def2540a61b255f4def2540a6/family/aa255f4def2540a61b255f4def2540a6 4711 bytes, replicated: replication=3, 1 block(s):  OK
/hbase/data/default/usertable/1b255f4def2540a61b255f4def2540a6/family/ab255f4def2540a61b255f4def2540a6 9422 bytes, replicated: replication=3, 1 block(s):  OK
/hbase/data/default/usertable/1b255f4def2540a61b255f4def2540a6/recovered.edits/5.seqid 0 bytes, replicated: replication=3, 0 block(s):  OK
/hbase/data/hbase/meta/1588230740/info/bb255f4def2540a61b255f4def2540a6 99 bytes, replicated: replication=3, 1 block(s):  OK
Status: HEALTHY
The filesystem under path '/hbase/data' is HEALTHY
"""  # noqa: E501 - as HDFS prints it


def test_store_files_of_users_tables_that_no_compaction_has_replaced() -> None:
    listed = {found["path"]: int(found["size"]) for found in hbase.FILE.finditer(FSCK)}
    used = {"aa255f4def2540a61b255f4def2540a6", "bb255f4def2540a61b255f4def2540a6"}
    assert len(listed) == 6
    assert hbase.store_files(listed, used) == {"default/usertable": {"files": 1, "bytes": 4711}}


def test_rules_keep_what_they_name(tmp_path: Path) -> None:
    (tmp_path / "n" / "a").mkdir(parents=True)
    (tmp_path / "n" / "a" / "one").write_text("1")
    (tmp_path / "n" / "a" / "lock").write_text("2")
    (tmp_path / "n" / "b").mkdir()
    rules = Rules(("a", "missing"), lambda _: False, lambda path: path.name == "lock")
    tree = files.scan(tmp_path, ["n"], rules)
    assert (tree.folders, [f.path for f in tree.files], tree.bytes) == (("n/a",), ["n/a/one"], 1)


def test_the_digest_is_blake2b(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    said = subprocess.run(
        ["b2sum", "-l", "256", "f"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert checksums.text({"f": checksums.digest(tmp_path / "f")}) == said.stdout
