"""The load: how many clients, at which rate, for how long, from how many engines."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    model_validator,
)
from pydantic_core import PydanticUndefined

from steelyard.spec.base import LISTED, Model
from steelyard.spec.curves import Shape, points_of
from steelyard.spec.highest import MOST_OF_CURVE, HighestRate, RateSearch, ShareOf, Target
from steelyard.spec.units import quantum

NONE = "none"
"""The timeline in which nothing is done: a study's control."""
DEFAULT_CLIENTS = 32
DEFAULT_IN_FLIGHT = 1024
DEFAULT_ATTEMPT_TIMEOUT_MS = 5_000
DEFAULT_OPERATIONS = 100_000
OF_A_RUN = frozenset(
    {"phases", "audit", "marks", "timeline", "after_timeline_s", "clients", "target", "search", "curve",
     "curve_of", "curve_from", "arrivals", "in_flight", "operations", "duration_s", "warmup_s",
     "first_record", "part", "settle_limit_s"}
)  # fmt: skip
"""Settings of `Load` that say what is measured and which part of it; all others say how it is driven."""


class Part(Model):
    """Which of how many runs this one is; started one by one, they share their operations as engines do."""

    index: NonNegativeInt = 0
    count: PositiveInt = 1

    @model_validator(mode="after")
    def _inside(self) -> Part:
        if self.index >= self.count:
            raise ValueError(f"part {self.index} of {self.count}: the parts are numbered from 0")
        return self


def _pairs(example: str, schema: Any = PydanticUndefined) -> BeforeValidator:
    """Says of values that are no list of pairs how one is written; `schema` is what may stand there, if it is
    more than that."""

    def check(value: Any) -> Any:
        listed = isinstance(value, (list, tuple))
        if not listed or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in value):
            raise ValueError(f"expected a list of pairs, {example}; here it is {value!r}")
        return value

    return BeforeValidator(check, json_schema_input_type=schema)


CurvePoint = Annotated[tuple[NonNegativeFloat, NonNegativeFloat], LISTED]
Mark = Annotated[tuple[NonNegativeFloat, Annotated[str, Field(min_length=1, max_length=200)]], LISTED]
CURVE = _pairs(
    "curve = [[0, 1000], [30, 4000]], each the seconds since the run began and operations per second",
    list[tuple[NonNegativeFloat, NonNegativeFloat]] | Shape,
)
MARKS = _pairs('marks = [[10, "a node stops"]], each the seconds since the run began and a label')


def _known_pacing(text: str) -> str:
    quantum(text)
    return text


def _end_of(curve: Any) -> float | None:
    """The time of a curve's last point; None of what is no curve, which is refused later."""
    try:
        return float(curve[-1][0])
    except (TypeError, ValueError, LookupError):
        return None


class Load(Model):
    """How the workload is driven.

    Without a target the loop is closed: each of `clients` sends its next operation when the last one is
    answered. With a target there is one shared schedule of due times, and at most `in_flight` operations are
    outstanding; `in_flight` left out means `clients` if those are given, else 1024.
    """

    clients: PositiveInt | None = None
    target: Target | None = None
    """Operations per second over all engines; or `{ of = "NAME", share = 0.5 }` of a rate in `[rates]`."""
    search: RateSearch | None = None
    """Instead of a target."""
    curve: Annotated[tuple[CurvePoint, ...], LISTED, CURVE] = ()
    """Instead of a target: points [seconds since the run began, operations per second over all engines] with
    straight lines between them; two points of one time are a step, and after the last one the rate stays.
    Without `operations` and `duration_s` the run ends with its last point. Or a form with a name (`steps`,
    `ramp`, `sine`, `flash-crowd`, `trace`), which is made into points."""
    curve_from: str | None = None
    """Where a recorded curve was read: its file and a hash of it. Written down with the points."""
    curve_of: str | None = None
    """NAME of `[rates.NAME]`: the curve's rates are shares of that highest rate, which is found once."""
    marks: Annotated[tuple[Mark, ...], LISTED, MARKS] = ()
    """Moments of the run, [seconds since it began, label], that the engine notes and charts show."""
    timeline: str = NONE
    """What is done to the system during the run: a name of `[[timelines.NAME]]`; `none` is nothing."""
    after_timeline_s: NonNegativeFloat | None = None
    """The run ends so long after the last action of its timeline has ended, unless its operations or its time
    end it sooner."""
    audit: bool = False
    """After the run, read every acknowledged write back, in a phase of its own; needs `workload.verify` to be
    `full`. What another trial has loaded is not known to this one."""
    arrivals: Literal["constant", "poisson"] = "constant"
    in_flight: PositiveInt | None = None
    operations: PositiveInt | None = None
    """Operations of the run phase over all engines; 100,000 if neither these nor a duration are given."""
    duration_s: PositiveFloat | None = None
    warmup_s: float = Field(default=0, ge=0)
    engines: Annotated[int, Field(ge=1, le=1000)] = 1
    retry: Literal["until-deadline", "none"] = "until-deadline"
    timeout_ms: PositiveInt = 10_000
    """An operation's deadline over all attempts."""
    attempt_timeout_ms: PositiveInt = DEFAULT_ATTEMPT_TIMEOUT_MS
    """One attempt's deadline; left out, 5 s or `timeout_ms` if that is sooner."""
    pacing: Annotated[str, AfterValidator(_known_pacing)] = "auto"
    """When the engine wakes for what is due: `exact`; at multiples of a time such as `250us`, by which they
    are late; or `auto`, the coarsest by which they are late by less than 5 % of the median response."""
    realtime: bool = False
    phases: Annotated[tuple[Literal["load", "run"], ...], Field(min_length=1), LISTED] = ("load", "run")
    """`["run"]` finds the records there; `["load"]` only stores them, at the clients and rate of a run."""
    load_clients: PositiveInt = 64
    """Clients of a load phase before a run."""
    first_record: NonNegativeInt = 0
    """The load begins here: what is below has been stored before."""
    part: Part = Part()
    settle_limit_s: float = Field(default=60, ge=0)
    """Longest wait between load and run until compactions, flushes and, of Cassandra, hints are done."""

    @model_validator(mode="before")
    @classmethod
    def _dependent_defaults(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        if isinstance(data.get("curve"), dict):
            data["curve"] = points_of(data["curve"])
        timeout = data.get("timeout_ms")
        if isinstance(timeout, int) and 0 < timeout < DEFAULT_ATTEMPT_TIMEOUT_MS:
            data.setdefault("attempt_timeout_ms", timeout)
        if data.get("operations") is None and data.get("duration_s") is None:
            last_s = _end_of(data.get("curve"))
            data |= {"duration_s": last_s} if last_s else {"operations": DEFAULT_OPERATIONS}
        if data.get("target") is None and data.get("search") is None and not data.get("curve"):
            data.setdefault("clients", DEFAULT_CLIENTS)
        else:
            data.setdefault("in_flight", data.get("clients") or DEFAULT_IN_FLIGHT)
        return data

    @model_validator(mode="after")
    def _together(self) -> Load:
        if self.search is not None and self.target is not None:
            raise ValueError("search finds the rate: leave target out")
        if self.curve:
            self._check_curve()
        if not self.curve and (self.curve_of or self.curve_from):
            word = "curve_from says whence a curve is"
            word = "curve_of says of what a curve's rates are shares" if self.curve_of else word
            raise ValueError(f"{word}, and there is no curve")
        self._check_marks()
        if not self.paced and self.in_flight is not None:
            raise ValueError("in_flight needs a target; in a closed loop the number is `clients`")
        if not self.paced and self.arrivals == "poisson":
            raise ValueError("arrivals = 'poisson' needs a target rate")
        if self.first_record and "load" not in self.phases:
            raise ValueError("first_record is where a load begins, and there is none")
        if self.attempt_timeout_ms > self.timeout_ms:
            raise ValueError("attempt_timeout_ms is above timeout_ms")
        if self.engines > min(self.cap, self.load_clients):
            raise ValueError("more engines than clients: every engine needs one, of load_clients too")
        return self

    @model_validator(mode="after")
    def _of_a_run(self) -> Load:
        """What is of a run needs one."""
        asked = {
            "audit follows a run": self.audit,
            "a timeline is of a run": self.timeline != NONE,
            "marks are of a run": self.marks,
            "search is for the rate of a run": self.search is not None,
            "a share of a highest rate is for a run": self.share is not None,
        }
        for fault in (words for words, said in asked.items() if said and "run" not in self.phases):
            raise ValueError(f"{fault}, and there is none")
        if self.timeline != NONE and self.part.count > 1:
            raise ValueError("a timeline is carried out once: a load of several parts may not have one")
        return self

    def loading(self) -> Load:
        """One that only stores the records, all of them, as this one would before its run."""
        same = {name: getattr(self, name) for name in self.model_fields_set - OF_A_RUN}
        return Load(phases=("load",), clients=self.load_clients, **same)

    def _check_marks(self) -> None:
        late = [f"[{at_s:g}, '{label}']" for at_s, label in self.marks if at_s > (self.duration_s or at_s)]
        if late:
            raise ValueError(f"marks {', '.join(late)} come after the end of the run, {self.duration_s:g} s")

    def _check_curve(self) -> None:
        times = [at_s for at_s, _ in self.curve]
        if self.target is not None or self.search is not None:
            raise ValueError("curve says the rate: leave target and search out")
        thrice = any(one == third for one, third in zip(times, times[2:], strict=False))
        if times[0] != 0 or times != sorted(times) or thrice:
            raise ValueError("curve begins at 0 s and goes forward; two points of one time are a step")
        highest = max(rate for _, rate in self.curve)
        if not highest:
            raise ValueError("curve is above 0 nowhere")
        if self.curve_of and highest > MOST_OF_CURVE:
            raise ValueError(
                f"{highest:g} times a highest rate: with curve_of a curve's rates are shares, as 0.5 of it; "
                "of a trace say peak = 1.2, or leave curve_of out"
            )
        if self.curve[0][1] == 0 and self.warmup_s:
            raise ValueError("a warm-up offers the rate that the curve begins with, and that is 0")
        if self.curve[-1][1] == 0 and self.duration_s is None:
            raise ValueError("curve ends at 0: give a duration, or the run would never end")

    @property
    def cap(self) -> int:
        """Most operations in flight at once, over all engines."""
        return (self.in_flight if self.paced else self.clients) or DEFAULT_CLIENTS

    @property
    def paced(self) -> bool:
        """Whether operations fall due, answered or not: an open loop."""
        return bool(self.target or self.search or self.curve)

    @property
    def share(self) -> ShareOf | None:
        """The share of a highest rate that is offered; None where the rate is no share."""
        if self.curve_of:
            return ShareOf(of=self.curve_of)
        return self.target if isinstance(self.target, ShareOf) else None

    @property
    def rate(self) -> float | None:
        """Operations per second at the start of an open loop; None in a closed one.

        Raises:
            ValueError: it is a share of a rate that has not been found yet (`searching`, `offering`).
        """
        if share := self.share:
            raise ValueError(f"the rate '{share.of}' is not known yet")
        if self.curve:
            return self.curve[0][1]
        if self.search:
            return self.search.start
        return None if isinstance(self.target, ShareOf) else self.target

    def searching(self, asked: HighestRate) -> Load:
        """One that finds the highest rate, and offers it for as long as a probe."""
        search = RateSearch(**{name: getattr(asked, name) for name in HighestRate.model_fields})
        run = {"search": search, "duration_s": asked.probe_s}
        of_others = {"operations", "audit", "marks", "timeline", "after_timeline_s"}
        left_out = {"target", "curve", "curve_of", "curve_from", *of_others}
        return Load(**{n: getattr(self, n) for n in self.model_fields_set - left_out} | run)

    def offering(self, rate: float) -> Load:
        """One that offers this rate, in operations per second, instead of a share or a curve of shares."""
        if self.curve_of:
            curve = tuple((at_s, share * rate) for at_s, share in self.curve)
            return self.model_copy(update={"curve": curve, "curve_of": None})
        return self.model_copy(update={"target": rate})
