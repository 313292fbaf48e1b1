"""Beans of a server's `/jmx`, and what their attributes are called here; each kind of system says its own.

Where a figure means the same in two systems it has one name, so that reports and claims need one word for
both; docs/format.md lists all names with their units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One metric: the sum of a bean's attributes, scaled to the metric's unit.

    An attribute that this version of the server does not have is left out; without any, so is the metric.
    """

    metric: str
    attributes: tuple[str, ...]
    scale: float = 1.0


@dataclass(frozen=True)
class Bean:
    """What is asked for with one `qry`, be it one bean or a few, and the figures in it.

    Attributes:
        query: an object name, perhaps with wildcards.
        figures: the metrics.
        every_s: seconds between two questions; 0 for every sample.
    """

    query: str
    figures: tuple[Figure, ...]
    every_s: float = 0.0


@dataclass(frozen=True)
class Role:
    """One kind of server.

    Attributes:
        name: what it is called.
        beans: what it is asked for.
        jvm: the bean about its heap and garbage collection, if it has one that is wanted.
        rank: of several servers of one node the lowest one's heap and collections are taken.
    """

    name: str
    beans: tuple[Bean, ...]
    jvm: Bean | None = None
    rank: int = 0


def figures(bean: Bean, answer: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The metrics of a bean from an answer's list `beans`, which is empty while there is no such bean."""
    said = {attribute: value for one in answer for attribute, value in one.items()}
    values: dict[str, float] = {}
    for figure in bean.figures:
        known = [n for a in figure.attributes if isinstance(n := said.get(a), int | float)]
        if known:
            values[figure.metric] = sum(known) * figure.scale
    return values


SECOND_S, SLOWLY_S = 1.9, 4.9
"""Every second and every fifth sample of one a second, a late one included. An answer costs a server 3 to 15
ms of CPU: what is only asked for now and then is what is long to tell, or changes slowly."""


def bean(query: str, every_s: float = 0.0, /, **metrics: str | tuple[str, float]) -> Bean:
    """A bean from `metric=ATTRIBUTE`, `metric=A + B` or `metric=(ATTRIBUTE, scale)`, without `server_`."""
    found = []
    for metric, told in metrics.items():
        words, scale = (told, 1.0) if isinstance(told, str) else told
        found.append(Figure(f"server_{metric}", tuple(words.split(" + ")), scale))
    return Bean(query, tuple(found), every_s)
