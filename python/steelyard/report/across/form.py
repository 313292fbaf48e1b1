"""By which settings a result's form is another than the one that its study is shipped with now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from steelyard.results.flat import flat
from steelyard.results.store import study_values
from steelyard.spec.asked import Asked
from steelyard.spec.read import both_forms

AMOUNTS = frozenset({"budget", "repetitions", "starts"})
"""More or fewer trials of the same are no other form."""
WORDS = frozenset({"name", "question", *Asked.model_fields})
"""What is asked of it, and told: verdicts are kept with the claims that were judged."""


def changed(then: Mapping[str, Any], shipped: Path, form: str) -> tuple[str, ...]:
    """Dotted settings of a study as it was run that its shipped form has otherwise, or alone, or no more.

    Args:
        then: the study's values as the run has them (its study.toml).
        shipped: the study's file.
        form: `full` or `small`.
    """
    full, small = both_forms(shipped)
    now = small if form == "small" else full
    if now is None:
        return ()
    old, new = (flat(_settings(values)) for values in (then, study_values(now)))
    return tuple(sorted(path for path in {**old, **new} if old.get(path) != new.get(path)))


def _settings(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in AMOUNTS | WORDS}
