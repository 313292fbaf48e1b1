"""One server on the sampler's side: asked once a tick, never waited for."""

from __future__ import annotations

import os
import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from errno import EINPROGRESS

from steelyard.watch.agent import new_socket
from steelyard.watch.dialogue import Dialogue, RefusedError
from steelyard.watch.target import WatchTarget

ANSWER_WITHIN_S = 0.5
LONGEST_PAUSE_S = 5.0
MAX_ANSWER_BYTES = 1 << 20


class Link:
    """The connection to an agent or a `/jmx`, driven by ticks and by a selector's events, never blocking.

    A server that is frozen keeps its connection and is asked nothing more until it has answered; an answer
    that comes later than 0.5 s is thrown away. A broken connection is tried again after 1, 2, 4, 5, 5, ...
    seconds.

    Args:
        target: the node.
        address: the host and port of its agent, or of one of its servers.
        dialogue: what is asked, and how answers are read.
        selector: where the connection's events are waited for; the registered data is `on_event`.
        deliver: called with the time the answer arrived (CLOCK_MONOTONIC ns) and the metrics.
    """

    def __init__(
        self,
        target: WatchTarget,
        address: tuple[str, int],
        dialogue: Dialogue,
        selector: selectors.BaseSelector,
        deliver: Callable[[int, dict[str, float]], None],
    ) -> None:
        self.target = target
        self.dialogue = dialogue
        self.asked = 0
        self.answered = 0
        self.reason = "not asked yet"
        self._address = address
        self._selector = selector
        self._deliver = deliver
        self._socket: socket.socket | None = None
        self._connected = False
        self._asked_s: float | None = None
        self._retry_s = 0.0
        self._pause_s = 1.0
        self._unread = b""
        self._question = b""

    @property
    def waiting(self) -> bool:
        """Whether an answer that would still be taken is outstanding."""
        return self._asked_s is not None and time.monotonic() - self._asked_s <= ANSWER_WITHIN_S

    def tick(self) -> None:
        """Ask, if no answer is owed; connect first, if that must be. A tick that comes so soon after another
        that its answer may still be in time is none of its own."""
        if self.waiting:
            return
        now = time.monotonic()
        owed = self._connected and self._asked_s is not None
        if not owed:
            self._question = self._question or self.dialogue.question()
            if not self._question:
                return
        self.asked += 1
        if self._socket is None:
            if now >= self._retry_s:
                self._connect()
        elif not self._connected:
            if now - (self._asked_s or now) > ANSWER_WITHIN_S:
                self._fail("the connection was not accepted in time")
        elif owed:
            self.reason = f"no answer for {now - (self._asked_s or now):.1f} s"
        else:
            self._ask()

    def on_event(self, _events: int) -> None:
        """Go on with what the selector reported."""
        if self._socket is None:
            return
        try:
            if self._connected:
                self._receive(self._socket)
            else:
                self._established(self._socket)
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._fail(str(error) or type(error).__name__)

    def close(self) -> None:
        """Close the connection; the next tick opens another."""
        if self._socket is not None:
            with suppress(KeyError, ValueError):
                self._selector.unregister(self._socket)
            self._socket.close()
        self._socket, self._connected, self._asked_s, self._unread = None, False, None, b""

    def _connect(self) -> None:
        try:
            self._socket = new_socket(self._address[0], self.target.namespace)
            self._socket.setblocking(False)
            number = self._socket.connect_ex(self._address)
            if number not in (0, EINPROGRESS):
                raise OSError(number, os.strerror(number))
            self._selector.register(self._socket, selectors.EVENT_WRITE, self.on_event)
            self._asked_s = time.monotonic()
        except OSError as error:
            self._fail(str(error))

    def _established(self, connection: socket.socket) -> None:
        number = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if number:
            raise OSError(number, os.strerror(number))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.modify(connection, selectors.EVENT_READ, self.on_event)
        self._connected = True
        self._ask()

    def _ask(self) -> None:
        assert self._socket is not None  # noqa: S101 - both callers have looked
        try:
            self._socket.send(self._question)  # few bytes into an empty buffer: all or an error
            self._asked_s = time.monotonic()
            self._question = b""
        except OSError as error:
            self._fail(str(error))

    def _receive(self, connection: socket.socket) -> None:
        received = connection.recv(65536)
        self._unread += received
        found = self.dialogue.cut(self._unread, closed=not received)
        if found is None:
            if not received:
                raise ConnectionError("the server closed the connection")
            if len(self._unread) > MAX_ANSWER_BYTES:
                raise ValueError("the answer has no end")
            return
        answer, rest = found
        in_time = self.waiting
        self._unread, self._asked_s = rest, None
        if not received:
            self.close()
        if in_time:
            self._take(answer)

    def _take(self, answer: list[bytes]) -> None:
        try:
            values = self.dialogue.read(answer)
        except RefusedError as refusal:
            self.reason = str(refusal)
            return
        self.answered += 1
        self._pause_s = 1.0
        self._deliver(time.monotonic_ns(), values)

    def _fail(self, reason: str) -> None:
        self.reason = reason
        self.close()
        self._retry_s = (
            time.monotonic() + self._pause_s - 0.05
        )  # so that a pause of 1 s is over at the next tick
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
