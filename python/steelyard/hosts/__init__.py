"""A machine: processes, files, control groups, namespaces, addresses, and what was started on it.

`Host` (`host`) is what the laboratory knows of one, `LocalHost` (`local`) this one. What is here knows no
database.
"""
