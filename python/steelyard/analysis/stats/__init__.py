"""Statistics on plain arrays: what a figure over repeated runs is worth. Nothing here knows a database.

`changes` finds where a series changes its level; `runs` turns repeated runs (nested in starts and loads) into
a mean with its interval, and two of them into a `Contrast`; `percentiles` does the same for percentiles, by a
bootstrap over the runs' histograms; `verdicts` says better, worse, equivalent or open, for many contrasts at
once; `power` how many more runs would settle it; `models` and `fits` compare the shapes of curves; `peak`
asks whether a curve rises and then falls.

Every ratio is estimated on logarithms: figures of a run scatter by a share of their size, and a ratio and its
inverse are then the same finding.
"""
