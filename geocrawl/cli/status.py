"""`geocrawl status`: the catalogue at a glance, once or live."""

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
"""Between two looks of `status --watch`."""
_LIMITS = ("max_db_bytes", "traffic_per_day_bytes", "pages_per_day", "hours", "allow", "deny")
"""Settings that bound the daemon, as `status --json` tells them."""


def status(
    overrides: opt.Overrides,
    json: opt.Json = False,
    watch: Annotated[bool, typer.Option("--watch", help="Live, every 2 seconds, until Ctrl-C.")] = False,
) -> None:
    """The catalogue at a glance: services, queue by tier, what is next, slow and resting hosts, last runs and failures.

    Limits are those of your own settings: the daemon may have been started with others.
    """
    from geocrawl.cli.status_text import status_lines
    from geocrawl.store.engine.reading import open_readonly
    from geocrawl.store.queries.status import status as read_status

    if watch:
        if json:
            from geocrawl.errors import UsageError

            raise UsageError("--watch is for people, --json for programs: give one of them")
        _watch(overrides)
        return
    settings = opt.settings_from(overrides)
    path = opt.database_path_from(settings)
    with open_readonly(path) as connection:
        found = read_status(connection, time.time())
    if json:
        limits = {name: getattr(settings, name) for name in _LIMITS}
        output.echo_json({"database": str(path), **limits, **asdict(found)})
        return
    for line in status_lines(found, path, time.time(), settings):
        typer.echo(line)


def _watch(overrides: opt.Overrides) -> None:
    """Show the status again and again; Ctrl-C is how it ends, so it ends with 0."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def now() -> Text:
        from geocrawl.cli.status_text import status_lines
        from geocrawl.store.engine.reading import open_readonly
        from geocrawl.store.queries.status import status as read_status
        from geocrawl.utc import moment

        at, settings = time.time(), opt.settings_from(overrides)
        path = opt.database_path_from(settings)
        with open_readonly(path) as connection:
            lines = [*status_lines(read_status(connection, at), path, at, settings)]
        return Text("\n".join([*lines, f"{moment(at)} UTC, every {WATCH_S:g} s; Ctrl-C ends"]), no_wrap=True)

    # A shell that started us in the background had SIGINT ignored, and we would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Live(now(), console=Console(), auto_refresh=False) as live:
            while True:
                time.sleep(WATCH_S)
                live.update(_or_what_is_wrong(now), refresh=True)
    except KeyboardInterrupt:
        return


def _or_what_is_wrong(look: Callable[[], Text]) -> Text:
    """What a look shows; a database that cannot be read for a moment is no reason to end."""
    from rich.text import Text

    from geocrawl.errors import PassingFault

    try:
        return look()
    except PassingFault as error:
        return Text(str(error))
