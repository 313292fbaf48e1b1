"""hbase-site.xml, which YCSB finds on its class path (`-cp`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from steelyard.errors import InputError

NAME = "hbase-site.xml"


def read_hbase_site(class_path: Sequence[Path]) -> dict[str, str]:
    """Name -> value of the first hbase-site.xml on a class path; empty if there is none.

    Raises:
        InputError: the file is no configuration.
    """
    file = next((path / NAME for path in class_path if (path / NAME).is_file()), None)
    if file is None:
        return {}
    try:
        root = ElementTree.parse(file).getroot()  # noqa: S314 - the user's own configuration
    except (OSError, ElementTree.ParseError) as error:
        raise InputError(f"{file} cannot be read: {error}") from None
    found = {p.findtext("name", "").strip(): p.findtext("value", "").strip() for p in root.iter("property")}
    return {name: value for name, value in found.items() if name}
