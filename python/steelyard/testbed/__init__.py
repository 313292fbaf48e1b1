"""Testbeds bring up a system under test, tell its facts, and always take it down again.

What is here knows processes, control groups, namespaces and server configuration; it knows nothing of workloads or results.
"""
