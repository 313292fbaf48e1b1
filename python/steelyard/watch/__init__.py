"""Watching: once a second, what machine, nodes, engine and lab used, and what each server says of itself.

A `Sampler` reads `/proc`, control groups and the servers' agents or `/jmx` on one thread and hands back the
long table of `system.parquet`. `host_facts` is what does not change during a run. `agent_jar` and `ask` are
the way into a server that carries the agent. Nothing here starts, stops or limits anything; that is the
testbed's.
"""

from steelyard.watch.agent import AgentClient, ask
from steelyard.watch.host import host_facts
from steelyard.watch.jar import agent_jar
from steelyard.watch.sampler import Sampler

__all__ = ["AgentClient", "Sampler", "agent_jar", "ask", "host_facts"]
