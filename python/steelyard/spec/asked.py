"""What a study file asks beside measurements: a paper's claims and figures, and where it differs."""

from __future__ import annotations

from typing import Literal

from steelyard.spec.alone import Value
from steelyard.spec.base import Model
from steelyard.spec.checks import Claim
from steelyard.spec.metrics import LOSSES
from steelyard.spec.plots import Plot
from steelyard.spec.ratios import KeptRatio


class Asked(Model):
    """What is to be answered from the trials of a study."""

    paper: str = ""
    """The paper whose experiment this is."""
    form: Literal["full", "small"] = "full"
    """`small` is said by --small; a small form claims direction only."""
    narrowed: bool = False
    """Said by `--set` that chooses levels or leaves a variant out: claims may name what is then not run."""
    claims: tuple[Claim, ...] = ()
    """What the paper says."""
    checks: tuple[Claim, ...] = ()
    """What we say of the same trials; counted and shown apart."""
    figures: tuple[Plot, ...] = ()
    ratios: tuple[KeptRatio, ...] = ()
    """What of the paper's proportions is to be compared with those of the form that ran."""
    deviations: tuple[str, ...] = ()
    """In what this study differs from the paper's experiment, and why; settings in braces (`{records}`)
    become those of the form that runs."""
    dropped: tuple[str, ...] = ()
    """What of the paper this form leaves out."""

    @property
    def only_losses(self) -> bool:
        """Whether all that is asked is how much a read-back found lost: no figure in which time is."""
        asked = (*self.claims, *self.checks)
        return bool(asked) and all(one.metric in LOSSES and isinstance(one.check, Value) for one in asked)
