"""Tables for people: rich on a terminal, aligned plain text into a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from geocrawl.cli.masking import as_shown
from geocrawl.sanitize import plain

if TYPE_CHECKING:
    from rich.box import Box


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "") -> None:
    """Print rows under named columns; numbers are right-aligned. Strangers' text is made plain,
    secrets in addresses are masked, for a fold might hide them from the stream."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = sys.stdout.isatty()
    table = Table(title=title or None, box=None if not terminal else _box(), pad_edge=False, title_justify="left")
    listed = [list(row) for row in rows]
    for index, name in enumerate(columns):
        numbers = bool(listed) and all(isinstance(row[index], int | float) for row in listed)
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in listed:
        table.add_row(*(Text(_cell(value)) for value in row))
    console = Console(width=None if terminal else 200, markup=False, highlight=False)
    console.print(table)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return plain(as_shown(str(value)), 400)


def _box() -> Box:
    from rich import box

    return box.SIMPLE_HEAD
