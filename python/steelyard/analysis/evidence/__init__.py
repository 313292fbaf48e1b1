"""The one way from trials to figures, on which claims, comparisons, gates, points and drawings stand.

A trial counts or does not (`counting`). Trials of equal settings are a cell (`cells`). A figure over the
counting trials of a cell is a sample (`samples`): its runs nest in loads and starts, the highest level that
was repeated is its unit, and two samples are told apart by their units. Levels of factors are compared by
value (`spec.levels`).

Input is a frame with one row per trial, as `report.figures.trial_frame` makes it:

- `trial`, its number; `system`, `variant`, and one column for each factor: the trial's point;
- `repetition`; `group` and `data`, the start and the load it shares with other trials (null: its own), and
  `host`, the bench that ran it (null: the laboratory's machine);
- `status`, `reason`, `tainted`, `server_died`, `wrong_values`, `saturated_share`: how it went;
- `attempts`, what went before it in words; `earlier`, the same as data: `status`, `reason` and `tainted` of
  each attempt before (null: there was none);
- `steady` (`steady`, `too short`, `no steady state`, or null where nobody judged);
- metrics, such as `read_service_mean_ns`, `ok_per_s`.
"""

from __future__ import annotations

from steelyard.analysis.evidence.cells import POINT, Cell, Histograms, Key, Seconds, Series, Trials, known
from steelyard.analysis.evidence.counting import Lost, lost
from steelyard.analysis.evidence.pairs import within
from steelyard.analysis.evidence.samples import Found, Sample, beyond_p, versus

__all__ = [
    "POINT",
    "Cell",
    "Found",
    "Histograms",
    "Key",
    "Lost",
    "Sample",
    "Seconds",
    "Series",
    "Trials",
    "beyond_p",
    "known",
    "lost",
    "versus",
    "within",
]
