"""Progress in words."""

from __future__ import annotations

from collections.abc import Callable

Say = Callable[[str], None]
"""Receives a short line of progress, e.g. "node2 answers (3.1 s)"."""
