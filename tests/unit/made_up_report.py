"""A made-up report: throughput of each system of a result, and how many barns were watched."""

from __future__ import annotations

import sys

import polars as pl

import steelyard


def report(run: str) -> str:
    """One line a system, as Markdown."""
    result = steelyard.open(run)
    done = result.trials().filter(pl.col("status") == "done")
    rates = done.group_by("system", maintain_order=True).agg(pl.col("ok_per_s").mean())
    nodes = result.system().filter(pl.col("source").str.starts_with("barn"))["source"].n_unique()
    lines = [f"| {system} | {rate:,.0f} |" for system, rate in rates.rows()]
    return "\n".join(["| system | ok/s |", "| --- | ---: |", *lines, "", f"{nodes} barns were watched."])


if __name__ == "__main__":
    print(report(sys.argv[1]))
