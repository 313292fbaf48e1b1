"""The load engine as a process: finding it, starting it, speaking with it, several of them as one.

What is here knows plans only as JSON; it knows nothing of studies, testbeds or results.
"""
