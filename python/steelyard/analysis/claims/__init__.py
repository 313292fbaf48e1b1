"""Claims judged on trials: a verdict for direction and one for size, with the figures they rest on.

Input is a frame with one row per trial, as `report.figures.trial_frame` makes it:

- `system`, `variant`, one column for each factor: the trial's point;
- `repetition`; `group` and `data`, the start and the load it shares with other trials (null: its own);
- `status` (`done` counts), `tainted` (null, or why it is disturbed), `steady` (`steady`, `too short`,
  `no steady state`, or null where nobody judged);
- metrics, such as `read_service_mean_ns`, `ok_per_s`.

`cells` groups trials and says what speaks against judging them; one module for each family of checks.
"""

from __future__ import annotations

from steelyard.analysis.claims.judge import judge
from steelyard.analysis.claims.verdict import Evidence, Verdict

__all__ = ["Evidence", "Verdict", "judge"]
