"""`geocrawl status`: print a summary of the catalogue, once or live."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output

if TYPE_CHECKING:
    from rich.text import Text

WATCH_S = 2.0
"""Seconds between two updates of `status --watch`."""
_LIMITS = ("max_db_bytes", "traffic_per_day_bytes", "pages_per_day", "hours", "allow", "deny")
"""Limits of the daemon that `status --json` contains."""


def status(
    overrides: opt.Overrides,
    json: opt.Json = False,
    watch: Annotated[bool, typer.Option("--watch", help="Update every 2 seconds until Ctrl-C.")] = False,
) -> None:
    """Print a summary of the catalogue: services, queue, what is due, slow and failing hosts, runs, failures.

    The limits shown are those of your settings; the daemon may have been started with others.
    """
    from geocrawl.cli.status_text import status_lines
    from geocrawl.store import Store

    if watch:
        if json:
            from geocrawl.errors import UsageError

            raise UsageError("--watch and --json exclude each other")
        _watch(overrides)
        return
    settings = opt.settings_from(overrides)
    path = opt.database_path_from(settings)
    with Store.open_readonly(path) as queries:
        found = queries.status(time.time())
    if json:
        limits = {name: getattr(settings, name) for name in _LIMITS}
        output.echo_json({"database": str(path), **limits, **asdict(found)})
        return
    for line in status_lines(found, path, time.time(), settings):
        typer.echo(line)


def _watch(overrides: opt.Overrides) -> None:
    """Show the status until Ctrl-C, which is the normal end: exit code 0."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def now() -> Text:
        from geocrawl.cli.status_text import status_lines
        from geocrawl.store import Store
        from geocrawl.utc import moment

        at, settings = time.time(), opt.settings_from(overrides)
        path = opt.database_path_from(settings)
        with Store.open_readonly(path) as queries:
            lines = [*status_lines(queries.status(at), path, at, settings)]
        return Text("\n".join([*lines, f"{moment(at)} UTC, every {WATCH_S:g} s; Ctrl-C ends"]), no_wrap=True)

    # A shell that started us in the background had SIGINT ignored, and we would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Live(now(), console=Console(), auto_refresh=False) as live:
            while True:
                time.sleep(WATCH_S)
                live.update(_or_fault(now), refresh=True)
    except KeyboardInterrupt:
        return


def _or_fault(render: Callable[[], Text]) -> Text:
    """Return what `render` returns, or the message of a database that cannot be read for a moment."""
    from rich.text import Text

    from geocrawl.errors import PassingFault

    try:
        return render()
    except PassingFault as error:
        return Text(str(error))
