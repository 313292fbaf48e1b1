"""Help as plain text, options grouped under headings; boxes and colours would cost a third of a second."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class GroupedCommand(TyperCommand):
    """A command whose help groups its options by their panel, in the order in which panels first appear."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write one section for the arguments and one for each panel."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                argument = param.param_type_name == "argument"
                panel = "Arguments" if argument else getattr(param, "rich_help_panel", None) or "Options"
                sections.setdefault(panel, []).append((_without_type(record[0]), record[1]))
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def _without_type(name: str) -> str:
    """A switch says `<bool>` nowhere: it takes no word."""
    return name.removesuffix(" <bool>")
