"""Run geocrawl as a service: `daemon`, `pause`, `resume`, `reload`, `stop`, `workers`, `service`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.output import in_a_shell, program
from geocrawl.cli.progress import LogObserver, ask_for_contact, log_file, log_of
from geocrawl.config.show import example
from geocrawl.daemon.start import run_daemon
from geocrawl.errors import EnvironmentFault
from geocrawl.files import write_whole
from geocrawl.store import Database
from geocrawl.store.database.processes import Worker, alive_holder, read_workers, working_processes
from geocrawl.store.upkeep.daemon_lock import ask_to_pause, ask_to_reload, end_process
from geocrawl.wording import moment


def daemon(overrides: opt.Overrides) -> None:
    """Crawl, and probe known services again when they are due, until stopped. systemd runs this command.

    It begins with the start pages in its database (`geocrawl seeds add URL`) and with the queue. A database has
    at most one daemon.
    """

    notes: list[str] = []
    first = opt.settings_of_run(overrides, notes.append)
    with log_file(first) as file:
        log, path = log_of(first, file), opt.new_database_path_from(first, overrides)
        ask_for_contact(first, log)
        for note in notes:
            log.info(note)
        reread = partial(opt.settings_of_run, overrides, log.info)
        reason = run_daemon(first, path, reread=reread, observer=LogObserver(log), log=log.info)
        log.info("ended", reason=reason)


def pause(overrides: opt.Overrides) -> None:
    """Pause the daemon: it finishes current requests and sends none until `geocrawl resume`."""
    _ask(overrides, partial(ask_to_pause, pause=True), "The daemon pauses", "It will start paused")


def resume(overrides: opt.Overrides) -> None:
    """Resume a paused daemon."""
    _ask(overrides, partial(ask_to_pause, pause=False), "The daemon resumes", "It will start unpaused")


def reload(overrides: opt.Overrides) -> None:
    """Make the daemon read its configuration again, as `systemctl reload geocrawl` does."""
    _ask(overrides, ask_to_reload, "The daemon reads its configuration", "It will read its configuration")


def _ask(overrides: opt.Overrides, ask: Callable[[Database], None], running: str, idle: str) -> None:
    """Write a request into the database, and print whether a daemon is there to follow it."""
    with opt.writing(overrides) as store:
        ask(store.database)
        holder = alive_holder(store.connection, store.connection.now())
    if holder is None:
        typer.echo(f"No daemon runs on {store.path} now. {idle} when it is started.")
    else:
        typer.echo(f"{running} within a few seconds (process {holder.pid} on {holder.machine}, {store.path}).")


def stop(
    overrides: opt.Overrides,
    wait: Annotated[
        int, typer.Option("--wait", metavar="SECONDS", min=0, help="Longest wait for each process to end.")
    ] = 60,
) -> None:
    """End the daemon, crawls and harvests that run on the catalogue: they finish current requests, and lose no visit.

    `geocrawl crawl` and `geocrawl daemon` resume later. Exit code 3 when one still runs then.

    Example: geocrawl stop --db geocrawl.db
    """
    all_ended = True
    with opt.writing(overrides) as store:
        processes = working_processes(store.connection, store.connection.now())
        if not processes:
            typer.echo(f"No daemon, crawl or harvest runs on {store.path}.")
        for process in processes:
            has_ended = end_process(store.database, process, wait)
            all_ended = all_ended and has_ended
            result = (
                "has ended"
                if has_ended
                else f"was asked to end and still runs after {wait} s; `geocrawl status` shows it"
            )
            typer.echo(f"{process} {result}.", err=not has_ended)
    if not all_ended:
        raise typer.Exit(3)


def workers(overrides: opt.Overrides, json: opt.Json = False) -> None:
    """Show the processes that crawl on the catalogue: since when, how fast, and how many hosts they have leased.

    Example: geocrawl workers --db postgresql://geocrawl@db.example.org/geocrawl
    """
    with opt.connection(overrides) as connection:
        found = read_workers(connection, connection.now())
    if not found and not json:
        typer.echo("No crawl runs on this catalogue.")
        return
    columns = ("process", "strategy", "since (UTC)", "visits", "a minute", "hosts leased")
    output.print_rows(found, columns, _cells, json=json, least=("hosts leased", "visits"))


def _cells(worker: Worker) -> tuple[str, ...]:
    """Return the row of a process in the table of `workers`."""
    return (
        worker.process + (f" (helps {worker.helps.rpartition(':')[2]})" if worker.helps else ""),
        worker.strategy + (", learns" if worker.learns else ""),
        moment(worker.since),
        str(worker.settled),
        "-" if worker.a_minute is None else f"{worker.a_minute:g}",
        str(worker.leases),
    )


Root = Annotated[Path, typer.Option("--root", metavar="DIR", help="Write below this directory (for packagers).")]
_GROUP = "geocrawl"
_CATALOGUE = Path("/var/lib/geocrawl/geocrawl.db")
_PLAIN_WORD = re.compile(r"[\w./+=:,@-]+")
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be done, and do nothing.")]


@dataclass(frozen=True, slots=True)
class ServiceFile:
    """A file of the service."""

    path: Path
    """Relative to the root."""
    text: str
    mode: int = 0o644
    """Permissions of the file."""
    keep: bool = False
    """Never overwrite or remove the file: it belongs to the operator."""


def install(root: Root = Path("/"), dry_run: DryRun = False) -> None:
    """Install the unit, its user and an example configuration; start nothing.

    Then: systemctl enable --now geocrawl
    """
    if root == Path("/") and not dry_run:
        _refuse_hidden_program()
    for file in files():
        target = root / file.path
        if file.keep and target.exists():
            typer.echo(f"kept     {target}")
            continue
        if not dry_run:
            _write(target, file)
        typer.echo(f"{'would write' if dry_run else 'wrote':<8} {target}")
        if dry_run and file.path == UNIT:
            typer.echo(file.text)
    if root == Path("/") and dry_run:
        _refuse_hidden_program()
    elif root == Path("/"):
        _run_systemd(
            ["systemd-sysusers", "geocrawl.conf"],
            ["systemd-tmpfiles", "--create", "geocrawl.conf"],
            ["systemctl", "daemon-reload"],
        )
        for file in files():
            if not file.mode & 0o004:
                _give_to_group(root / file.path)
        typer.echo(_NEXT_STEPS.format(geocrawl=in_a_shell()))


_NEXT_STEPS = """Next:
  1. set `contact` in /etc/geocrawl/config.toml, so that owners of sites can reach you
  2. {geocrawl} seeds add https://www.example.org/
  3. systemctl enable --now geocrawl
Commands of root and of the group geocrawl use the service's catalogue, which `db` names in that file."""
_HIDDEN_BY_UNIT = tuple(map(Path, ("/home", "/root", "/run/user", "/tmp", "/var/tmp")))  # noqa: S108  # not written
"""Folders that the unit does not see: ProtectHome=, PrivateTmp= (systemd.exec(5))."""


def _refuse_hidden_program() -> None:
    """Raise EnvironmentFault when the service could not start this program, or the Python that it runs on."""
    for path in (Path(program()[0]), Path(sys.executable).resolve()):
        folder = next(
            (parent for parent in path.parents if parent in _HIDDEN_BY_UNIT or not _may_be_entered(parent)), None
        )
        if folder is not None:
            raise EnvironmentFault(
                f"{path}: the service could not start this program: {folder} is closed to it. Install geocrawl where "
                "all users may run it, in its folder: python3 -m venv /opt/geocrawl && /opt/geocrawl/bin/pip install ."
            )


def _may_be_entered(folder: Path) -> bool:
    return bool(folder.stat().st_mode & 0o001)


def uninstall(root: Root = Path("/"), dry_run: DryRun = False) -> None:
    """Stop the service and remove its unit and user file; keep the catalogue and the configuration."""
    if root == Path("/") and not dry_run:
        _run_systemd(["systemctl", "disable", "--now", "geocrawl"])
    for file in files():
        target = root / file.path
        if file.keep or not target.exists():
            continue
        if not dry_run:
            _remove(target)
        typer.echo(f"{'would remove' if dry_run else 'removed':<8} {target}")
    if root == Path("/") and not dry_run:
        _run_systemd(["systemctl", "daemon-reload"])


UNIT = Path("etc/systemd/system/geocrawl.service")
"""The unit of the service, below the root."""


def unit_text() -> str:
    """Return the unit that starts this program. Raises EnvironmentFault when the service could not start it."""
    _refuse_hidden_program()
    return files()[0].text


def files() -> tuple[ServiceFile, ...]:
    """Return the files of the service with their contents."""
    folder = opt.shipped("systemd", "systemd")
    unit = (folder / "geocrawl.service").read_text("utf-8").replace("@GEOCRAWL@", command_line(program()))
    return (
        ServiceFile(UNIT, unit),
        ServiceFile(
            Path("etc/sysusers.d/geocrawl.conf"),
            (folder / "geocrawl.sysusers").read_text("utf-8"),
        ),
        ServiceFile(
            Path("etc/tmpfiles.d/geocrawl.conf"),
            "# The folder of the catalogue, as the unit makes it: commands need it before the first start.\n"
            f"d {_CATALOGUE.parent} 2770 {_GROUP} {_GROUP} -\n",
        ),
        ServiceFile(
            Path("etc/geocrawl/config.toml"),
            example().replace('#db = ""', f'db = "{_CATALOGUE}"', 1),
            mode=0o640,
            keep=True,
        ),
    )


def command_line(words: Sequence[str]) -> str:
    """Return the words of a command as ExecStart= reads them (systemd.service(5), "Command lines").

    A word with other characters than usual paths have is quoted; `%` and `$` have a meaning in quotes, too. systemd
    starts no program whose path has quotes or a backslash, so env(1) starts those.
    """
    replaced = any(character in words[0] for character in "\"'\\$")
    words = ("/usr/bin/env", *words) if replaced else words
    return " ".join(word if _PLAIN_WORD.fullmatch(word) else _quoted(word) for word in words)


def _quoted(word: str) -> str:
    for character, written in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$")):
        word = word.replace(character, written)
    return f'"{word}"'


def _write(target: Path, file: ServiceFile) -> None:
    try:
        write_whole(target, file.text, mode=file.mode)
    except EnvironmentFault as fault:
        raise EnvironmentFault(f"{fault}; installing a service needs root (sudo)") from None


def _give_to_group(target: Path) -> None:
    """Let the service's group read a file of root: the configuration may hold passwords, so nobody else may."""
    try:
        shutil.chown(target, group=_GROUP)
    except (LookupError, OSError):
        typer.echo(f"not done chgrp {_GROUP} {target} (there is no such group here); the service could not read it")


def _remove(target: Path) -> None:
    try:
        target.unlink()
    except OSError as error:
        raise EnvironmentFault(f"{target}: {error.strerror}; this needs root (sudo)") from None


def _run_systemd(*commands: list[str]) -> None:
    """Run systemd's programs if they are installed; print failures and go on."""
    for command in commands:
        if shutil.which(command[0]) is None:
            typer.echo(f"not run  {' '.join(command)} (no {command[0]} here)")
            continue
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own words
        if done.returncode != 0:
            typer.echo(f"failed   {' '.join(command)}: {' '.join(done.stderr.split())[:200]}", err=True)
