"""A machine as the laboratory sees it: all that is done on one goes through `Host`.

Arguments and results are values that can be sent to another machine; a path is one of the host's. Nothing
else opens a node's files, reads /proc or signals a process. `LocalHost` is this machine.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from steelyard.errors import InfrastructureError
from steelyard.hosts.artifacts import Jars
from steelyard.hosts.cgroup import DiskRates, Group
from steelyard.hosts.clusters import Claim
from steelyard.hosts.files import Entry
from steelyard.hosts.java import Java
from steelyard.hosts.network import Endpoint
from steelyard.hosts.process import Identity, Seen
from steelyard.hosts.recipes import Recipe
from steelyard.hosts.records import Record
from steelyard.hosts.snapshots import Restored, Rules, Snapshot
from steelyard.spec.local import NodeLimits
from steelyard.watch.target import WatchTarget

if TYPE_CHECKING:
    import polars as pl


class HostLostError(InfrastructureError):
    """A machine's worker has ended, or cannot be reached; it does not come back."""


@dataclass(frozen=True)
class Command:
    """A server to be started.

    Attributes:
        cluster, server: under which names it is recorded; a server is "NODE" or "NODE/ROLE".
        words: its command.
        folder: its working directory.
        log: what it prints is appended here.
        group: it runs in this control group from its first instruction on.
        namespace: its network namespace, if it has one.
        environment: variables beside the host's own.
        timer_slack_us: of its threads (prctl, PR_SET_TIMERSLACK); None = the kernel's.
    """

    cluster: str
    server: str
    words: Sequence[str]
    folder: Path
    log: Path
    group: Group = field(default_factory=Group)
    namespace: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    timer_slack_us: int | None = None


@dataclass(frozen=True)
class Abilities:
    """What a host can do.

    Attributes:
        cores: processors of the machine.
        groups: version of its control groups, "1", "2" or "none".
    """

    cores: int
    groups: str


class Watch(Protocol):
    """Sampling under way; see `watch.Sampler`."""

    @property
    def missing(self) -> Mapping[str, str]:
        """`SOURCE.WHAT` -> why it could not be had, or not at every sample."""
        ...

    def retarget(self, targets: Sequence[WatchTarget]) -> None:
        """Watch these nodes from the next sample on, without a gap for those that are watched already."""
        ...

    def sample_from(self, t_ns: int) -> None:
        """Sample at this time, of the caller's clock, and every period from then on."""
        ...

    def latest(self, source: str, metric: str) -> float | None:
        """The newest value of a metric, or None if there is none yet."""
        ...

    def stop(self) -> None:
        """Take a last sample and end; safe to call twice."""
        ...

    def frame(self, start: int = 0) -> pl.DataFrame:
        """What was sampled, from the `start`-th row on, by the clock of its machine; see `watch.Sampler`."""
        ...

    def write(self, path: Path) -> None:
        """Write `system.parquet`, a file of the caller's machine. Raises OSError."""
        ...

    def cost(self) -> Mapping[str, float]:
        """What watching has cost: `cpu_seconds` over `seconds`."""
        ...


class Host(Protocol):
    """A machine. Whatever cannot be done raises InfrastructureError; files raise OSError."""

    # --- the record of what was started there ---

    def end_leftovers(self) -> list[str]:
        """End every cluster there whose owner is gone; returns what to say of it."""
        ...

    def claim(self, asked: Claim) -> Record:
        """Take a cluster's name and addresses, and record them; raises InputError when the name is taken."""
        ...

    def note_nodes(self, cluster: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        """Record what a claimed cluster's nodes are."""
        ...

    def records(self) -> list[Record]:
        """Every cluster that is recorded there."""
        ...

    def take_down(self, cluster: str) -> None:
        """End all servers of a cluster claimed through this host, and what they started; remove all of it."""
        ...

    def end_cluster(self, name: str) -> None:
        """End a cluster there that belongs to nobody who runs; raises InputError when there is none."""
        ...

    # --- processes ---

    def start(self, command: Command) -> Identity:
        """Start a server, recorded before its first instruction; it ends with its owner, if it has one."""
        ...

    def look(self, process: Identity) -> Seen | None:
        """How a process is; None when it has ended."""
        ...

    def signal(self, process: Identity, number: signal.Signals) -> bool:
        """Send a signal to exactly this process; says whether it still runs."""
        ...

    def wait(self, processes: Sequence[Identity], limit_s: float) -> bool:
        """Wait until all have ended, at most `limit_s` seconds; says whether they have."""
        ...

    def exit_status(self, process: Identity) -> int | None:
        """The exit status of a server started through this host; negative is the signal; None: not known."""
        ...

    # --- addresses, control groups, namespaces, mounts: recorded, and removed with their cluster ---

    def abilities(self) -> Abilities:
        """What this host can do."""
        ...

    def check_ports(self, endpoints: Mapping[Endpoint, str]) -> None:
        """See that nothing listens there; each has the setting that moves its port, or ""."""
        ...

    def make_namespaces(self, cluster: str) -> None:
        """Make the network namespaces that the cluster claimed."""
        ...

    def make_group(self, cluster: str, node: str) -> Group:
        """Make a node's control group; what cannot be had is told in it."""
        ...

    def limit_cpu(self, group: Group, cores: float | None) -> None:
        """Set a group's CPU quota; None lifts it."""
        ...

    def limit(self, group: Group, limits: NodeLimits, folder: Path) -> None:
        """Set a group's limits of memory, and of I/O for the disk that `folder` is on."""
        ...

    def mount(self, cluster: str, folder: Path, mib: int) -> None:
        """Mount a new file system of `mib` MiB on a folder that has none; its image lies beside it."""
        ...

    def unmount(self, cluster: str, folder: Path) -> None:
        """Unmount it."""
        ...

    def sync(self, folder: Path) -> None:
        """Have all that is written to a folder's file system reach the disk."""
        ...

    def drop_page_cache(self) -> None:
        """Write what is dirty, then forget every clean page, directory entry and inode of the machine."""
        ...

    # --- what fails as machines do ---

    def lacking(self, folder: Path) -> dict[str, str]:
        """Capability -> why it cannot be had by servers whose files are there."""
        ...

    def partition(self, cluster: str, namespace: str) -> None:
        """Let no packet into or out of a node's namespace."""
        ...

    def heal(self, cluster: str, namespace: str) -> None:
        """Let packets into and out of it again."""
        ...

    def throttle(self, group: Group, rates: DiskRates, folder: Path) -> None:
        """Limit a group's use of the disk that `folder` is on."""
        ...

    def stop_disk(self, folder: Path) -> None:
        """Let nothing reach a mounted folder's disk any more, so that what was not synced is lost."""
        ...

    def start_disk(self, folder: Path) -> None:
        """Mount it again, when nobody uses it any more."""
        ...

    # --- files ---

    def put(self, path: Path, text: str) -> None:
        """Write a file, and make the folders above it."""
        ...

    def put_secret(self, path: Path, content: bytes) -> None:
        """Write a file that its owner alone may read at any time, and make the folders above it."""
        ...

    def get(self, path: Path, start: int = 0) -> bytes:
        """What a file holds from byte `start` on; of a negative `start` the last so many."""
        ...

    def list(self, folder: Path, pattern: str = "**/*") -> list[Entry]:
        """What lies below a folder and matches, sorted; empty when there is no such folder."""
        ...

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it."""
        ...

    def remove(self, path: Path) -> None:
        """Remove a folder with all that is in it, if it is there."""
        ...

    def fetch(self, folder: Path, into: Path) -> None:
        """Copy a folder of the host, if it is there, to the caller's machine."""
        ...

    def snapshot(self, key: str) -> Snapshot | None:
        """The kept data of a key, if there are any; raises SnapshotChangedError."""
        ...

    def keep(self, snapshot: Snapshot, source: Path, rules: Rules) -> Snapshot:
        """Keep the files of a cluster that has stopped, linked where they never change."""
        ...

    def restore(self, snapshot: Snapshot, rules: Rules, into: Path) -> Restored:
        """Put kept files, unchanged, into a new cluster's folder; raises SnapshotChangedError."""
        ...

    def drop_snapshot(self, key: str) -> None:
        """Remove kept data, if they are there."""
        ...

    def check_room(self, beside: Path, needed: int, loaded: int) -> None:
        """See that data can be loaded beside a folder (`needed` bytes), and kept (`loaded`)."""
        ...

    # --- what servers are made of ---

    def java(self, asked: str | None, supported: Sequence[int], what: str) -> Java:
        """The Java to run `what` on; raises InputError, MissingToolError."""
        ...

    def jars(self, name: str) -> Jars | None:
        """Jars that have been fetched, by name."""
        ...

    def fetch_jars(self, name: str, coordinates: Sequence[str], without: Sequence[str] = ()) -> Jars:
        """Fetch published artifacts, and what they need, with Maven; raises InputError, MissingToolError."""
        ...

    def get_member(self, archive: Path, name: str) -> bytes | None:
        """A file out of a jar; None when it has none of that name."""
        ...

    def class_archive(self, java: Java, jars: Sequence[Path]) -> Path | None:
        """The class archive for these jars, if there is one."""
        ...

    def make_class_archive(self, java: Java, jars: Sequence[Path], lists: Sequence[Path]) -> bool:
        """Make it from lists of classes; says whether it is there."""
        ...

    def agent_jar(self) -> Path:
        """The metrics agent; raises MissingToolError."""
        ...

    def copy_made(self, recipe: Recipe, into: Path) -> None:
        """Put a copy of what a recipe makes, once, into a folder that is not there yet."""
        ...

    # --- facts and figures ---

    def facts(self, paths: Sequence[Path]) -> dict[str, Any]:
        """What does not change during a run, for the manifest's `host`, and where each path lies."""
        ...

    def clock_ns(self) -> int:
        """Its CLOCK_MONOTONIC."""
        ...

    def ask_agent(
        self, address: Endpoint, command: str, timeout_s: float = 10.0, namespace: str | None = None
    ) -> dict[str, Any]:
        """Ask a server's agent that listens there one thing; see `watch.agent.AgentClient`."""
        ...

    def watch(
        self,
        targets: Sequence[WatchTarget],
        engines: Mapping[str, int],
        *,
        spool: Path | None = None,
    ) -> Watch:
        """Begin to sample machine, nodes (by their records) and engines (name -> pid), once a second."""
        ...


def said_jars(
    host: Host, name: str, coordinates: Sequence[str], say: Callable[[str], None], without: Sequence[str] = ()
) -> Jars:
    """The jars of a name, fetched where they are not there; that is said before, since it takes a while."""
    if found := host.jars(name):
        return found
    say(f"fetching {name} with Maven")
    return host.fetch_jars(name, coordinates, without)
