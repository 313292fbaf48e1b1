"""What outside a study disturbed one of its trials."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Disturbance:
    """Why a trial is not to be averaged.

    Attributes:
        text: kind and figure, in words.
        passing: another attempt may be free of it; what follows from the study's own settings comes again.
    """

    text: str
    passing: bool
