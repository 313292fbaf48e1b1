"""A cluster of servers that sleep, over machines: a program that tells once a second who of them is dead.

Words: the machines as of `--ssh`, the private key, a folder.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from test_server_hosts import Spread

from steelyard.cli.load_hosts import end_leftovers, workers
from steelyard.cli.server_hosts import server_hosts
from steelyard.hosts.remote.addresses import addresses
from steelyard.spec.local import LocalSystem

ssh, key, folder = sys.argv[1:]
with workers(addresses(ssh), Path(key), None) as found:
    end_leftovers(found.hosts)
    hosts = server_hosts(found.hosts)
    system = LocalSystem(kind="stand-in", nodes=len(found.hosts))
    cluster = Spread(system, name="sleeping", root=Path(folder), host=hosts)
    cluster.up(print)
    print("up", flush=True)
    while True:
        for death in cluster.dead():
            print(f"dead: {death.server}: {death.why}", flush=True)
        time.sleep(1.0)
