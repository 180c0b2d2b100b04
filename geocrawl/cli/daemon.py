"""`geocrawl daemon`, and `pause`, `resume` and `reload`, which signal a daemon through its database."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from geocrawl.cli import options as opt

if TYPE_CHECKING:
    from geocrawl.settings import Settings
    from geocrawl.store import Store


def daemon(overrides: opt.Overrides) -> None:
    """Crawl, and probe known services again when they are due, until stopped. systemd runs this command.

    It begins with the start pages in its database (`geocrawl seeds add URL`) and with the queue. A database has
    at most one daemon.
    """
    from geocrawl.cli.logs import ask_for_contact, log_file, log_of
    from geocrawl.cli.progress import LogObserver
    from geocrawl.daemon.start import run_daemon

    def settings() -> Settings:
        return opt.settings_from(overrides)

    first = settings()
    with log_file(first) as file:
        log, path = log_of(first, file), opt.new_database_path_from(first)
        ask_for_contact(first, log)
        reason = run_daemon(first, path, reread=settings, observer=LogObserver(log), log=log.info)
        log.info("ended", reason=reason)


def pause(overrides: opt.Overrides) -> None:
    """Pause the daemon: it finishes current requests and sends none until `geocrawl resume`."""
    _ask(overrides, lambda store: store.pause_daemon(pause=True), "The daemon pauses", "It will start paused")


def resume(overrides: opt.Overrides) -> None:
    """Resume a paused daemon."""
    _ask(overrides, lambda store: store.pause_daemon(pause=False), "The daemon resumes", "It will start unpaused")


def reload(overrides: opt.Overrides) -> None:
    """Make the daemon read its configuration again, as `systemctl reload geocrawl` does."""
    _ask(
        overrides,
        lambda store: store.reload_daemon(),
        "The daemon reads its configuration",
        "It will read its configuration",
    )


def _ask(overrides: opt.Overrides, ask: Callable[[Store], None], running: str, idle: str) -> None:
    """Write a request into the database, and print whether a daemon is there to follow it."""
    from geocrawl.app import wiring

    path = opt.database_path_from(opt.settings_from(overrides))
    with wiring.open_store(path, wiring.system_clock(), create=False) as store:
        ask(store)
        holder = store.queries.daemon(time.time())
    if holder is None:
        typer.echo(f"No daemon runs on {path} now. {idle} when it is started.")
    else:
        typer.echo(f"{running} within a few seconds (process {holder.pid} on {holder.machine}).")
