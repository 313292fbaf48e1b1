"""What watching costs: the CPU of the sampler and of the watched servers, with watching off and on in turns.

    python benches/watching.py [--seconds 20] [--rounds 3] NODE ...

Each node is the process ids of its servers and where they tell their metrics: `PID:HOST:PORT` with an agent
(Cassandra), `PID+PID:regionserver=HOST:PORT,datanode=HOST:PORT` with a /jmx each (HBase; a master's node with
`master` and `namenode`). Prints shares of one core; at most 3 % is allowed for three nodes, lab and servers
together. The servers should be idle otherwise: what they use on their own account is taken off by the rounds
without watching, and its spread is the uncertainty.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from dataclasses import dataclass

from steelyard.watch import Sampler, ask
from steelyard.watch.target import WatchTarget


@dataclass(frozen=True)
class Round:
    """Shares of one core during one round."""

    servers: float
    lab: float
    sampler: float
    agents: float


def process_cpu_s(pid: int) -> float:
    """CPU seconds of a process so far, from its own clock (nanoseconds, not ticks)."""
    return time.clock_gettime((~pid << 3) | 2)


def agents_cpu_s(targets: list[WatchTarget]) -> float:
    """CPU seconds that the agents say they have used."""
    answers = [ask(target.agent, "metrics")["metrics"] for target in targets if target.agent]
    return float(sum(answer["server_agent_cpu_seconds_total"] for answer in answers))


def measure(targets: list[WatchTarget], seconds: float, *, watched: bool) -> Round:
    """One round of `seconds`, watched or not."""
    pids = [pid for target in targets for pid in pids_of(target)]
    sampler = Sampler(targets, dict, os.getpid(), pids_of)
    agents = agents_cpu_s(targets)
    servers, lab, began = sum(map(process_cpu_s, pids)), process_cpu_s(os.getpid()), time.monotonic()
    if watched:
        sampler.start()
    time.sleep(seconds)
    sampler.stop()
    elapsed = time.monotonic() - began
    servers, lab = sum(map(process_cpu_s, pids)) - servers, process_cpu_s(os.getpid()) - lab
    agents = agents_cpu_s(targets) - agents
    if watched:
        unanswered = {what: why for what, why in sampler.missing.items() if "server_*" in what}
        print(f"  {sampler.frame().height / elapsed:.0f} values a second; unanswered: {unanswered or 'none'}")
    return Round(servers / elapsed, lab / elapsed, sampler.cost()["cpu_seconds"] / elapsed, agents / elapsed)


def main() -> None:
    """Alternate rounds without and with watching, then print medians and how far the pairs lie apart."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("nodes", nargs="+", metavar="NODE")
    parser.add_argument("--warm", type=float, default=5.0, help="seconds of watching before the first round")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    targets = [target(word) for word in given.nodes]
    measure(targets, given.warm, watched=True)  # the code that answers gets compiled
    rounds: dict[bool, list[Round]] = {False: [], True: []}
    for number in range(2 * given.rounds):
        watched = number % 2 == 1
        rounds[watched].append(measure(targets, given.seconds, watched=watched))
        print(f"watched={watched}: {rounds[watched][-1]}")
    for name in ("servers", "lab", "sampler", "agents"):
        off, on = ([getattr(one, name) for one in rounds[watched]] for watched in (False, True))
        pairs = [after - before for before, after in zip(off, on, strict=True)]
        print(
            f"{name:8} off {statistics.median(off):7.3%} on {statistics.median(on):7.3%}"
            f" watching {statistics.median(pairs):+7.3%} of a core"
            f" (pairs {min(pairs):+.3%} to {max(pairs):+.3%})"
        )


def pids_of(target: WatchTarget) -> list[int]:
    """The processes of a node, which its name tells."""
    return [int(number) for number in target.name.removeprefix("node-").split("+")]


def target(word: str) -> WatchTarget:
    """A word of the command line as a node."""
    numbers, _, told = word.partition(":")
    if "=" not in told:
        host, port = told.split(":")
        return WatchTarget(name=f"node-{numbers}", agent=(host, int(port)))
    servers = [server.replace("=", ":").split(":") for server in told.split(",")]
    jmx = tuple((role, host, int(port)) for role, host, port in servers)
    return WatchTarget(name=f"node-{numbers}", jmx=jmx)


if __name__ == "__main__":
    main()
