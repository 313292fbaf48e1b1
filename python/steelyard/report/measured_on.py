"""On what machines trials were measured: figures of two machines are no comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from steelyard.report.formatting import clean, size
from steelyard.results.in_effect import part

Facts = Mapping[str, Any]


def measured_on(manifests: Iterable[Facts]) -> str:
    """`Measured on AMD EPYC (family 25, model 1, stepping 1), 2 cores, 23.5 GiB, Linux 6.18.`

    Of several, each with its trials; machines of equal words are one kind. Empty where nothing is known.
    """
    kinds = Counter(filter(None, (" and ".join(dict.fromkeys(_words(m))) for m in manifests)))
    if len(kinds) < 2:
        return "".join(f"Measured on {kind}." for kind in kinds)
    return f"Measured on {'; '.join(f'{kind} ({count} trials)' for kind, count in kinds.items())}."


def _words(manifest: Facts) -> Iterator[str]:
    """Of each machine that had a part in a trial; of the laboratory's own unless others did all."""
    hosts = [host for host in manifest.get("hosts") or () if isinstance(host, Mapping)]
    others = [part(host, "facts") for host in hosts]
    own = [] if {"load", "server"} <= {host.get("role") for host in hosts} else [part(manifest, "host")]
    for facts in (*own, *others):
        if "cpu_model" in facts:
            yield ", ".join(_of_machine(facts))


def _of_machine(facts: Facts) -> Iterator[str]:
    yield clean(facts["cpu_model"])
    if cores := facts.get("cores"):
        yield f"{cores} cores"
    if memory := facts.get("memory_bytes"):
        yield size(memory)
    if kernel := facts.get("kernel"):
        yield f"Linux {clean(kernel)}"
