"""What a node says of itself, and does, through the agent in it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Self

from steelyard.errors import InfrastructureError
from steelyard.hosts.host import Host
from steelyard.hosts.network import Endpoint
from steelyard.systems.cassandra.node import LocalNode
from steelyard.watch.agent import AgentClient

STORAGE = "org.apache.cassandra.db:type=StorageService"
STREAMED = "org.apache.cassandra.metrics:type=Streaming,name=Total{}Bytes"
ANSWER_S = 5.0
"""For what a node knows at once."""
WHOLE_FILES = "EntireSSTableStreamThroughputMebibytesPerSecAsDouble"


class Inside:
    """A connection to a node's agent, opened when it is first asked.

    Args:
        node: the node.
        port: its agent's.
    """

    def __init__(self, node: LocalNode, port: int) -> None:
        spec, address = node.spec, (node.spec.agent_address, port)
        self._client: AgentClient | _FarAgent = (
            _FarAgent(node.host, address)
            if spec.host
            else AgentClient(address, timeout_s=ANSWER_S, namespace=spec.namespace)
        )

    def mode(self) -> str:
        """What it is doing in the ring, e.g. "JOINING", "NORMAL"; empty while it does not tell."""
        return str(self._told(STORAGE, "OperationMode") or "")

    def live(self) -> frozenset[str]:
        """The addresses of nodes that it counts as up, its own included; none while it does not tell."""
        told = self._told(STORAGE, "LiveNodes") or ()
        return frozenset(str(one).lstrip("/").partition(":")[0] for one in told)

    def joining(self) -> frozenset[str]:
        """The addresses of nodes that it has been told are joining; none while it does not tell."""
        told = self._told(STORAGE, "JoiningNodes") or ()
        return frozenset(str(one).lstrip("/").partition(":")[0] for one in told)

    def unreachable(self) -> frozenset[str] | None:
        """The addresses of nodes that it counts as down; None while it does not tell."""
        told = self._told(STORAGE, "UnreachableNodes")
        return None if told is None else frozenset(str(one).lstrip("/").partition(":")[0] for one in told)

    def hosts(self) -> dict[str, str]:
        """Address -> host id of every node it knows."""
        return dict(self.operate("status")["EndpointToHostId"])

    def received(self) -> int:
        """Bytes that have been streamed to it since its start."""
        return int(self._told(STREAMED.format("Incoming"), "Count") or 0)

    def sent(self) -> int:
        """Bytes that it has streamed to others since its start."""
        return int(self._told(STREAMED.format("Outgoing"), "Count") or 0)

    def held(self) -> int:
        """Bytes of users' tables that it has, in memory and in files."""
        metrics = self._client.ask("metrics")["metrics"]
        return int(metrics.get("server_live_disk_bytes", 0) + metrics.get("server_memtable_data_bytes", 0))

    def stream_limit(self) -> tuple[int, int | None]:
        """What it may stream to others in Mbit/s, and whole files in MiB/s if they have a limit apart."""
        whole = self._told(STORAGE, WHOLE_FILES)
        mbit = self._asked(STORAGE, "StreamThroughputMbPerSec")
        return int(mbit), None if whole is None else round(whole)

    def limit_streams(self, mbit: int, whole_mib: int | None = None) -> None:
        """What it may stream to others in Mbit/s, and of whole files in MiB/s; 0 lifts a limit."""
        self.operate("streamthroughput", str(mbit), *([] if whole_mib is None else [str(whole_mib)]))

    def compaction_limit(self) -> int:
        """What its compactions may write, in MiB/s; 0 = as much as they can."""
        return int(self._asked(STORAGE, "CompactionThroughputMbPerSec"))

    def operate(self, *words: str, timeout_s: float | None = None) -> Any:
        """Have an operation done; returns what it gives.

        Raises:
            InfrastructureError: it was refused, failed, or took longer.
        """
        return self._client.ask(" ".join(("operation", *words)), timeout_s)["value"]

    def _told(self, name: str, attribute: str) -> Any:
        with suppress(InfrastructureError):
            return self._asked(name, attribute)
        return None

    def _asked(self, name: str, attribute: str) -> Any:
        return self._client.ask(f"read {name} {attribute}")["value"]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()


class _FarAgent:
    """An agent that answers its own machine alone: that one asks."""

    def __init__(self, host: Host, address: Endpoint) -> None:
        self._host, self._address = host, address

    def ask(self, command: str, timeout_s: float | None = None) -> dict[str, Any]:
        """As `AgentClient.ask`."""
        return self._host.ask_agent(self._address, command, timeout_s or ANSWER_S)

    def close(self) -> None:
        """Nothing is open."""
