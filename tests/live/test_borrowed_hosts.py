"""Workers that others run, on machines of their own: used as hosts, they live on whatever becomes of us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ssh_machines import AHEAD_S, LIMIT_S, RUN, Machines, ended, machines, until_line
from test_many_hosts import OPERATIONS, asked, manifest, run_of

from steelyard.engine.path import find_engine

pytestmark = pytest.mark.beside
PORT = 8786
NS = 1_000_000_000
CLUSTER = """name = "own"
[system]
kind = "null"
[workload]
base = "a"
records = 1000
[load]
operations = 6000
target = 3000
engines = 2
[fleet]
cluster = "own_cluster:OwnCluster"
load_hosts = 2
[fleet.arguments]
folder = "{folder}"
"""


class Dask:
    """A scheduler in the laboratory's network, and a worker on each of two machines, over TLS.

    Args:
        two: the machines.
    """

    def __init__(self, two: Machines) -> None:
        self.two = two
        self.address = f"tls://10.77.0.1:{PORT}"
        self._folder = two.folder / "dask"
        self._folder.mkdir()
        self._running: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        from distributed import Security

        security = Security.temporary()
        for name in ("ca_file", "client_cert", "client_key"):
            (self._folder / name).write_text(getattr(security, f"tls_{name}"))
        self._begin("scheduler", [], ["--host", "10.77.0.1", "--port", str(PORT), "--no-dashboard"])
        for i, address in enumerate(self.two.addresses, 1):
            known = f"UserKnownHostsFile={self.two.folder / '.ssh' / 'known_hosts'}"
            ssh = ["ssh", "-o", known, "-i", str(self.two.key), f"root@{address}", f"cd {self._folder};"]
            files = str(self.two.folder / f"m{i}" / "dask")
            words = ["--no-nanny", "--nthreads", "1", "--no-dashboard", "--local-directory", files]
            self._begin(f"worker-{address}", ssh, [self.address, *words])
        logs = [self._folder / f"worker-{address}.log" for address in self.two.addresses]
        self.two.until(lambda: all("Registered to" in log.read_text() for log in logs))

    def _begin(self, name: str, before: list[str], words: list[str]) -> None:
        kind = name.partition("-")[0]
        tls = ["--tls-ca-file", "ca_file", "--tls-cert", "client_cert", "--tls-key", "client_key"]
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *words, *tls]
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [*self.two.inside(), *before, *command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._folder,
            )  # fmt: skip
        self._running.append(process)

    def stop(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()

    def flags(self) -> list[str]:
        tls = {"ca": "ca_file", "cert": "client_cert", "key": "client_key"}
        files = [
            word for flag, name in tls.items() for word in (f"--scheduler-{flag}", str(self._folder / name))
        ]
        return ["--scheduler", self.address, *files]

    def worker(self, i: int) -> list[str]:
        """Processes of the worker on machine i that others started."""
        return [line for line in self.two.processes(i) if "dask_worker" in line]

    def ours(self, i: int) -> list[str]:
        """What of ours runs there."""
        return [line for line in self.two.processes(i) if "dask_worker" not in line]


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    with machines(2, tmp_path_factory.mktemp("machines"), find_engine().path) as two:
        found = Dask(two)
        try:
            found.start()
            yield found
        finally:
            found.stop()


def bench(dask: Dask, out: Path, *more: str) -> subprocess.Popen[str]:
    load = ["-w", "a", "--records", "1000", "--seed", "7", "--no-report", "--out", str(out)]
    return dask.two.steelyard("bench", "null", *load, *dask.flags(), "--load-hosts", "2", *more)


def test_a_look_at_the_machines_of_a_scheduler(dask: Dask) -> None:
    looking = dask.two.steelyard("hosts", "check", *dask.flags())
    told, error = ended(looking)
    assert looking.returncode == 0, error
    for address in dask.two.addresses:
        assert f"{dask.address}/{address}" in told.replace("\n", "")
    assert sum("/s" in line for line in told.splitlines()) == 2
    assert [dask.ours(i) for i in (1, 2)] == [[], []]


def test_workers_of_others_are_load_hosts_and_live_on(dask: Dask, tmp_path: Path) -> None:
    before = [dask.worker(i) for i in (1, 2)]
    process = bench(dask, tmp_path / "far", "--target", "3000", "--operations", str(OPERATIONS))
    _, error = ended(process)
    assert process.returncode == 0, error
    said = manifest(tmp_path / "far")
    summary = run_of(said)["summary"]
    assert (summary["operations"], len(summary["engines"])) == (OPERATIONS, 2)
    assert sum(asked(summary).values()) == OPERATIONS
    assert [host["name"] for host in said["hosts"]] == [f"{dask.address}/{one}" for one in dask.two.addresses]
    for i, host in enumerate(said["hosts"], 1):
        for measured in host["clock"]["measured"]:
            assert abs(measured["offset_ns"] - i * AHEAD_S * NS) <= measured["bound_ns"] < NS
    assert [dask.ours(i) for i in (1, 2)] == [[], []]
    assert [dask.worker(i) for i in (1, 2)] == before


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_engines_end_with_the_laboratory_and_workers_do_not(
    dask: Dask, tmp_path: Path, how: signal.Signals
) -> None:
    before = [dask.worker(i) for i in (1, 2)]
    process = bench(dask, tmp_path / "one", "--target", "1000", "--duration", "300s")
    until_line(process, RUN)
    assert all(any("steelyard-engine run" in line for line in dask.ours(i)) for i in (1, 2))
    process.send_signal(how)
    process.communicate(timeout=LIMIT_S)
    dask.two.until(lambda: not any(dask.ours(i) for i in (1, 2)))
    assert [dask.worker(i) for i in (1, 2)] == before
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert run_of(manifest(tmp_path / "one"))["reason"] == "stop"


def test_more_hosts_than_machines_are_refused(dask: Dask, tmp_path: Path) -> None:
    refused = dask.two.steelyard(
        "bench", "null", *dask.flags(), "--load-hosts", "3", "--out", str(tmp_path / "x")
    )
    _, error = ended(refused)
    assert refused.returncode == 3
    assert "has 2 workers on 2 machines, and 3 are needed" in error
    assert not (tmp_path / "x").exists()


def test_a_worker_that_ends_takes_its_engine_along(dask: Dask, tmp_path: Path) -> None:
    """The last test of these workers."""
    process = bench(dask, tmp_path / "one", "--target", "1000", "--duration", "5s")
    until_line(process, RUN)
    for line in dask.worker(2):
        os.kill(int(line.split()[0]), signal.SIGKILL)
    _, error = ended(process)
    assert process.returncode == 3
    assert f"the host {dask.address}/{dask.two.addresses[1]} is lost" in error
    assert "--resume RESULT --scheduler ...`" in error
    assert [host["lost_ns"] is None for host in manifest(tmp_path / "one")["hosts"]] == [True, False]
    dask.two.until(lambda: not dask.ours(2))


def own(folder: Path, *more: str) -> subprocess.Popen[str]:
    """A study whose load hosts are of a cluster that is made for it."""
    study, state = folder / "own.toml", folder / "state"
    study.write_text(CLUSTER.format(folder=folder))
    environment = {
        **os.environ, "PYTHONPATH": f"{Path(__file__).parent}", "STEELYARD_STATE": str(state),
        "STEELYARD_CACHE": str(folder / "cache"), "STEELYARD_ENGINE": str(find_engine().path),
    }  # fmt: skip
    words = ["run", str(study), "--no-report", "--fixed", "--out", str(folder / "out"), *more]
    return subprocess.Popen(
        [sys.executable, "-m", "steelyard", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def test_a_cluster_is_made_used_and_closed(tmp_path: Path) -> None:
    process = own(tmp_path)
    _, error = ended(process)
    assert process.returncode == 0, error
    said = manifest(tmp_path / "out")
    assert [host["name"] for host in said["hosts"]] == ["OwnCluster/1", "OwnCluster/2"]
    assert run_of(said)["summary"]["operations"] == OPERATIONS
    assert (tmp_path / "closed").exists()


@pytest.mark.parametrize("how", ["failed", "interrupted"])
def test_a_cluster_is_closed_also_when_nothing_comes_of_it(tmp_path: Path, how: str) -> None:
    more = {"failed": ["fleet.arguments.fails=true"], "interrupted": ["load.operations=600000"]}[how]
    process = own(tmp_path, *(word for one in more for word in ("--set", one)))
    if how == "interrupted":
        until_line(process, RUN)
        process.send_signal(signal.SIGINT)
    _, error = ended(process)
    assert process.returncode == {"failed": 3, "interrupted": 130}[how], error
    assert how == "interrupted" or "there is no room" in error
    assert (tmp_path / "closed").exists()
