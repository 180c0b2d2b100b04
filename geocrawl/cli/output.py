"""Print results: JSON for programs; lines, and tables that fit a terminal or a pipe, for people."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import typer

from geocrawl.cli.masking import as_shown
from geocrawl.sanitize import plain

if TYPE_CHECKING:
    from rich.box import Box

    from geocrawl.crawler.report import CrawlReport, HarvestReport
    from geocrawl.search import Results


_one_row_a_line = ContextVar("one_row_a_line", default=False)


@contextmanager
def json_lines(wanted: bool) -> Iterator[None]:
    """Have `echo_json` print each row of a list on a line of its own (`--format jsonl`), if that is wanted."""
    former = _one_row_a_line.set(wanted)
    try:
        yield
    finally:
        _one_row_a_line.reset(former)


def echo_json(value: object) -> None:
    """Print a value as one line of JSON on standard output, flushed at once also into a pipe."""
    import json

    rows = value if isinstance(value, list) and _one_row_a_line.get() else [value]
    for row in rows:
        typer.echo(json.dumps(row, ensure_ascii=False, default=str))


def print_report(report: CrawlReport | HarvestReport, *, json: bool) -> None:
    """Print what a run did, as JSON or in a few lines."""
    if json:
        echo_json(report.as_json())
        return
    for line in report.lines():
        typer.echo(line)


def print_summary(summary: Mapping[str, object], *, json: bool) -> None:
    """Print names and values, as JSON or a line each."""
    if json:
        echo_json(summary)
        return
    for key, value in summary.items():
        typer.echo(f"{key}: {value}")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "") -> None:
    """Print rows under named columns, numbers right-aligned, control characters in text replaced.

    Into a pipe or a file: tab-separated, one line a row, nothing folded or cut. Secrets in addresses are masked here:
    the masking stream would not recognise an address that is folded.
    """
    if not sys.stdout.isatty():
        _print_tabs(columns, rows, title)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title or None, box=_box(), pad_edge=False, title_justify="left")
    listed = [list(row) for row in rows]
    for index, name in enumerate(columns):
        numbers = bool(listed) and all(isinstance(row[index], int | float) for row in listed)
        table.add_column(name, justify="right" if numbers else "left", overflow="fold")
    for row in listed:
        table.add_row(*(Text(_cell(value)) for value in row))
    Console(markup=False, highlight=False).print(table)


def say_more(shown: int, total: int) -> None:
    """Print on standard error how many rows a table leaves out, if any."""
    if shown < total:
        typer.echo(f"{shown:,} of {total:,}; --limit N prints more", err=True)


def say_differences(found: Results) -> None:
    """Print on standard error in what the services that a search found differ from what was asked for."""
    if found.is_suggested:
        typer.echo(f"Nothing has these words; shown is: {plain(found.suggestion or '')}", err=True)
    for sentence in found.differences:
        typer.echo(f"{sentence[0].upper()}{plain(sentence[1:])}.", err=True)


def _print_tabs(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str) -> None:
    for line in ([title] if title else [], columns, *rows):
        if line:
            typer.echo("\t".join(_word(value) or plain(as_shown(str(value)), None) for value in line))


def _word(value: object) -> str:
    """Return the word for nothing, yes, no and a list; '' for any other value."""
    if value is None or value == ():
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) if isinstance(value, tuple | list) else ""


def _cell(value: object) -> str:
    if word := _word(value):
        return plain(as_shown(word), 400)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return plain(as_shown(str(value)), 400)


def _box() -> Box:
    from rich import box

    return box.SIMPLE_HEAD
