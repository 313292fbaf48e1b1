"""The machines of `run`: what its flags and the study's `[fleet]` say of them, and what they are then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.cli.load_hosts import end_leftovers, loading, machines_of, workers
from steelyard.errors import InputError
from steelyard.spec.fleet import Fleet
from steelyard.spec.models import Study

if TYPE_CHECKING:
    from steelyard.hosts.remote.host import RemoteHost
    from steelyard.lab.load_hosts import LoadHosts


@dataclass(frozen=True)
class Machines:
    """Other machines that are ready.

    Attributes:
        load_hosts: where the engines run; None = where the trial does.
        bench_hosts: where whole trials run; none = here.
    """

    load_hosts: LoadHosts | None = None
    bench_hosts: tuple[RemoteHost, ...] = ()


def fleet_of(study: Study, said: dict[str, Any]) -> Fleet:
    """A study's fleet with what flags say of it laid over it; of roles, a flag's takes the place of another.

    Args:
        study: the study.
        said: setting -> what its flag says; None = it was not given.

    Raises:
        InputError: flags that do not go together.
    """
    given = {name: value for name, value in said.items() if value not in (None, False)}
    words = study.fleet.model_dump() | given
    if "benches" in given and "load_hosts" in given:
        raise InputError("--benches and --load-hosts exclude each other: a bench has its engines itself")
    if "benches" in given:
        words["load_hosts"] = None
    if "load_hosts" in given:
        words |= {"benches": None, "unlike_hosts": False}
    if given and not words["ssh"]:
        raise InputError(
            "--load-hosts, --benches, --key and --python go with --ssh, which names the machines"
        )
    if words["unlike_hosts"] and not words["benches"]:
        raise InputError("--unlike-hosts goes with --benches")
    return Fleet.model_validate(words)


@contextmanager
def taking_part(study: Study, fleet: Fleet) -> Iterator[Machines]:
    """The machines of a fleet, for as long as the `with` lasts.

    Raises:
        InputError: the study cannot be run on them.
        InfrastructureError: one cannot be had, has another version, or is unlike the others.
    """
    if not fleet.ssh:
        yield Machines()
        return
    key = Path(fleet.key).expanduser() if fleet.key else None
    machines = machines_of(",".join(fleet.ssh), None if fleet.benches else fleet.load_hosts)
    with ExitStack() as closing:
        if fleet.benches is None:
            yield Machines(closing.enter_context(loading(study, machines, key, fleet.python)))
            return
        from steelyard.hosts.remote.addresses import chosen
        from steelyard.lab.bench_hosts import check_alike, check_whole

        machines = chosen(machines, fleet.benches, "--benches")
        check_whole(study, len(machines))
        found = closing.enter_context(workers(machines, key, fleet.python))
        if not fleet.unlike_hosts:
            check_alike(found.hosts)
        end_leftovers(found.hosts)
        yield Machines(bench_hosts=tuple(found.hosts))
