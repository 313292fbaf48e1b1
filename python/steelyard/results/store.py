"""A run's folder while it is written: made once, trials sealed one by one, gone on with later.

What a trial has left is never written over: before it is begun again, its folder is set aside as an attempt.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import tomlkit

from steelyard.errors import InfrastructureError, InputError
from steelyard.results.clock import now_text
from steelyard.results.disk import read_json, write_atomically, write_json, writing
from steelyard.results.disturbance import Disturbance
from steelyard.results.elsewhere import Elsewhere
from steelyard.results.flat import flat
from steelyard.spec.asked import Asked
from steelyard.spec.budget import Budget
from steelyard.spec.models import Design, Study, Trial
from steelyard.spec.trials import plan_hash, trial_at
from steelyard.version import revision

FORMAT = 1
ROOT = Path("results")
THEN = ", then "
"""Between the versions of Steelyard that ran a result's trials, in the order in which they came to it."""
RESERVE = "reserve"
"""A file of a running trial, removed before its manifest is written: a full disk has room for that."""
RESERVE_BYTES = 128 * 1024
HERE = Elsewhere()


@dataclass
class TrialRow:
    """A trial's line in run.json."""

    number: int
    point: int
    repetition: int
    seed: int
    group: int
    data: int
    system: str
    variant: str | None
    levels: dict[str, Any]
    status: str = "planned"
    reason: str | None = None
    seconds: float | None = None
    tainted: str | None = None
    passing: bool = False
    attempts: list[dict[str, Any]] = field(default_factory=list)
    host: str | None = None
    """The bench that has run it; None = the laboratory's own machine."""
    look: int | None = None
    """The look after which it was added to the plan."""
    added: str | None = None
    """For which claims."""

    @classmethod
    def of(cls, trial: Trial, look: int | None = None, added: str | None = None) -> TrialRow:
        """The line of a trial that is to be run."""
        same = {
            name: getattr(trial, name) for name in ("number", "point", "repetition", "seed", "group", "data")
        }
        system = trial.system_name or trial.system.kind
        return cls(
            **same, system=system, variant=trial.variant, levels=dict(trial.levels), look=look, added=added
        )

    @property
    def disturbed_attempts(self) -> int:
        """How often it was disturbed in a way that may pass."""
        return sum(a.get("tainted") is not None for a in self.attempts) + (
            self.tainted is not None and self.passing
        )

    @property
    def tried(self) -> list[tuple[str, float | None]]:
        """All attempts at it in order, as (status, seconds); of one that was cut short nobody knows them."""
        earlier = [(str(a.get("status")), a.get("seconds")) for a in self.attempts]
        return earlier if self.status == "planned" else [*earlier, (self.status, self.seconds)]


class RunFolder:
    """One run's folder while it is being written.

    Args:
        path: the folder.
        study: what was asked.
        trials: its trials, in order.
        earlier: run.json of an interrupted run that goes on.
        elsewhere: the machines beside this one that its trials are on.
    """

    def __init__(
        self, path: Path, study: Study, trials: Sequence[Trial], earlier: Mapping[str, Any] | None = None,
        *, elsewhere: Elsewhere = HERE,
    ) -> None:  # fmt: skip
        self.path = path
        self.rows = {t.number: TrialRow.of(t) for t in trials}
        self.trials = list(trials)
        self.rates: list[dict[str, Any]] = []
        """Highest rates that were found (docs/format.md)."""
        self.looks: list[dict[str, Any]] = []
        """What was found whenever all claims were looked at (docs/format.md)."""
        self._study, self._plan, self._elsewhere = study, plan_hash(trials), elsewhere
        if earlier is not None and _fixed(earlier):
            self._study = _as_fixed(study)
        self._lock = _locked(path)
        self._created = now_text()
        self._resumed: list[str] = []
        self._by = [revision()]
        self.unsettled: dict[int, str] = {}
        """Trials that were sealed and never marked, as the end came in between: number -> their status."""
        write_atomically(path / "study.toml", study_toml(self._study))
        if earlier is not None:
            self._take_over(earlier)
        self._write()

    @property
    def budget(self) -> Budget:
        """What may be spent beyond the plan."""
        return self._study.budget

    @classmethod
    def create(
        cls, study: Study, trials: Sequence[Trial], out: Path | None = None, elsewhere: Elsewhere = HERE
    ) -> RunFolder:
        """Make the folder of a run: `out`, or `results/TIME-NAME`.

        Raises:
            InputError: `out` exists. InfrastructureError: it cannot be made.
        """
        path = out if out is not None else new_folder(study.name)
        try:
            path.mkdir(parents=True)
        except (FileExistsError, NotADirectoryError):
            raise InputError(
                f"--out {path}: it exists already, and a result is never written over",
                hint="name a folder that is not there yet, or leave --out out",
            ) from None
        except OSError as error:
            raise InfrastructureError(f"{path} cannot be made: {error.strerror}") from None
        return cls(path.absolute(), study, trials, elsewhere=elsewhere)

    @classmethod
    def resume(
        cls, study: Study, trials: Sequence[Trial], path: Path, elsewhere: Elsewhere = HERE
    ) -> RunFolder:
        """Go on with a run that was interrupted: what is done is kept.

        Raises:
            InputError: the folder is no run, or one of another plan, or its trials are on other machines;
                then what differs is said.
        """
        earlier = read_json(path / "run.json")
        Elsewhere.of(earlier).check(path, elsewhere)
        if earlier.get("plan") != plan_hash(trials):
            told = _differences(earlier.get("study") or {}, study_values(study))
            raise InputError(
                f"{path} is a run of another plan, and cannot go on with this one: {told}",
                hint=f"`steelyard run --resume {path}` goes on with its own; another --out starts this one",
            )
        return cls(path.absolute(), study, trials, earlier, elsewhere=elsewhere)

    def _take_over(self, earlier: Mapping[str, Any]) -> None:
        self._created = str(earlier.get("created", self._created))
        self._resumed = [*earlier.get("resumed", ()), now_text()]
        by = [*str(earlier.get("steelyard", "")).split(THEN), *self._by]
        self._by = list(dict.fromkeys(filter(None, by)))
        known = {f.name for f in fields(TrialRow)}
        for said in earlier.get("trials", ()):
            row = TrialRow(**{name: value for name, value in said.items() if name in known})
            if row.status == "running" and (sealed := self._sealed(row.number)):
                self.unsettled[row.number] = sealed
            self.rows[row.number] = row
            if row.added:
                self.trials.append(self._added(row))
        self.looks, self.rates = list(earlier.get("looks", ())), list(earlier.get("rates", ()))

    def _added(self, row: TrialRow) -> Trial:
        point = self._study.cells[row.point - 1]
        place = {"number": row.number, "group": row.group, "data": row.data}
        return trial_at(self._study, point, row.repetition, **place)

    def _sealed(self, number: int) -> str | None:
        with suppress(InputError):
            return str(read_json(self.final(number) / "manifest.json").get("status"))
        return None

    def pending(self, *, disturbed: bool = False) -> list[Trial]:
        """The trials that are not done, in their order; with `disturbed` also those of `disturbed()`."""
        again = self.disturbed() if disturbed else ()
        return [t for t in self.trials if self.rows[t.number].status != "done" or t.number in again]

    def disturbed(self) -> set[int]:
        """Trials that do not count for a reason which may have passed by now."""
        return {row.number for row in self.rows.values() if row.tainted and row.passing}

    def add(self, trials: Sequence[Trial], why: Mapping[int, str]) -> None:
        """Add trials to the plan after the last look; `why` names for each point the claims."""
        self.trials += trials
        self.rows |= {t.number: TrialRow.of(t, len(self.looks), why[t.point]) for t in trials}
        self._write()

    def open_rate(self) -> Path:
        """Make the folder of a search for a shared rate, `.partial` until its manifest is complete."""
        rates = self.path / "rates"
        with writing(self.path):
            rates.mkdir(exist_ok=True)
            folder = rates / f"{len(list(rates.iterdir())) + 1:03d}.partial"
            folder.mkdir()
        return folder

    def note_rate(self, row: dict[str, Any]) -> None:
        """Note a rate that was found."""
        self.rates.append(row)
        self._write()

    def done(self) -> dict[int, int]:
        """Point -> trials of it that are done and were not disturbed. An attempt that counts stays, so that
        other attempts that count are more of them, and a look of their own."""
        rows = self.rows.values()
        return Counter(row.point for row in rows if row.status == "done" and not row.tainted)

    def looked(self, look: dict[str, Any]) -> None:
        """Note a look; one at the same trials as the last is that look again."""
        if self.looks and self.looks[-1]["repetitions"] == look["repetitions"]:
            look = {**look, "last": self.looks.pop()["last"]}  # as it was announced
        self.looks.append(look)
        self._write()

    def noted(self, claims: Sequence[Mapping[str, Any]]) -> None:
        """Note where the claims stand at the last look."""
        self.looks[-1]["claims"] = list(claims)
        self._write()

    def open_trial(self, number: int, host: str | None = None) -> Path:
        """Make a trial's folder, `.partial` until it is sealed; what an earlier attempt left is set aside.

        Args:
            number: of the trial.
            host: the bench that runs it; None = this machine.
        """
        self._set_aside(number)
        self.rows[number].host = host
        folder = self._partial(number)
        with writing(self.path):
            folder.mkdir(parents=True)
            (folder / RESERVE).write_bytes(bytes(RESERVE_BYTES))
        self.mark(number, "running")
        return folder

    def _set_aside(self, number: int) -> None:
        row = self.rows[number]
        for left in (self.final(number), self._partial(number)):
            if left.is_dir():
                name = f"attempts/{number:03d}.{len(row.attempts) + 1}"
                status = self._sealed(number) if left == self.final(number) else "cut short"
                with writing(self.path):
                    (self.path / "attempts").mkdir(exist_ok=True)
                    (left / RESERVE).unlink(missing_ok=True)
                    left.rename(self.path / name)
                row.attempts.append(
                    {
                        "folder": name,
                        "status": status,
                        "reason": row.reason,
                        "tainted": row.tainted,
                        "seconds": row.seconds,
                        **({"host": row.host} if row.host else {}),
                    }
                )
        row.tainted, row.passing = None, False

    def seal(self, number: int) -> Path:
        """A trial's manifest is complete: give its folder its name."""
        final = self.final(number)
        with writing(self.path):
            self._partial(number).rename(final)
        return final

    def mark(
        self, number: int, status: str, reason: str | None = None, seconds: float | None = None,
        disturbed: Disturbance | None = None,
    ) -> None:  # fmt: skip
        """Note in run.json, in one step, how a trial ended and what outside the study disturbed it."""
        row = self.rows[number]
        row.status, row.reason, row.seconds = status, reason, seconds
        row.tainted, row.passing = (disturbed.text, disturbed.passing) if disturbed else (None, False)
        self.unsettled.pop(number, None)
        self._write()

    def close(self) -> None:
        """Let another process go on with the run."""
        os.close(self._lock)

    def final(self, number: int) -> Path:
        """Where a sealed trial stands."""
        return self.path / "trials" / f"{number:03d}"

    def _partial(self, number: int) -> Path:
        return self.path / "trials" / f"{number:03d}.partial"

    def _write(self) -> None:
        study = self._study
        content = {
            "format": FORMAT,
            "run": self.path.name,
            "created": self._created,
            "resumed": self._resumed,
            "steelyard": THEN.join(self._by),
            "plan": self._plan,
            **self._elsewhere.said(),
            "design": study.model_dump(mode="json", include={*Design.model_fields} - {"fleet"}),
            "factors": factor_levels(study),
            "points": [
                {
                    "point": p.number,
                    "system": p.system_name or p.system.kind,
                    "variant": p.variant,
                    "levels": p.levels,
                }
                for p in study.cells
            ],
            "study": study_values(study),
            "rates": self.rates,
            "looks": self.looks,
            "trials": [asdict(row) for row in self.rows.values()],
        }
        write_json(self.path / "run.json", content)


def _fixed(earlier: Mapping[str, Any]) -> bool:
    """Whether a run's plan is kept: what was judged by a single test cannot share its error rate later."""
    budget = (earlier.get("design") or {}).get("budget")
    return budget is None or bool(budget.get("fixed"))


def _as_fixed(study: Study) -> Study:
    """The study with its plan kept, also in the words of its file."""
    source = study.source
    if source:
        source = {**source, "budget": {**(source.get("budget") or {}), "fixed": True}}
    fixed = study.budget.model_copy(update={"fixed": True})
    return study.model_copy(update={"budget": fixed, "source": source})


def keeps_plan(path: Path) -> bool:
    """Whether a run's folder holds one whose plan is kept, so that nothing is ever added to it."""
    return (path / "run.json").is_file() and _fixed(read_json(path / "run.json"))


def _locked(path: Path) -> int:
    """An open descriptor that keeps other processes from writing into the run."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise InputError(
            f"{path}: another steelyard is running this study", hint="wait for it, or stop it"
        ) from None
    except OSError:
        pass  # a file system without locks
    return descriptor


def new_folder(name: str) -> Path:
    """`results/TIME-NAME`, which is not there yet."""
    return _free(ROOT / f"{time.strftime('%Y%m%d-%H%M%S')}-{name}")


def _free(path: Path) -> Path:
    """The path, or the first of `path-2`, `path-3` ... that is free: two runs may start in one second."""
    names = (path, *(path.with_name(f"{path.name}-{n}") for n in range(2, 1000)))
    return next(name for name in names if not os.path.lexists(name))


def factor_levels(study: Study) -> dict[str, list[Any]]:
    """Factor -> its levels, both in the order of the file."""
    found: dict[str, list[Any]] = {}
    for point in study.cells:
        for name, level in point.levels.items():
            levels = found.setdefault(name, [])
            if level not in levels:
                levels.append(level)
    return found


def study_toml(study: Study) -> str:
    """The resolved study as a file that can be run again."""
    return tomlkit.dumps(study_values(study))


def study_values(study: Study) -> dict[str, Any]:
    """The resolved study as plain values."""
    optional = {*Asked.model_fields, "budget", "rates", "fleet"}
    fields_ = Study.model_fields
    unasked = {n for n in optional if getattr(study, n) == fields_[n].get_default(call_default_factory=True)}
    return study.source or study.model_dump(
        mode="json", exclude_none=True, exclude={"points", "source", *unasked}
    )


def _differences(then: Mapping[str, Any], now: Mapping[str, Any], most: int = 5) -> str:
    old, new = flat(then), flat(now)
    paths = [path for path in {**old, **new} if old.get(path) != new.get(path)]
    told = [f"{path} was {old.get(path, 'not set')}, is {new.get(path, 'not set')}" for path in paths[:most]]
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return (
        "; ".join(told) + more if told else "the same words, but this version of Steelyard has other defaults"
    )
