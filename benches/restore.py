"""What it costs to begin with kept data instead of loading them: at most a fifth of the load.

    python benches/restore.py [--starts 3] [--folder FOLDER] SYSTEM [FLAGS of `steelyard bench`]

For example `cassandra --nodes 3 --profile quick --records 1000000`. A record has ten fields of 100 B: a
million of them are 1 GB before replicas. The data are loaded and kept once, then restored for each start.
Restoring is the check of all checksums, the placing of all files, and by how much the start then takes longer
than that of an empty one. All is made below FOLDER and removed afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from words import study_of

from steelyard.lab.progress import make_show
from steelyard.lab.study import conduct

BAR = 0.2


def measure(words: Sequence[str], starts: int, folder: Path) -> str:
    """Load once, start so many times; the figures in words."""
    asked = study_of([*words, "--workload", "c", "--operations", "1000"])
    study = asked.model_copy(update={"name": "restore-bench", "repetitions": starts, "reset": "restore"})
    out = folder / "run"
    show = make_show(Console(stderr=True))
    outcome = conduct(study, show, time.monotonic_ns(), out)
    if outcome.errors or outcome.interrupted:
        raise SystemExit(
            f"{' '.join(words)}: {outcome.errors[0].message if outcome.errors else 'interrupted'}"
        )
    load, trials = manifests(out / "loads")[0], manifests(out / "trials")
    up_empty, loading = load["timing"]["up"], load["timing"]["load"]
    whole = [trial["timing"]["up"] for trial in trials]
    placing = [trial["timing"]["restore"] for trial in trials]
    restoring = [max(up - up_empty, part) for up, part in zip(whole, placing, strict=True)]
    share = statistics.median(restoring) / loading
    return "\n".join(
        [
            f"{' '.join(words)}: {study.workload.records:,} records",
            f"  kept: {trials[0]['data']['bytes'] >> 20} MiB in {trials[0]['data']['files']} files, of them "
            f"{trials[0]['data']['copied_bytes'] >> 20} MiB copied for each start, the others shared",
            f"  loading {loading:.1f} s, after an empty start of {up_empty:.1f} s; keeping "
            f"{load['timing']['snapshot']:.1f} s",
            f"  restoring {spread(restoring)}: checking and placing {spread(placing)}, start with it "
            f"{spread(whole)}",
            f"  restoring / loading = {share:.3f} ({'within' if share <= BAR else 'ABOVE'} {BAR})",
        ]
    )


def manifests(folder: Path) -> list[dict[str, Any]]:
    """The manifests below a folder, in order."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*/manifest.json"))]


def spread(values: list[float]) -> str:
    """The median, and the least and the greatest."""
    return f"{statistics.median(values):.1f} s ({min(values):.1f} to {max(values):.1f})"


def main() -> None:
    """Parse words, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="a disk with room  [default: the current folder]")
    asked, words = parser.parse_known_args()
    place = asked.folder or Path.cwd()
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as folder:
        os.environ["STEELYARD_STATE"] = f"{folder}/state"
        print(measure(words, asked.starts, Path(folder)), flush=True)
    print(f"load of the machine {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
