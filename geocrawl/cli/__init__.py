"""The command line: one file for a group of commands, each thin: options to settings, `build` does it, result to text.

Nothing heavy is imported before a command needs it, so `geocrawl status` and `--help` answer at once.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec

import typer

from geocrawl.cli import (
    catalogue,
    configure,
    crawling,
    daemon,
    forgetting,
    harvesting,
    history,
    kinds,
    maintenance,
    merging,
    probing,
    service,
    signals,
    start_pages,
    status,
    strategies,
    topics,
)
from geocrawl.cli.masking import MaskedCommands, mask_standard_streams

app = typer.Typer(
    name="geocrawl",
    cls=MaskedCommands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)


def _version(value: bool) -> None:
    if value:
        from geocrawl import __version__

        typer.echo(f"geocrawl {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and end."
    ),
) -> None:
    """Find geospatial web services by a focused crawl, prove them, keep a catalogue of the live ones.

    A first crawl: [bold]geocrawl crawl https://www.example.org/[/bold], then [bold]geocrawl search water[/bold].

    Exit codes: 0 success, 1 nothing found or not valid, 2 wrong use, 3 the machine or the database does not let us.
    """


crawling.add_to(app)
probing.add_to(app)
harvesting.add_to(app)
kinds.add_to(app)
signals.add_to(app)
merging.add_to(app)
daemon.add_to(app)
maintenance.add_to(app)
forgetting.add_to(app)
service.add_to(app)
start_pages.add_to(app)
status.add_to(app)
catalogue.add_to(app)
history.add_to(app)
configure.add_to(app)
topics.add_to(app)
strategies.add_to(app)
if find_spec("geocrawl.lab"):
    import_module("geocrawl.lab.cli").add_to(app)


def main() -> None:
    """Entry point: every foreseen error is one line on standard error and an exit code; nothing prints a secret."""
    from geocrawl.errors import GeocrawlError

    mask_standard_streams()
    try:
        app()
    except GeocrawlError as error:
        sys.stderr.write(f"geocrawl: {error}\n")
        raise SystemExit(error.exit_code) from None
    except BrokenPipeError:
        # The reader of our output has gone (`| head`): end quietly, and keep the interpreter from flushing into it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        sys.stderr.write("geocrawl: interrupted\n")
        raise SystemExit(130) from None
