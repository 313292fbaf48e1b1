"""What a small form keeps of a paper's experiment: ratios, the paper's and those of the form that ran.

[[ratios]]
of = "data to memory"
paper = "8.5e-5 to 8.5e-3"
source = "chapter 4: 1,000 to 100,000 records of 1 KB on three nodes of 12 GB"
"""

from __future__ import annotations

from typing import Literal

from steelyard.spec.base import Model
from steelyard.spec.printed import Paper


class KeptRatio(Model):
    """One ratio and the paper's figure of it."""

    of: Literal["data to memory", "rate to capacity", "bound to p99 at half load", "nodes added to nodes"]
    """`data to memory`: all copies over what nodes that hold data may use. `rate to capacity`: the rate that
    is offered over the highest throughput. `bound to p99 at half load`: of a search for the highest rate.
    `nodes added to nodes`: that a timeline adds, over those that hold data at its start; it stands on every
    page of a study whose timelines add some."""
    paper: Paper = None
    source: str = ""
