"""Where other machines come from: `--ssh` names them, or others run workers there."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.load_hosts import Named
from steelyard.errors import InputError
from steelyard.hosts.remote.scheduler import ClusterClass, Tls, scheduler_of
from steelyard.spec.fleet import Fleet


def source_of(
    ssh: str | None, scheduler: str | None, ca: Path | None = None, cert: Path | None = None,
    key: Path | None = None,
) -> Named:  # fmt: skip
    """What flags say of it.

    Args:
        ssh: the machines.
        scheduler: a scheduler's address.
        ca, cert, key: its TLS files.

    Raises:
        InputError: they do not go together, or the scheduler cannot be used so.
    """
    if ssh is not None and scheduler is not None:
        raise InputError("--ssh and --scheduler exclude each other: each says which machines there are")
    tls = Tls(ca, cert, key)
    if scheduler is not None:
        return scheduler_of(scheduler, tls)
    if tls.said:
        raise InputError("--scheduler-ca, --scheduler-cert and --scheduler-key go with --scheduler")
    return ssh


def source_of_fleet(fleet: Fleet) -> Named:
    """What a fleet says of it; None: everything is done here. Raises InputError."""
    if fleet.cluster is not None:
        return ClusterClass(fleet.cluster, fleet.arguments)
    files = [
        Path(word).expanduser() if word else None
        for word in (fleet.scheduler_ca, fleet.scheduler_cert, fleet.scheduler_key)
    ]
    return source_of(",".join(fleet.ssh) or None, fleet.scheduler, *files)
