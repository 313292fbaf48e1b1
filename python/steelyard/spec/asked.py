"""What a study file asks beside measurements: a paper's claims and figures, and where it differs."""

from __future__ import annotations

from typing import Literal

from steelyard.spec.base import Model
from steelyard.spec.checks import Claim
from steelyard.spec.plots import Plot


class Asked(Model):
    """What is to be answered from the trials of a study."""

    paper: str = ""
    """The paper whose experiment this is."""
    form: Literal["full", "small"] = "full"
    """`small` is said by --small; a small form claims direction only."""
    claims: tuple[Claim, ...] = ()
    """What the paper says."""
    checks: tuple[Claim, ...] = ()
    """What we say of the same trials; counted and shown apart."""
    figures: tuple[Plot, ...] = ()
    deviations: tuple[str, ...] = ()
    """In what this study differs from the paper's experiment, and why."""
    dropped: tuple[str, ...] = ()
    """What of the paper this form leaves out."""
