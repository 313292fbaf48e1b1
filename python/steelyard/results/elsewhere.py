"""The machines beside the laboratory's own that a run's trials are on: it goes on with the same only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from steelyard.errors import InputError
from steelyard.spec.fleet import source_words

WHAT = {"load_hosts": "engines", "server_hosts": "nodes"}
"""What is on the machines of each role."""


@dataclass(frozen=True)
class Elsewhere:
    """Which machines do what, in order of their engines and nodes; none = the laboratory's own.

    Attributes:
        load_hosts: those that run the engines.
        server_hosts: those that have the nodes of local clusters.
    """

    load_hosts: tuple[str, ...] = ()
    server_hosts: tuple[str, ...] = ()

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> Elsewhere:
        """As run.json has it; earlier ones say less."""
        return cls(**{role: tuple(said.get(role, ())) for role in WHAT})

    def said(self) -> dict[str, list[str]]:
        """For run.json."""
        return {role: list(names) for role, names in asdict(self).items()}

    def resume_words(self, path: Path, *flags: str) -> str:
        """The command that goes on with a run, its engines and nodes where they were."""
        words = [f"steelyard run --resume {path}", *flags]
        if named := source_words((*self.load_hosts, *self.server_hosts), len(self.load_hosts)):
            words.append(named)
        if self.server_hosts:
            words.append(f"--server-hosts {len(self.server_hosts)}")
        return " ".join(words)

    def check(self, path: Path, now: Elsewhere) -> None:
        """See that a run goes on where it was: trials on other machines are not those of the same study.

        Raises:
            InputError: it would not; with the command that does.
        """
        for role, what in WHAT.items():
            then, after = getattr(self, role), getattr(now, role)
            if then != after:
                were, are = (", ".join(names) or "this machine" for names in (then, after))
                raise InputError(
                    f"the {what} of {path} are on {were}, and would go on on {are}",
                    hint=f"`{self.resume_words(path)}` goes on with it; another --out starts anew",
                )
