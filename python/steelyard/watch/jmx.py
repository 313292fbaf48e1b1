"""Asking a server's `/jmx` for a few beans at once, and taking what is new in the answer."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator

from steelyard.watch import http
from steelyard.watch.beans import Bean, Role, figures

OK = 200
REPEAT_AFTER_S = 10.0
"""Hadoop's servers renew the figures behind /jmx every 10 s unless told otherwise. What says the same word
for word has not been renewed, or has nothing new to say: its figures are taken again only after this time, so
that no counter is claimed to have stood still while nobody had looked at it."""


class JmxDialogue:
    """The beans of one server, those that are due asked for in one write on one connection.

    Args:
        role: which kind of server it is; decides the beans.
        host, port: of its HTTP server.
        jvm: whether heap and garbage collection are wanted, too; of several servers of a node those of one.
    """

    def __init__(self, role: Role, host: str, port: int, *, jvm: bool) -> None:
        self.what = f"server_* ({role.name})"
        self._beans = (*role.beans, *([role.jvm] if jvm and role.jvm else []))
        self._gets = {b.query: http.get(host, port, f"/jmx?qry={b.query}") for b in self._beans}
        self._asked: list[Bean] = []
        self._asked_s: dict[str, float] = {}
        self._seen: dict[str, tuple[bytes, float]] = {}

    def question(self) -> bytes:
        """One request for each bean that is due."""
        now = time.monotonic()
        self._asked = [b for b in self._beans if now - self._asked_s.get(b.query, -b.every_s) >= b.every_s]
        self._asked_s |= {bean.query: now for bean in self._asked}
        return b"".join(self._gets[bean.query] for bean in self._asked)

    def cut(self, received: bytes, *, closed: bool = False) -> tuple[list[bytes], bytes] | None:
        """One answer for each bean that was asked for, in that order."""
        bodies: list[bytes] = []
        at = 0
        for bean in self._asked:
            if (found := http.response(received, at, closed=closed)) is None:
                return None
            if found.status != OK:
                raise ValueError(f"/jmx answered with status {found.status} for {bean.query}")
            bodies.append(found.body)
            at = found.end
        return bodies, received[at:]

    def read(self, answer: list[bytes]) -> dict[str, float]:
        """The metrics of every bean that has something new; a bean that is not there (yet) gives none."""
        values: dict[str, float] = {}
        now = time.monotonic()
        for bean, body in zip(self._asked, answer, strict=True):
            last, since = self._seen.get(bean.query, (b"", 0.0))
            if body == last and now - since < REPEAT_AFTER_S:
                continue
            self._seen[bean.query] = (body, now)
            values |= figures(bean, json.loads(body)["beans"])
        return values


def jmx_dialogues(
    servers: Iterable[tuple[Role, str, int]],
) -> Iterator[tuple[tuple[str, int], JmxDialogue]]:
    """The address and the dialogue of each of a node's servers, given as `WatchTarget.jmx`."""
    for place, (role, host, port) in enumerate(sorted(servers, key=lambda server: server[0].rank)):
        yield (host, port), JmxDialogue(role, host, port, jvm=place == 0)
