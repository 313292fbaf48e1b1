"""The machines of `run`: what its flags and the study's `[fleet]` say of them, and what they are then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from steelyard.cli.load_hosts import end_leftovers, machines_of, workers
from steelyard.cli.server_hosts import roles_of, using
from steelyard.cli.sources import source_of_fleet
from steelyard.errors import InputError
from steelyard.spec.complain import complaints
from steelyard.spec.fleet import SOURCES, Fleet
from steelyard.spec.lines import Place
from steelyard.spec.models import Study

if TYPE_CHECKING:
    from steelyard.hosts.host import Host
    from steelyard.hosts.remote.host import RemoteHost
    from steelyard.lab.load_hosts import LoadHosts

COMPANIONS: dict[str, dict[str, Any]] = {
    "ssh": {"key": None, "python": None},
    "scheduler": {"scheduler_ca": None, "scheduler_cert": None, "scheduler_key": None},
    "cluster": {"arguments": {}},
}
"""Each way to have machines -> settings that go with it, and what they are when it is not taken."""
FLAGS = {"watch": "watch_hosts"}
"""Settings whose flags have other names."""


@dataclass(frozen=True)
class Machines:
    """Other machines that are ready.

    Attributes:
        load_hosts: where the engines run; None = where the trial does.
        host: where the systems are, or the machines of a given one that are sampled; None = as the engines.
        bench_hosts: where whole trials run; none = here.
    """

    load_hosts: LoadHosts | None = None
    host: Host | None = None
    bench_hosts: tuple[RemoteHost, ...] = ()


def fleet_of(study: Study, said: dict[str, Any]) -> Fleet:
    """A study's fleet with what flags say of it laid over it; of roles, a flag's takes the place of another.

    Args:
        study: the study.
        said: setting -> what its flag says; None = it was not given.

    Raises:
        InputError: flags that do not go together.
    """
    given = {name: value for name, value in said.items() if value is not None and value is not False}
    words = study.fleet.model_dump() | _without_others(given) | given
    if "benches" in given and "load_hosts" in given:
        raise InputError("--benches and --load-hosts exclude each other: a bench has its engines itself")
    if "benches" in given and "server_hosts" in given:
        raise InputError("--benches and --server-hosts exclude each other: a bench has its cluster itself")
    if "benches" in given:
        words |= {"load_hosts": None, "server_hosts": None}
    if {"load_hosts", "server_hosts"} & given.keys():
        words |= {"benches": None, "unlike_hosts": False}
    watching = words["watch"] and given.keys() <= {"watch", "key", "python"}
    if given and not watching and not any(words[name] for name in SOURCES):
        raise InputError(
            "--load-hosts, --server-hosts, --benches, --key and --python go with --ssh (or --watch-hosts), "
            "which names the machines"
        )
    _check_companions(words, given)
    if words["unlike_hosts"] and not words["benches"]:
        raise InputError("--unlike-hosts goes with --benches")
    try:
        return Fleet.model_validate(words)
    except ValidationError as error:
        flags: dict[Place, str] = {(name,): f"--{FLAGS.get(name, name).replace('_', '-')}" for name in given}
        raise InputError("; ".join(complaints(error, words, flags))) from None


def _without_others(given: dict[str, Any]) -> dict[str, Any]:
    """What a flag that says which machines there are takes away of what the study says of that."""
    named = [name for name in SOURCES if name in given]
    if len(named) > 1:
        raise InputError("--ssh and --scheduler exclude each other: each says which machines there are")
    if not named:
        return {}
    return {
        name: default
        for source, companions in COMPANIONS.items()
        for name, default in {source: () if source == "ssh" else None, **companions}.items()
        if source != named[0]
    }


def _check_companions(words: dict[str, Any], given: dict[str, Any]) -> None:
    """Refuse flags that go with another way to have machines; raises InputError.

    What a study says beside machines that it does not have (`--set 'fleet.ssh=[]'`) is not used.
    """
    for source, companions in COMPANIONS.items():
        said = [name for name in companions if given.get(name)]
        named = words[source] or (source == "ssh" and words["watch"])
        if said and not named:
            raise InputError(f"--{said[0].replace('_', '-')} goes with --{source}")


@contextmanager
def taking_part(study: Study, fleet: Fleet) -> Iterator[Machines]:
    """The machines of a fleet, for as long as the `with` lasts.

    Raises:
        InputError: the study cannot be run on them.
        InfrastructureError: one cannot be had, has another version, or is unlike the others.
    """
    if not fleet.elsewhere:
        yield Machines()
        return
    key = Path(fleet.key).expanduser() if fleet.key else None
    source = source_of_fleet(fleet)
    with ExitStack() as closing:
        if fleet.benches is None:
            watched = ",".join(fleet.watch) or None
            roles = roles_of(source, fleet.load_hosts, fleet.server_hosts, watched)
            yield Machines(*closing.enter_context(using(study, roles, key, fleet.python)))
            return
        from steelyard.hosts.remote.addresses import chosen
        from steelyard.lab.bench_hosts import check_alike, check_whole

        count = None if isinstance(source, str) else fleet.benches
        machines = chosen(machines_of(source, count), fleet.benches, "--benches")
        check_whole(study, len(machines))
        found = closing.enter_context(workers(machines, key, fleet.python))
        if not fleet.unlike_hosts:
            check_alike(found.hosts)
        end_leftovers(found.hosts)
        yield Machines(bench_hosts=tuple(found.hosts))
