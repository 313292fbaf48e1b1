"""A machine: processes, files, control groups, namespaces, addresses, and what was started on it.

What is here knows no database.
"""
