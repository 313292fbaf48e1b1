"""What YCSB does wrong by default and this command does right. `--as-ycsb` undoes exactly these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """One of them.

    Attributes:
        name: what the code asks for.
        ycsb: what YCSB does.
        here: what happens here.
    """

    name: str
    ycsb: str
    here: str


DIFFERENCES = {
    difference.name: difference
    for difference in (
        Difference(
            "wait",
            "with a target, latency starts when a request is sent: the time it waited for its turn is hidden",
            "latency starts when a request was due (measurement.interval=intended; op, both can be said)",
        ),
        Difference(
            "exit",
            "the exit code is 0 after almost every failure",
            "the exit code is 2 for a mistake in the input, 3 for what failed beneath, such as an insert",
        ),
        Difference(
            "retry",
            "an operation that fails is given up at once",
            "an operation that fails is tried again for up to 10 s, its clock running",
        ),
        Difference(
            "throughput",
            "failed operations and the time of connecting count in the throughput",
            "throughput is successes over the time from the first operation to the last answer",
        ),
        Difference(
            "share",
            "in a run, clients told apart by insertstart and insertcount insert the same new records",
            "clients with insertstart and insertcount share one run: every insert is a new record",
        ),
        Difference(
            "seed",
            "draws cannot be repeated",
            "draws follow from a seed (steelyard.seed, default 42)",
        ),
        Difference(
            "histogram",
            "measurementtype=histogram cuts percentiles to whole ms and leaves out those above its buckets",
            "percentiles of measurementtype=histogram are exact to three digits",
        ),
    )
}
