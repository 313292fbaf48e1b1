"""Network namespaces of one cluster: a hub with a bridge, and one per node, wired to nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from steelyard.errors import InfrastructureError, MissingToolError

FOLDER = Path("/var/run/netns")


def hub_name(cluster: str) -> str:
    """The namespace the client runs in."""
    return f"sy-{cluster}-hub"


def node_name(cluster: str, number: int) -> str:
    """The namespace of node `number`, from 1."""
    return f"sy-{cluster}-n{number}"


def names(cluster: str, nodes: int) -> list[str]:
    """All namespaces of a cluster, the hub last."""
    return [*(node_name(cluster, n) for n in range(1, nodes + 1)), hub_name(cluster)]


def entered(name: str) -> list[str]:
    """The words before a command that runs in a namespace.

    Not `ip netns exec`, which gives each command mounts of its own: a file system that is unmounted here
    would stay mounted there.
    """
    return ["nsenter", f"--net={FOLDER / name}", "--"]


def make(cluster: str, block: str, nodes: int) -> None:
    """Make the hub (BLOCK.254) and node i (BLOCK.i), joined by a bridge in the hub.

    Raises:
        MissingToolError: there is no `ip`.
        InfrastructureError: this user, or this kernel, may not.
    """
    hub = hub_name(cluster)
    _ip("netns", "add", hub)
    _ip("-n", hub, "link", "set", "lo", "up")
    _ip("-n", hub, "link", "add", "br0", "type", "bridge")
    _ip("-n", hub, "addr", "add", f"{block}.254/24", "dev", "br0")
    _ip("-n", hub, "link", "set", "br0", "up")
    for number in range(1, nodes + 1):
        _make_node(hub, node_name(cluster, number), f"{block}.{number}/24")


def _make_node(hub: str, name: str, address: str) -> None:
    port = port_of(name)
    _ip("netns", "add", name)
    _ip("-n", name, "link", "set", "lo", "up")
    # Made inside the hub: the pair is never seen in the machine's own namespace, where another's could have
    # its name.
    _ip("-n", hub, "link", "add", port, "type", "veth", "peer", "name", "e0", "netns", name)
    _ip("-n", hub, "link", "set", port, "master", "br0", "up")
    _ip("-n", name, "addr", "add", address, "dev", "e0")
    _ip("-n", name, "link", "set", "e0", "up")


def port_of(name: str) -> str:
    """A node's port of the bridge in the hub, by the name of its namespace."""
    return f"p{name.rpartition('-n')[2]}"


def cut(cluster: str, name: str) -> None:
    """Let no packet into or out of a node's namespace; its address, and who is inside, stay as they are.

    Raises:
        InfrastructureError: there is no such namespace.
    """
    _ip("-n", hub_name(cluster), "link", "set", port_of(name), "down")


def join(cluster: str, name: str) -> None:
    """Let packets into and out of a node's namespace again; errors as `cut`."""
    _ip("-n", hub_name(cluster), "link", "set", port_of(name), "up")


def why_not() -> str:
    """Why this user cannot have namespaces here; empty when nothing speaks against it."""
    if missing := [tool for tool in ("ip", "nsenter") if not shutil.which(tool)]:
        return f"no `{missing[0]}` program (iproute2, util-linux)"
    return "" if os.geteuid() == 0 else "needs root"


def remove(name: str) -> None:
    """Remove one namespace of ours, if it is there."""
    if (FOLDER / name).exists():
        with suppress(InfrastructureError):
            _ip("netns", "del", name)


def _ip(*words: str) -> None:
    if not shutil.which("ip"):
        raise MissingToolError("no `ip` program", hint='install iproute2, or use network = "loopback"')
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise InfrastructureError(
            f"`ip {' '.join(words)}` failed: {done.stderr.strip()}",
            hint='network namespaces need root; network = "loopback" needs nothing',
        )
