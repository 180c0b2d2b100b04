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


def daemon(
    db: opt.Db = None,
    proxy: opt.Proxy = None,
    allow_private: opt.AllowPrivate = False,
    delay: opt.Delay = None,
    workers: opt.Workers = None,
    user_agent: opt.UserAgent = None,
    contact: opt.Contact = None,
    quiet: opt.Quiet = False,
    log_json: opt.LogJson = False,
    log_visits: opt.LogVisits = False,
) -> None:
    """Crawl and watch services until stopped: what systemd runs.

    It starts with the seeds in its database (`geocrawl seeds add URL`) and what waits there. One daemon a database.
    """
    from geocrawl.cli.progress import LogObserver, configure_logging
    from geocrawl.daemon.start import run_daemon

    def settings() -> Settings:
        return opt.settings_from(
            db=db,
            proxy=proxy,
            allow_private=allow_private,
            delay=delay,
            workers=workers,
            user_agent=user_agent,
            contact=contact,
            quiet=quiet,
            log_json=log_json,
            log_visits=log_visits,
        )

    first = settings()
    configure_logging(json_lines=first.log_json, quiet=first.quiet, visits=first.log_visits)
    import structlog

    log = structlog.get_logger().info
    reason = run_daemon(first, opt.database_path_from(first), reread=settings, observer=LogObserver(), log=log)
    log("ended", reason=reason)


def pause(db: opt.Db = None) -> None:
    """Let the daemon rest: it settles what is under way and asks nobody for anything until `geocrawl resume`."""
    from geocrawl.store.operations.daemon_lock import ask_to_pause

    _ask(db, lambda database: ask_to_pause(database, pause=True), "The daemon rests", "It will rest")


def resume(db: opt.Db = None) -> None:
    """Let a paused daemon go on."""
    from geocrawl.store.operations.daemon_lock import ask_to_pause

    _ask(db, lambda database: ask_to_pause(database, pause=False), "The daemon goes on", "It will work")


def reload(db: opt.Db = None) -> None:
    """Let the daemon read its configuration anew, as `systemctl reload geocrawl` does."""
    from geocrawl.store.operations.daemon_lock import ask_to_reload

    _ask(db, ask_to_reload, "The daemon reads its configuration anew", "It reads it anyway")


def _ask(db: str | None, ask: Callable[[Database], None], running: str, idle: str) -> None:
    """Write a wish into the database, and say whether somebody is there to heed it."""
    from geocrawl.app import wiring
    from geocrawl.store.operations.daemon_lock import alive_holder

    path = opt.database_path_from(opt.settings_from(db=db))
    with wiring.open_database(path, wiring.system_clock(), create=False) as database:
        ask(database)
        holder = alive_holder(database.connection, time.time())
    if holder is None:
        typer.echo(f"No daemon runs on {path} now. {idle} when it is started.")
    else:
        typer.echo(f"{running} within a few seconds (process {holder.pid} on {holder.machine}).")
