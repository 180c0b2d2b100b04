"""The command line: one thin file for each noun, which reads options into settings, calls `app` and prints the result.

`registry.py` lists all commands; the module of a command is imported when the command is used, and what it needs when
it runs, so that `--help` starts quickly.
"""

from __future__ import annotations

import sys

import typer

from geocrawl import __version__
from geocrawl.cli.output import MOST_CHARS, foreseen_ends, mask_standard_streams
from geocrawl.cli.registry import CommandGroup, help_of
from geocrawl.errors import GeocrawlError
from geocrawl.sanitize import plain

app = typer.Typer(
    name="geocrawl",
    cls=CommandGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"geocrawl {__version__}")
        raise typer.Exit


def root(
    version: bool = typer.Option(
        False, "--version", "-V", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    """Find geospatial web services by a focused crawl, prove them, keep a catalogue of the live ones.

    A first crawl: [bold]geocrawl crawl https://www.example.org/[/bold], then [bold]geocrawl search water[/bold].

    Exit codes: 0 success, 1 nothing found or not valid, 2 wrong usage, 3 system or database error,
    130 interrupted (Ctrl-C).
    """


app.callback(help=help_of(root.__doc__))(root)


def main() -> None:
    """Run the command line: a foreseen error is one line on standard error and an exit code; secrets are masked."""
    mask_standard_streams()
    try:
        with foreseen_ends():
            try:
                app()
            finally:
                sys.stdout.flush()
    except GeocrawlError as error:
        sys.stderr.write(f"geocrawl: {plain(str(error), MOST_CHARS)}\n")
        raise SystemExit(error.exit_code) from None
