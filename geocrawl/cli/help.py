"""Print the help of commands: in panels, and on a narrow terminal in plain lines, which cut no name."""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Callable, Sequence
from typing import Any

from typer.core import TyperCommand

from geocrawl.cli.conversion import convert_when_needed

_QUERIES = re.compile("WORDS|QUERY")
"""Found in the names of arguments that are words of a query."""
LEAST_COLUMNS = 60
"""A narrower terminal has no room for panels: Rich would cut the names of options in them."""


class HelpfulCommand(TyperCommand):
    """A command whose help names what people type: no types of Python, and every option in full."""

    def get_params(self, ctx: Any) -> Any:
        """Return the options and arguments."""
        return convert_when_needed(without_types(super().get_params(ctx)))

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read options and arguments; say how a word of a query is written that looks like an option (`-historic`)."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            option = getattr(error, "option_name", "")
            if option[:1] == "-" != option[1:2] and any(_QUERIES.search(str(each.metavar)) for each in self.params):
                error.message += f". Write words that begin with - last, after --: {ctx.command_path} … -- -word"  # type: ignore[attr-defined]  # Typer's
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        print_help(self, ctx, formatter, super().format_help)


def without_types(parameters: Sequence[Any]) -> Sequence[Any]:
    """Return options and arguments whose help shows `<bool>` for no switch and `<list[str]>` for no argument."""
    for each in parameters:
        if each.param_type_name == "argument" or each.is_flag:
            each.display_type_rich = _no_type
    return parameters


def _no_type(ctx: Any) -> None:
    return None


def print_help(command: Any, ctx: Any, formatter: Any, write: Callable[[Any, Any], None]) -> None:
    """Have `write` print the help of a command or a group, without panels on a narrow terminal."""
    try:
        _print_help(command, ctx, formatter, write)
    except SystemExit:  # Rich's end, with 1, when the reader has gone (`| head`), which is no error
        raise SystemExit(0) from None


def _print_help(command: Any, ctx: Any, formatter: Any, write: Callable[[Any, Any], None]) -> None:
    columns = shutil.get_terminal_size().columns
    if columns >= LEAST_COLUMNS:
        write(ctx, formatter)
        return
    markup, command.rich_markup_mode = command.rich_markup_mode, None
    formatter.width = columns
    try:
        write(ctx, formatter)
    finally:
        command.rich_markup_mode = markup
    formatter.buffer[:] = [_without_markup(text) for text in formatter.buffer]


def help_of(function: Callable[..., None]) -> str:
    """Return the docstring of a command with each paragraph on one line: the terminal decides where lines break."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    return "\n\n".join(each if each.startswith(" ") else " ".join(each.split()) for each in paragraphs)


def _without_markup(text: str) -> str:
    return text.replace("\\[", "[").replace("[bold]", "").replace("[/bold]", "")
