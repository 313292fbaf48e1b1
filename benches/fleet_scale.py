"""What many hosts cost the laboratory: CPU and memory at rest and at work, start skew, and merging.

    python benches/fleet_scale.py [--hosts 1,10,100] [--seconds 15] [--merge-seconds 60,600,3600]
        [--limit 450] [--write docs/performance.md]

All hosts are workers on this machine, which share its cores, over TLS on loopback; each has an engine that
asks nothing of a database. What 1,000 would take is computed from the two largest numbers. What would take
longer than the limit (seconds) is computed, too, and says so. Nothing else should run on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from peers.report import machine, write
from scale.merging import Merged, merges
from scale.rest import KINDS, Found, measure

MOST = 1000
ONE_LIMIT_S = 400
WHO = "benches/fleet_scale.py"
SCALED = ("up_s", "ready_s", "rest", "events", "memory_mib", "skew_us")
"""Figures that grow with the number of engines."""


def apart(kind: str, count: int, seconds: float, limit_s: float) -> Found | None:
    """The figures of so many, taken by a process of its own; None when it fails, and why is on stderr."""
    words = [sys.executable, __file__, "--one", kind, "--hosts", str(count), "--seconds", str(seconds)]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, timeout=limit_s)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"{count} {kind}: {error}", file=sys.stderr)
        return None
    return Found(**json.loads(done.stdout.splitlines()[-1]))


def computed(found: Sequence[Found]) -> Found | None:
    """What 1,000 would take, by the line through the two largest numbers."""
    if len(found) < 2:
        return None
    one, two = sorted(found, key=lambda each: each.count)[-2:]
    more = {
        name: getattr(two, name)
        + (getattr(two, name) - getattr(one, name)) / (two.count - one.count) * (MOST - two.count)
        for name in SCALED
    }
    return replace(two, count=MOST, **{name: max(0.0, value) for name, value in more.items()})


def rest_table(kind: str, found: Sequence[Found]) -> Iterator[str]:
    """The laboratory's cost, as Markdown."""
    far = kind == "hosts"
    yield f"### {'Hosts, an engine on each' if far else 'Engines of one machine, without Dask'}"
    yield ""
    heads = [
        kind, "all up after s", "ready s later", "laboratory's CPU at rest, % of a core",
        "at an event a second each", "its memory MiB", "start skew us",
    ]  # fmt: skip
    heads += ["clock known to us", "a worker's CPU at rest, %", "its memory MiB"] if far else []
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---:|' * len(heads)}"
    last = computed(found)
    for one in [*found, *([last] if last else [])]:
        name = f"{one.count:,}" + (" (computed)" if one is last else "")
        cells = [
            name, f"{one.up_s:.1f}" if far else "-", f"{one.ready_s:.1f}", f"{100 * one.rest:.1f}",
            f"{100 * one.events:.1f}", f"{one.memory_mib:,.0f}", f"{one.skew_us:,.0f}",
        ]  # fmt: skip
        if far:
            cells += [f"{one.bound_us:,.0f}", f"{100 * one.worker_rest:.2f}", f"{one.worker_mib:.0f}"]
        yield f"| {' | '.join(cells)} |"
    yield ""


def merge_table(found: Sequence[Merged]) -> Iterator[str]:
    """The cost of merging, as Markdown; what was not done is computed from the largest merge."""
    done = [one for one in found if one.took_s is not None]
    if not done:
        return
    largest = max(done, key=lambda one: one.engine_seconds)
    assert largest.took_s is not None  # noqa: S101 - it was done
    each_s = largest.took_s / largest.engine_seconds
    lengths = sorted({one.seconds for one in found})
    cells = {(one.hosts, one.seconds): one for one in found}
    yield "### Merging, seconds by engines and by how long they ran"
    yield ""
    yield f"| engines | {' | '.join(f'{length:,} s' for length in lengths)} |"
    yield f"|{'---:|' * (1 + len(lengths))}"
    for count in [*sorted({one.hosts for one in found}), MOST]:
        took = [one.took_s if (one := cells.get((count, length))) else None for length in lengths]
        told = [
            f"{took_s:,.2f}" if took_s is not None else f"{each_s * count * length:,.0f} (computed)"
            for took_s, length in zip(took, lengths, strict=True)
        ]
        yield f"| {count:,} | {' | '.join(told)} |"
    yield ""
    yield (
        f"{1e3 * largest.cpu_s / largest.engine_seconds:.2f} ms of CPU for an engine's second, at most "
        f"{max(one.memory_mib for one in done):.0f} MiB."
    )


def _left(until_s: float) -> float:
    return max(1.0, min(ONE_LIMIT_S, until_s - time.monotonic()))


def main() -> None:
    """Parse words, measure, print."""
    began_s, load = time.monotonic(), os.getloadavg()[0]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    numbers = lambda text: [int(word) for word in text.split(",")]  # noqa: E731 - a type for argparse
    parser.add_argument("--hosts", type=numbers, default=[1, 10, 100])
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--merge-seconds", type=numbers, default=[60, 600, 3600])
    parser.add_argument("--limit", type=float, default=450.0)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        print(json.dumps(asdict(measure(asked.one, asked.hosts[0], asked.seconds))))
        return
    lines = [*machine(load), ""]
    for kind in KINDS:
        found = [apart(kind, n, asked.seconds, _left(began_s + asked.limit)) for n in asked.hosts]
        lines += rest_table(kind, [one for one in found if one])
    lines += merge_table(list(merges(asked.hosts, asked.merge_seconds, began_s + asked.limit)))
    print("\n".join(lines))
    if asked.write:
        write(asked.write, WHO, lines)


if __name__ == "__main__":
    main()
