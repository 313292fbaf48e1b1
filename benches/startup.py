"""How long a cluster takes to serve: brought up again and again, with the CPU its servers used meanwhile.

    python benches/startup.py [--rounds 3] SYSTEM [FLAGS of `steelyard bench`]

For example `hbase --nodes 3 --profile quick`. A round before the
counted ones fetches the version and makes what later starts reuse. Three quick nodes are to serve within
20 s (Cassandra) and 45 s (HBase) on two idle cores.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

import psutil
from words import study_of

from steelyard.spec.systems import System
from steelyard.systems import create


def start(system: System) -> tuple[float, float]:
    """Seconds until the cluster serves, and CPU seconds of its servers by then."""
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
    parser.add_argument("--rounds", type=int, default=3)
    asked, words = parser.parse_known_args()
    system = study_of(words).system
    seconds, cpu = zip(*[start(system) for _ in range(asked.rounds + 1)][1:], strict=True)
    print(f"load of the machine {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    told = f"{statistics.median(seconds):.1f} s ({min(seconds):.1f} to {max(seconds):.1f})"
    print(f"{' '.join(words)}: {told}, {statistics.median(cpu):.1f} s of CPU")


if __name__ == "__main__":
    main()
