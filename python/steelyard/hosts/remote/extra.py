"""The extra `steelyard[fleet]`: whether it is installed, and how it is."""

from __future__ import annotations

from importlib.util import find_spec

from steelyard.errors import MissingToolError

NEEDED = ("distributed", "asyncssh")


def require_fleet(flag: str) -> None:
    """See that what a flag needs is installed.

    Raises:
        MissingToolError: with the command that installs it.
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingToolError(
            f"{flag} needs the Python package{'s' * (len(missing) > 1)} {' and '.join(missing)}",
            hint="pip install 'steelyard[fleet]'; in a checkout: "
            ".venv/bin/pip install --require-hashes -r requirements-fleet.lock",
        )
