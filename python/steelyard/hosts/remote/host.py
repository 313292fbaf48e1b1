"""Another machine as a `Host`: what is asked of it, its worker's actor does there."""

from __future__ import annotations

import io
import threading
import time
from asyncio import CancelledError
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import polars as pl

from steelyard.engine.clock import Clock, Exchange, Offset, offset_of
from steelyard.errors import InfrastructureError, Interrupted, SteelyardError
from steelyard.hosts.host import Host, HostLostError, Watch
from steelyard.results.disk import writing
from steelyard.spec.fleet import source_words
from steelyard.watch.target import WatchTarget

EXCHANGES = 50
FOLLOW_S = 10.0
"""How often what was sampled is brought here."""
WARNED_NS, REFUSED_NS = 1_000_000, 10_000_000
"""Bounds of an offset above which it is said, and above which nothing is measured with it."""
ANSWER_S = 15.0
"""So long a question may go unanswered, and then the one whether the machine answers at all."""
RAISED_AS_THEY_ARE = frozenset({"call", "write"})
"""Methods of the actor whose callers know what an OSError of theirs means."""
PART_BYTES = 4 * 1024 * 1024
CALLS = frozenset(
    name for name, member in vars(Host).items() if callable(member) and not name.startswith("_")
)


class RemoteHost:
    """A machine with a worker; for what the methods of the port do see `Host`.

    Args:
        name: what it is called.
        address: where other machines reach it.
        actor: Dask's proxy of its `HostActor`.
        client: Dask's client, in whose loop the actor can be asked without a change of threads.
        log: the file here with what its worker prints, if there is one.
    """

    def __init__(self, name: str, address: str, actor: Any, client: Any, log: Path | None = None) -> None:
        self.name, self.address = name, address
        self.clock = Clock()
        self.lost_ns: int | None = None
        """When it was found to be lost."""
        self._actor, self._client, self._log = actor, client, log

    def ask(self, method: str, *given: Any) -> Any:
        """What a method of its actor finds.

        Raises:
            HostLostError: it is lost. Else what the method raised there; a fault of the system there as an
                InfrastructureError that names it.
        """
        if self.lost_ns is None:
            try:
                good, found = self._answer(getattr(self._actor, method)(*given))
            except SteelyardError:
                raise  # a signal of ours has come meanwhile
            except (Exception, CancelledError) as error:  # whatever Dask says of a worker that is gone
                raise self._lost(error) from error
            if good:
                return found
            if isinstance(found, OSError) and method not in RAISED_AS_THEY_ARE:
                raise InfrastructureError(f"the host {self.name}: {found}") from found
            raise found
        raise HostLostError(f"the host {self.name} is lost", hint=lost_hint(self.name))

    def _answer(self, asked: Any) -> Any:
        """The answer to a question, however long it takes, while the machine tells its time meanwhile.

        A worker that is frozen keeps its connections, so that nothing but its silence tells of it.
        """
        while True:
            try:
                return asked.result(ANSWER_S)
            except TimeoutError:
                if asked.done():
                    raise
                self._actor.clock_ns().result(ANSWER_S)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in CALLS:
            raise AttributeError(name)
        return partial(self._call, name)

    def _call(self, name: str, *given: Any, **words: Any) -> Any:
        try:
            return self.ask("call", name, given, words)
        except HostLostError:
            raise
        except SteelyardError as error:
            if not isinstance(error, Interrupted):
                error.message = f"{self.name}: {error.message}"
                error.args = (error.message,)
            raise

    def as_host(self) -> Host:
        """The same, as the port."""
        return cast(Host, self)

    def measure_clock(self) -> Clock:
        """Measure its clock once more.

        Raises:
            InfrastructureError: it cannot be known well enough.
        """
        found = self.measure_offset()
        if found.bound_ns > REFUSED_NS:
            raise InfrastructureError(
                f"the clock of {self.name} is known to {found.bound_ns / 1e6:.1f} ms only; "
                f"{REFUSED_NS / 1e6:.0f} ms are the most with which its times can be joined with others",
                hint="a shorter or quieter way between the machines",
            )
        self.clock.note(found)
        return self.clock

    def measure_offset(self) -> Offset:
        """How far its clock is ahead of ours, by 50 exchanges; raises HostLostError."""
        if self.lost_ns is not None:
            raise HostLostError(f"the host {self.name} is lost", hint=lost_hint(self.name))
        try:
            return offset_of(self._client.sync(self._exchanges, callback_timeout=2 * ANSWER_S))
        except SteelyardError:
            raise
        except (Exception, CancelledError) as error:
            raise self._lost(error) from error

    def _lost(self, error: BaseException) -> HostLostError:
        self.lost_ns = self.lost_ns or time.monotonic_ns()
        said = last_line(self._log) if self._log else ""
        text = f"the host {self.name} is lost: {str(error) or 'it does not answer'}"
        return HostLostError(text + (f"; its worker said: {said}" if said else ""), hint=lost_hint(self.name))

    async def _exchanges(self) -> list[Exchange]:
        found = []
        for _ in range(EXCHANGES):
            sent_ns = time.monotonic_ns()
            there_ns = await self._actor.clock_ns()
            found.append(Exchange(sent_ns, there_ns, time.monotonic_ns()))
        return found

    # --- what is not one question of the port and its answer ---

    def end_leftovers(self) -> list[str]:
        """See `Host`; folders of workers that were killed go, too."""
        return cast(list[str], self.ask("end_leftovers"))

    def clock_ns(self) -> int:
        """See `Host`."""
        return self.clock.there(time.monotonic_ns())

    def fetch(self, folder: Path, into: Path) -> None:
        """See `Host`; a name that leads out of the folder is refused: another machine says them."""
        for name, size in self.ask("files", folder):
            if Path(name).is_absolute() or ".." in Path(name).parts:
                raise InfrastructureError(f"the host {self.name} names a file outside its folder: {name!r}")
            path = into / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                for start in range(0, size, PART_BYTES):
                    file.write(self.ask("part", folder / name, start, min(PART_BYTES, size - start)))

    def watch(
        self,
        targets: Sequence[WatchTarget],
        engines: Mapping[str, int],
        *,
        spool: Path | None = None,  # noqa: ARG002 - its own machine has it
    ) -> Watch:
        """See `Host`."""
        return RemoteWatch(self, self.ask("watch", targets, engines))


class RemoteWatch:
    """Sampling under way on another machine; see `Watch`.

    Every 10 s what is new is brought here, so that of a machine that is lost no more is missing.
    """

    def __init__(self, host: RemoteHost, number: int) -> None:
        self._host, self._number = host, number
        self._frames: list[pl.DataFrame] = []
        self._fetching, self._ended = threading.Lock(), threading.Event()
        threading.Thread(target=self._follow, name=f"watch-{host.name}", daemon=True).start()

    def _follow(self) -> None:
        with suppress(HostLostError):
            while not self._ended.wait(FOLLOW_S):
                self._fetch()

    def _fetch(self) -> None:
        """Bring here what is new."""
        with self._fetching:
            here = sum(frame.height for frame in self._frames)
            new = pl.read_ipc(io.BytesIO(self._host.ask("samples", self._number, here)))
            self._frames.append(new)

    def _ask(self, name: str, *given: Any) -> Any:
        return self._host.ask("watching", self._number, name, given)

    @property
    def missing(self) -> Mapping[str, str]:
        """See `Watch`."""
        return cast(Mapping[str, str], self._ask("missing"))

    def retarget(self, targets: Sequence[WatchTarget]) -> None:
        """See `Watch`."""
        self._ask("retarget", targets)

    def sample_from(self, t_ns: int) -> None:
        """See `Watch`."""
        self._ask("sample_from", self._host.clock.there(t_ns))

    def latest(self, source: str, metric: str) -> float | None:
        """See `Watch`."""
        return cast(float | None, self._ask("latest", source, metric))

    def stop(self) -> None:
        """See `Watch`."""
        self._ended.set()
        self._ask("stop")

    def frame(self, start: int = 0) -> pl.DataFrame:
        """See `Watch`: what has been brought here, all there is unless the machine is lost."""
        with suppress(HostLostError):
            self._fetch()
        if not self._frames:
            raise HostLostError(f"the host {self._host.name} is lost, and nothing was brought from it before")
        return pl.concat(self._frames).slice(start)

    def write(self, path: Path) -> None:
        """See `Watch`; its times are by our clock. Raises HostLostError: it is lost, and nothing is here."""
        frame = self.frame()
        here = {t_ns: self._host.clock.here(t_ns) for t_ns in frame["t_ns"].unique().to_list()}
        with writing(path.parent):
            frame.with_columns(pl.col("t_ns").replace_strict(here, return_dtype=pl.Int64)).write_parquet(path)
        with suppress(HostLostError):  # what it sampled is here
            self._host.ask("forget", self._number)

    def cost(self) -> Mapping[str, float]:
        """See `Watch`."""
        return cast(Mapping[str, float], self._ask("cost"))


def lost_hint(name: str) -> str:
    """What can be done when a host of that name is lost."""
    flag = source_words([name]).partition(" ")[0]
    again = f"steelyard run --resume RESULT{f' {flag} ...' if flag else ''}"
    return f"when it is back, `{again}`, with the same machines, goes on"


def last_line(log: Path) -> str:
    """The last line of a file that says something; empty if there is none."""
    try:
        return (log.read_text(errors="replace").strip().splitlines() or [""])[-1]
    except OSError:
        return ""
