"""Print results: JSON for programs; lines, and tables that fit a terminal or a pipe, for people.

Secrets in addresses are masked in everything that a command prints, results and errors alike: `main` replaces the
streams of the process once, so that no command can forget it. Text that a command folds or cuts before printing must be
masked earlier, with `as_shown`, since the stream would not recognise its addresses.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer
from typer.core import TyperGroup

from geocrawl.errors import EnvironmentFault
from geocrawl.sanitize import json_text, masked, plain
from geocrawl.wording import iso

if TYPE_CHECKING:
    from geocrawl.crawler.report import CrawlReport, HarvestReport
    from geocrawl.model.search import Results


_one_row_a_line = ContextVar("one_row_a_line", default=False)


@contextmanager
def json_lines(wanted: bool) -> Iterator[None]:
    """Have `echo_json` print each row of a list on a line of its own (`--format jsonl`), if that is wanted."""
    with _switched(_one_row_a_line, wanted):
        yield


@contextmanager
def whole_rows(wanted: bool) -> Iterator[None]:
    """Have `print_table` print all columns, uncut, on one line a row (`--wide`), if that is wanted."""
    with _switched(_whole_rows, wanted):
        yield


@contextmanager
def _switched(switch: ContextVar[bool], value: bool) -> Iterator[None]:
    former = switch.set(value)
    try:
        yield
    finally:
        switch.reset(former)


def echo_json(value: object) -> None:
    """Print a value as one line of JSON on standard output, flushed at once also into a pipe; times as ISO 8601."""
    rows = value if isinstance(value, list) and _one_row_a_line.get() else [value]
    for row in rows:
        typer.echo(json_text(_with_times(row)))


_TIMES = frozenset({"at", "since", "first_seen", "last_ok", "last_probe"})
"""Names of times in rows; so are all that end in `_at`."""


def _with_times(value: object, name: str = "") -> object:
    """Return a value whose times, seconds since the epoch in all rows, are as `2024-05-17T09:30:00Z`."""
    if isinstance(value, dict):
        return {key: _with_times(each, str(key)) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_with_times(each, name) for each in value]
    is_time = isinstance(value, int | float) and (name in _TIMES or name.endswith("_at"))
    return iso(value) if is_time else value  # type: ignore[arg-type]  # a number


def print_lines(lines: Iterable[str], *, json: bool, value: object) -> None:
    """Print lines for people, on a terminal folded between words, or `value` as JSON."""
    if json:
        echo_json(value)
        return
    for line in lines:
        typer.echo(_folded(as_shown(line)) if sys.stdout.isatty() else line)


def _folded(line: str) -> str:
    """Return a line in as many as the terminal needs for it, the further ones below the text behind its label."""
    width = shutil.get_terminal_size().columns
    if len(_WIDE.sub("  ", line)) <= width:
        return line
    label = _LABEL.match(line)
    end = label.end() if label else 2
    wrapper = textwrap.TextWrapper(
        width, subsequent_indent=" " * min(end, width // 2), break_long_words=False, break_on_hyphens=False
    )
    wrapper.wordsep_simple_re = _BREAKS
    glued = line[:end].replace(" ", "\xa0") + line[end:]
    return wrapper.fill(_WIDE.sub("\\g<0>\0", glued)).replace("\xa0", " ").replace("\0", "")


_LABEL = re.compile(r"\s*(?:\S+(?: \S+)?\s{2,})?")
_WIDE = re.compile("[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]")
"""A letter that takes two cells of a terminal, between which and the next a line may break."""
_BREAKS = re.compile(r"([^\S\xa0]+|.\0)")


def end_run(
    report: CrawlReport | HarvestReport,
    *,
    json: bool,
    has_failed: bool,
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[object]] = (),
) -> None:
    """Print what a run did, as JSON or in a few lines and a table, and exit with the code that fits its end."""
    print_lines(report.lines(), json=json, value=report.as_json())
    if rows and not json:
        typer.echo()
        print_table(columns, rows)
    end_interrupted(report.summary.interrupted)
    if report.summary.stopped == "outage" or report.summary.lost:
        raise typer.Exit(3)
    if has_failed:
        raise typer.Exit(1)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], least: Sequence[str] = ()) -> None:
    """Print rows under named columns, numbers right-aligned, control characters in text replaced.

    Into a pipe or a file: tab-separated, one line a row, nothing folded or cut. On a terminal: as wide as it is. Texts
    are folded between words, and a word or an address that is wider than its column loses its middle; where that is
    not enough, columns go: those without a value, then those of `least`, in that order. `--wide` prints all of it.
    Secrets in addresses are masked here: the masking stream would not recognise an address that is cut.
    """
    if not sys.stdout.isatty():
        for line in (columns, *rows):
            typer.echo("\t".join(_word(value) or plain(as_shown(str(value)), None) for value in line))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    listed = [list(row) for row in rows]
    texts = {name: [name, *(_cell(row[index]) for row in listed)] for index, name in enumerate(columns)}
    console = Console(markup=False, highlight=False, width=_UNBOUNDED if _whole_rows.get() else None)
    widths = _widths(texts, console.width, least)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for name, width in widths.items():
        values = [row[columns.index(name)] for row in listed]
        numbers = bool(values) and all(isinstance(value, int | float) for value in values)
        table.add_column(name, justify="right" if numbers else "left", width=width, overflow="fold")
    for row in zip(
        *([_fitted(cell, width) for cell in texts[name][1:]] for name, width in widths.items()), strict=True
    ):
        table.add_row(*map(Text, row))
    console.print(table)
    if hidden := [name for name in columns if name not in widths and _says_something(texts[name])]:
        typer.echo(f"Columns without room: {', '.join(hidden)}; --wide prints all.", err=True)


_whole_rows = ContextVar("whole_rows", default=False)
_UNBOUNDED = 10_000
_GAP = 2
_LEAST_WIDTHS = ((32, 24), (24, 16), (16, 10), (8, 8), (4, 4))
"""Widths that a word and an address keep before columns go, and those that the remaining ones are cut to at last."""


def _widths(texts: Mapping[str, Sequence[str]], room: int, least: Sequence[str]) -> dict[str, int]:
    """Return the columns that fit into `room` cells with their widths, from their texts below one another."""
    from rich.cells import cell_len

    caps, leaving = [*_LEAST_WIDTHS], [name for name, column in texts.items() if not _says_something(column)]
    leaving += [name for name in least if name in texts and name not in leaving]
    narrow = {name: _least_width(column, *caps[0]) for name, column in texts.items()}
    while (spare := room - sum(narrow.values()) - _GAP * (len(narrow) - 1)) < 0 and (leaving or caps):
        if leaving:
            del narrow[leaving.pop(0)]
        else:
            most = caps.pop(0)
            narrow = {name: _least_width(texts[name], *most) for name in narrow}
    lengths = {name: [(cell_len(cell), _is_folded(cell)) for cell in texts[name]] for name in narrow}
    for _ in range(spare):
        missing = {name: _missing(cells, narrow[name]) for name, cells in lengths.items()}
        narrow[max(missing, key=missing.__getitem__)] += any(max(missing.values()))
    return narrow


def _missing(cells: Sequence[tuple[int, bool]], width: int) -> tuple[int, int]:
    """Return how many lines more than one a row the texts of a column take, and how many letters they lose."""
    over = [(length, folded) for length, folded in cells if length > width]
    return sum((length - 1) // width for length, folded in over if folded), sum(length - width for length, _ in over)


def _is_folded(text: str) -> bool:
    """Return whether a text may go on in a second line: between its words, or anywhere between wide letters."""
    from rich.cells import cell_len

    return " " in text or ("/" not in text and cell_len(text) > len(text))


def _says_something(column: Sequence[str]) -> bool:
    return any(cell.strip("- ") for cell in column[1:])


def _least_width(column: Sequence[str], word: int, address: int) -> int:
    """Return the width of the longest word of a column, but no more than `word`, or `address` for what is not one."""
    from rich.cells import cell_len

    parts = " ".join(column).split()
    return max(
        (min(cell_len(part), word if part.isascii() and "/" not in part else address) for part in parts), default=1
    )


def _fitted(text: str, width: int) -> str:
    """Return a text whose words fit into `width` cells: longer ones lose their middle, those of wide letters fold."""
    from rich.cells import cell_len, chop_cells

    def shorter(word: str) -> str:
        if cell_len(word) <= width or _is_folded(word):
            return word
        end = chop_cells(word[::-1], (width - 1) // 2)[0][::-1]
        start = chop_cells(word, width - 1 - cell_len(end))[0]
        return f"{_CUT_PORT.sub('', start)}…{end}"

    return " ".join(map(shorter, text.split(" ")))


_CUT_PORT = re.compile(r"(?<=.):\d*$")
"""A port at which an address is cut would be masked as a password."""


def print_rows(
    rows: Sequence[Any],
    columns: Sequence[str],
    cells: Callable[[Any], Sequence[object]],
    *,
    json: bool,
    nothing: str = "",
    as_json: Callable[[Any], object] = asdict,
    least: Sequence[str] = (),
) -> None:
    """Print rows as a JSON list, or as a table of their `cells`; `nothing` on standard error without rows.

    `least`: as in `print_table`.
    """
    if json:
        echo_json([as_json(row) for row in rows])
    elif rows:
        print_table(columns, map(cells, rows), least)
    else:
        typer.echo(nothing, err=True)


def say(text: str) -> None:
    """Print a line about the work on standard error."""
    typer.echo(f"geocrawl: {text}", err=True)


def say_more(shown: int, total: int) -> None:
    """Print on standard error how many rows a table leaves out, if any."""
    if shown < total:
        typer.echo(f"{shown:,} of {total:,}; --limit N prints more", err=True)


def say_differences(found: Results) -> None:
    """Print on standard error in what the services that a search found differ from what was asked for."""
    if found.is_suggested:
        typer.echo(f"No match for these words. Showing results for: {plain(found.suggestion or '')}", err=True)
    for sentence in found.differences:
        typer.echo(f"{sentence[0].upper()}{plain(sentence[1:])}.", err=True)


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


MOST_CHARS = 2_000
"""Length at which a message about an error is cut: it may quote what was typed."""


class MaskedStream(io.TextIOWrapper):
    """A text stream that writes *** for keys, tokens and passwords in addresses to another stream's buffer."""

    in_full = False
    """Whether the user asked for unmasked addresses."""

    def write(self, text: str, /) -> int:
        """Write the masked text; return the length of the unmasked one, as `io` expects."""
        super().write(text if self.in_full else masked(text))
        return len(text)


class MaskedCommands(TyperGroup):
    """A group of commands whose usage errors are masked before they are folded into a panel."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; mask the message of its usage error."""
        try:
            with foreseen_ends():  # Click would exit with 1 for a closed pipe
                return super().invoke(ctx)
        except Exception as error:
            message = getattr(error, "message", None)
            if isinstance(message, str) and not isinstance(error, BaseExceptionGroup):  # read-only there
                error.message = plain(masked(message), MOST_CHARS)  # type: ignore[attr-defined]  # it has one
            raise


def mask_standard_streams() -> None:
    """Make standard output and standard error mask secrets from now on.

    Characters that the terminal's encoding does not have are written as escapes. A stream that was closed (`>&-`)
    refuses what is written to it, and no file that is opened later takes its number.
    """
    sys.stdout, sys.stderr = _masking(sys.stdout or _closed()), _masking(sys.stderr or _closed())


def _closed() -> TextIO:
    """Return a stream to which nothing can be written, with the lowest free file descriptor."""
    descriptor = os.open(os.devnull, os.O_RDONLY)
    return MaskedStream(io.BufferedWriter(io.FileIO(descriptor, "w", closefd=False)), encoding="utf-8")


def _masking(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper) or isinstance(stream, MaskedStream):
        return stream
    # Click bypasses an ASCII stream to write UTF-8, and so would bypass the mask.
    encoding = "utf-8" if codecs.lookup(stream.encoding).name == "ascii" else stream.encoding
    return MaskedStream(
        stream.buffer,
        encoding=encoding,
        errors="backslashreplace" if stream.errors in ("strict", "surrogateescape") else stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def show_in_full(wanted: bool) -> None:
    """Switch the masking of standard output off (`wanted`) or on; standard error and logs always mask."""
    if isinstance(sys.stdout, MaskedStream):
        sys.stdout.in_full = wanted


def as_shown(text: str) -> str:
    """Return a text as standard output will show it, for text that is folded or cut before it is printed."""
    return text if isinstance(sys.stdout, MaskedStream) and sys.stdout.in_full else masked(text)


INTERRUPTED = 130
"""Exit code of a command that Ctrl-C ended (128 + SIGINT), as shells report it."""


@contextmanager
def foreseen_ends() -> Iterator[None]:
    """Convert a closed pipe and Ctrl-C into exit codes, and an error of a file into EnvironmentFault.

    A closed pipe (`| head`) is not an error: exit code 0. Ctrl-C: 130.
    """
    try:
        yield
    except BrokenPipeError:
        _discard_output()
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        _discard_output()
        sys.stderr.write("geocrawl: interrupted\n")
        raise SystemExit(INTERRUPTED) from None
    except (ConnectionError, TimeoutError):  # an error of the network is a defect here: show its traceback
        raise
    except OSError as error:
        if error.filename is None:
            _discard_output()
        raise EnvironmentFault(f"{error.filename or 'standard output'}: {error.strerror or error}") from error


def end_interrupted(interrupted: bool) -> None:
    """End the command with 130 if Ctrl-C ended its run, after the summary was printed."""
    if interrupted:
        raise SystemExit(INTERRUPTED)


def _discard_output() -> None:
    """Keep the interpreter from flushing the rest of standard output when it exits."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def program() -> tuple[str, ...]:
    """Return the words of the command that starts this geocrawl, with an absolute path."""
    own = Path(sys.executable).with_name("geocrawl")
    found = str(own) if own.exists() else shutil.which("geocrawl")
    return (os.path.abspath(found),) if found else (sys.executable, "-m", "geocrawl")  # noqa: PTH100  # a venv's links stay


def in_a_shell(*arguments: str) -> str:
    """Return the line that runs this geocrawl with these arguments: `geocrawl …` where PATH leads to it."""
    words = program()
    found = shutil.which("geocrawl")
    if found and len(words) == 1 and Path(found).resolve() == Path(words[0]).resolve():
        words = ("geocrawl",)
    return shlex.join((*words, *arguments))
