"""`geocrawl daemon`, and `pause`, `resume`, `reload`, which reach it through the database."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from geocrawl.cli import options as opt

if TYPE_CHECKING:
    from geocrawl.settings import Settings
    from geocrawl.store.engine.database import Database


def daemon(overrides: opt.Overrides) -> None:
    """Crawl and watch services until stopped: what systemd runs.

    It starts with the seeds in its database (`geocrawl seeds add URL`) and what waits there. One daemon a database.
    """
    from geocrawl.cli.progress import LogObserver, configure_logging
    from geocrawl.daemon.start import run_daemon

    def settings() -> Settings:
        return opt.settings_from(overrides)

    first = settings()
    configure_logging(json_lines=first.log_json, quiet=first.quiet, visits=first.log_visits)
    import structlog

    log = structlog.get_logger().info
    reason = run_daemon(first, opt.database_path_from(first), reread=settings, observer=LogObserver(), log=log)
    log("ended", reason=reason)


def pause(overrides: opt.Overrides) -> None:
    """Let the daemon rest: it settles what is under way and asks nobody for anything until `geocrawl resume`."""
    from geocrawl.store.operations.daemon_lock import ask_to_pause

    _ask(overrides, lambda database: ask_to_pause(database, pause=True), "The daemon rests", "It will rest")


def resume(overrides: opt.Overrides) -> None:
    """Let a paused daemon go on."""
    from geocrawl.store.operations.daemon_lock import ask_to_pause

    _ask(overrides, lambda database: ask_to_pause(database, pause=False), "The daemon goes on", "It will work")


def reload(overrides: opt.Overrides) -> None:
    """Let the daemon read its configuration anew, as `systemctl reload geocrawl` does."""
    from geocrawl.store.operations.daemon_lock import ask_to_reload

    _ask(overrides, ask_to_reload, "The daemon reads its configuration anew", "It reads it anyway")


def _ask(overrides: opt.Overrides, ask: Callable[[Database], None], running: str, idle: str) -> None:
    """Write a wish into the database, and say whether somebody is there to heed it."""
    from geocrawl.app import wiring
    from geocrawl.store.operations.daemon_lock import alive_holder

    path = opt.database_path_from(opt.settings_from(overrides))
    with wiring.open_database(path, wiring.system_clock(), create=False) as database:
        ask(database)
        holder = alive_holder(database.connection, time.time())
    if holder is None:
        typer.echo(f"No daemon runs on {path} now. {idle} when it is started.")
    else:
        typer.echo(f"{running} within a few seconds (process {holder.pid} on {holder.machine}).")
