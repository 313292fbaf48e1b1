"""A synthetic study with claims and figures, whose truth is known, for tests of what is said about it.

Reads take 1.1 ms times (1 + clients / 8), times 1.4 at ALL; servers need as much more for each.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

from steelyard.results.store import RunFolder
from steelyard.spec.models import Trial
from steelyard.spec.read import read_study
from steelyard.spec.trials import trials

TEXT = """
question = "Does a stronger consistency level cost latency?"
paper = "A. Author: A paper (2023), chapter 4"
repetitions = 6
order = "random"
deviations = ["Field sizes are not stated: {fields} of {field-length} bytes, {records} records."]

[system]
kind = "cassandra"
nodes = 3
limits = { cpu = 1.0, memory_mib = 1024 }

[system.access.replication]
factor = 3

[workload]
base = "a"
records = 20000

[load]
duration_s = 6

[factors]
clients = [1, 4, 16]
consistency = ["ONE", "ALL"]

[[claims]]
id = "C1"
statement = "Read latency rises with the number of threads."
source = "Table 4.1"
metric = "read_service_mean_ns"
check = { kind = "trend", factor = "clients", direction = "up", paper = 4.0 }
why = [{ reason = "requests wait for each other", metric = "server_cpu_us", expect = "up" }]
unsteady = "the paper's runs last seconds"

[[claims]]
id = "C2"
statement = "Stronger consistency gives higher read latency."
source = "Table 4.1"
metric = "read_service_mean_ns"
check = { kind = "trend", factor = "consistency", levels = ["ONE", "ALL"], direction = "up" }
why = [{ reason = "more replicas must answer", metric = "replica_reads_per_op", expect = "up" }]
unsteady = "the paper's runs last seconds"

[[claims]]
id = "C3"
statement = "Stronger consistency gives higher throughput."
metric = "ok_per_s"
check = { kind = "trend", factor = "consistency", levels = ["ONE", "ALL"], direction = "up" }

[[claims]]
id = "C4"
statement = "More threads give shorter reads."
metric = "read_service_mean_ns"
check = { kind = "trend", factor = "clients", direction = "down" }
unsteady = "the paper's runs last seconds"

[[checks]]
id = "same"
statement = "As C1, said by us."
metric = "read_service_mean_ns"
check = { kind = "trend", factor = "clients", direction = "up" }
unsteady = "the paper's runs last seconds"

[[checks]]
id = "level"
statement = "Four threads read within milliseconds."
metric = "read_service_mean_ns"
where = { clients = 4, consistency = "ONE" }
check = { kind = "value", unit = "ms", above = 1, below = 9, papers = { "Another paper" = "> 50 ms" } }
unsteady = "the paper's runs last seconds"

[[ratios]]
of = "data to memory"
paper = "0.1 to 1"
source = "chapter 4"

[[ratios]]
of = "rate to capacity"

[[figures]]
id = "4.1"
title = "Threads and consistency against read latency"
source = "Figure 4.1; its unit is not printed"
x = "clients"
x_title = "number of threads"
y = "read_service_mean_ns"
lines = ["consistency"]
paper = [{ at = { consistency = "ONE" }, x = [1, 4, 16], y = [1.2, 2.0, 3.9] }]

[[figures]]
id = "4.4"
title = "Consistency against throughput"
x = "consistency"
y = "ok_per_s"
lines = ["clients"]
mark = "bar"

[small]
repetitions = 2
dropped = ["16 threads"]

[small.factors]
clients = [1, 4]
"""


def _samples() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_results", Path(__file__).parent / "make_results.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, module)
    spec.loader.exec_module(module)
    return module


def make_study(root: Path, text: str = TEXT, *, small: bool = False) -> Path:
    """Write a study file and the folder of its run, every trial done; returns the folder."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "claimed.toml").write_text(text)
    study = read_study(root / "claimed.toml", small=small)
    planned = trials(study)
    folder = RunFolder.create(study, planned, root / "run")
    samples = _samples()
    for trial in planned:
        _write(samples, folder.final(trial.number), trial)
        folder.mark(trial.number, "done", seconds=20.0)
    folder.close()
    return folder.path


def _write(samples: ModuleType, path: Path, trial: Trial) -> None:
    clients, strong = int(trial.levels["clients"]), trial.levels["consistency"] == "ALL"
    slow = (1 + clients / 8) * (1.4 if strong else 1.0)
    sample = samples.Sample(
        seconds=4, load_seconds=1, pause_second=None, target=False, slow=slow, rate=round(400 / slow)
    )
    samples._trial(path, sample, trial.number, False)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["trial"] = trial.model_dump(mode="json", exclude_none=True)
    (path / "manifest.json").write_text(json.dumps(manifest))


if __name__ == "__main__":  # FOLDER [REPETITIONS], six trials each
    asked = sys.argv[2] if len(sys.argv) > 2 else "6"
    print(make_study(Path(sys.argv[1]), TEXT.replace("repetitions = 6", f"repetitions = {asked}", 1)))
