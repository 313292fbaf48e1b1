"""`python -m steelyard`: the command line, where its script is not on the path."""

from __future__ import annotations

from steelyard.cli import app

if __name__ == "__main__":
    app(prog_name="steelyard")
