"""Arrays and dictionaries in, numbers and findings out. No files, no clocks, no text tables.

`summary` turns a phase's summary into typed rows; `counters` and `cost` turn system samples into CPU, memory,
disk and network per operation; `balance` compares nodes, `spread` engines and repetitions; `steady` and
`offered` say whether the figures can be trusted; `warnings` puts what is wrong into words. Reading results is
the room `results`, showing them the room `report`.
"""
