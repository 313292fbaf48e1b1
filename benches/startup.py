"""How long a cluster takes to serve: brought up and down in turns, with the CPU its servers used meanwhile.

    python benches/startup.py [--rounds 3] SYSTEM [SYSTEM ...]

SYSTEM is a JSON object such as '{"kind": "hbase", "nodes": 3, "profile": "quick"}'. A round before the
counted ones fetches the version and makes what later starts reuse. Three quick nodes are to serve within
20 s (Cassandra) and 45 s (HBase) on two idle cores.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

import psutil
from pydantic import TypeAdapter

from steelyard.spec.systems import System
from steelyard.systems import create


def start(settings: dict[str, Any]) -> tuple[float, float]:
    """Seconds until the cluster serves, and CPU seconds of its servers by then."""
    system: System = TypeAdapter(System).validate_python(settings)
    with tempfile.TemporaryDirectory() as root:
        testbed: Any = create(system, name=f"startup-{os.getpid()}", root=Path(root))
        try:
            testbed.up(lambda _: None)
            pids = [pid for target in testbed.targets() for pid in target.pids()]
            cpu = sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)
            return testbed.up_seconds, cpu
        finally:
            testbed.down(lambda _: None)


def main() -> None:
    """Parse words, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("systems", nargs="+", type=json.loads, metavar="SYSTEM")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    rounds = [[start(system) for system in asked.systems] for _ in range(asked.rounds + 1)][1:]
    print(f"load of the machine {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    for place, system in enumerate(asked.systems):
        seconds, cpu = zip(*(found[place] for found in rounds), strict=True)
        told = f"{statistics.median(seconds):.1f} s ({min(seconds):.1f} to {max(seconds):.1f})"
        print(f"{json.dumps(system)}: {told}, {statistics.median(cpu):.1f} s of CPU")


if __name__ == "__main__":
    main()
