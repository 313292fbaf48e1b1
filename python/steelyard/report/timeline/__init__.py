"""What actions on the cluster did in one trial, as pictures and tables.

`tables` and `charts` show it, `lanes` are the states of its nodes, `machine` is the same for other programs.
A study has a panel for each timeline (`report.study.panels`). Measures come ready from `report.acted` and
`report.paired`. Only `charts` loads the chart library.
"""
