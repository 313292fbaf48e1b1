"""An action in words of the command line, as the values that a study file would hold.

--do "30s add nodes=1"                      thirty seconds after the run began
--do "steady add id=join"                   once the run is steady
--do "after:join remove"                    when the action `join` has ended
--do "when:node1.cpu_cores>1.5,10s add"     when a figure has held for so long
--do "30s run done='kubectl rollout status sts/db' -- kubectl scale sts/db --replicas=4"
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from itertools import count
from typing import Any

from steelyard.spec.triggers import STEADY, TOLD
from steelyard.spec.units import seconds

NAME = "actions"
"""What the timeline is called whose actions `--do` says."""
TEXT = ("id", "node", "version", "done")
"""Parameters that are text, also where it looks like a number."""
_FIGURE = re.compile(r"(?:([A-Za-z0-9_-]+)\.)?([a-z0-9_]+)([<>])([0-9.]+)(?:,(.+))?")
_EXAMPLE = (
    'e.g. "30s add nodes=1", "steady add", "after:add remove", "30s run -- kubectl scale sts/db --replicas=4"'
)


def actions_of(texts: Sequence[str]) -> list[dict[str, Any]]:
    """The actions that several `--do` say; one without an id is called as what it does, the second `add-2`.

    Raises:
        ValueError: one is none, with an example.
    """
    found: list[dict[str, Any]] = []
    for text in texts:
        action = _action(text)
        found.append({"id": _unlike(action["do"], [known["id"] for known in found]), **action})
    return found


def _unlike(word: str, known: Sequence[str]) -> str:
    """The word, or with a number behind it, as no other is called."""
    return next(id_ for n in count(1) if (id_ := word if n == 1 else f"{word}-{n}") not in known)


def _action(text: str) -> dict[str, Any]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{error}; {_EXAMPLE}") from None
    if len(words) < 2:
        raise ValueError(f"expected WHEN ACTION [key=value ...] [-- COMMAND ...], {_EXAMPLE}")
    begins, do, *rest = words
    said, command = (rest[: rest.index("--")], rest[rest.index("--") + 1 :]) if "--" in rest else (rest, [])
    action = {**_begins(begins), "do": do}
    for pair in said:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ValueError(f"'{pair}': expected key=value, {_EXAMPLE}")
        action[key] = value if key in TEXT else _value(value)
    if command:
        action["command"] = command
    return _with_done(action)


def _begins(word: str) -> dict[str, Any]:
    kind, colon, what = word.partition(":")
    if word == STEADY:
        return {"after": STEADY}
    if kind == "after" and colon:
        return {"after": what}
    if kind == "when" and colon:
        return {"when": _figure(what)}
    try:
        return {"at": 0.0 if word == "0" else seconds(word)}
    except ValueError:
        raise ValueError(
            f"'{word}' says no time to begin: write 30s, steady, after:ID or when:METRIC>BOUND; {_EXAMPLE}"
        ) from None


def _figure(text: str) -> dict[str, Any]:
    match = _FIGURE.fullmatch(text)
    if match is None:
        raise ValueError(
            f"'{text}' is no condition: write METRIC>BOUND or NODE.METRIC<BOUND,TIME, e.g. p99_ms>50,10s"
        )
    node, metric, sign, bound, held = match.groups()
    figure: dict[str, Any] = {"metric": metric, "above" if sign == ">" else "below": float(bound)}
    return figure | ({"node": node} if node else {}) | ({"for": held} if held else {})


def _with_done(action: dict[str, Any]) -> dict[str, Any]:
    """`done` is a milestone, a figure such as `p99_ms<50,10s`, or to a command another command."""
    done, every = action.get("done"), action.pop("every", None)
    if isinstance(done, str) and _FIGURE.fullmatch(done):
        action["done"] = _figure(done)
    elif isinstance(done, str) and action["do"] == "run" and done not in TOLD:
        action["done"] = {"command": shlex.split(done), **({"every": every} if every is not None else {})}
    return action


def _value(text: str) -> Any:
    """A number or a switch, or else the text."""
    from steelyard.spec.read import literal

    found = literal(text)
    return found if isinstance(found, (bool, int, float)) else text
