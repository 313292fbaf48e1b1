"""The lines of Cassandra that can be run, the newest tried of each, and the Java they run on."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import InputError, nearest


@dataclass(frozen=True)
class Line:
    """One line of releases.

    Attributes:
        name: e.g. "5.0".
        newest: the newest release tried.
        javas: Java majors it runs on, the best first.
        extra: artifacts that cassandra-all needs and does not name, as "group:artifact".
        old_names: its cassandra.yaml has the names of before 4.1, with units in the name.
        virtual_tables: it has system_views.
    """

    name: str
    newest: str
    javas: tuple[int, ...]
    extra: tuple[str, ...] = ()
    old_names: bool = False
    virtual_tables: bool = True


LINES = {
    "5.0": Line("5.0", "5.0.7", (17, 11)),
    "4.1": Line("4.1", "4.1.10", (11, 8)),
    # Upstream supports Java 8 only; on 11 it runs, with one ERROR line at the start about un-mapping.
    "3.11": Line(
        "3.11",
        "3.11.13",
        (8, 11),
        extra=("org.apache.cassandra:cassandra-thrift",),
        old_names=True,
        virtual_tables=False,
    ),
}


def resolve(version: str) -> tuple[str, Line]:
    """The full version and its line; raises InputError for a line that cannot be run."""
    if version in LINES:
        return LINES[version].newest, LINES[version]
    for line in LINES.values():
        if version.startswith(line.name + "."):
            return version, line
    raise InputError(
        f"Cassandra {version} cannot be run{nearest(version, LINES)}",
        hint=f"newest tried: {', '.join(line.newest for line in LINES.values())}",
    )


def coordinates(version: str, line: Line) -> list[str]:
    """The Maven artifacts of a release."""
    return [f"{artifact}:{version}" for artifact in ("org.apache.cassandra:cassandra-all", *line.extra)]
