"""The highest rate a system bears: which to try next (`rates`, pure), and how it is tried (`probes`)."""
