"""`geocrawl doctor`: look at everything that geocrawl needs on this machine, and say what to do."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

import typer

from geocrawl.app.usable import unusable
from geocrawl.cli import options as opt
from geocrawl.cli import output
from geocrawl.cli.daemon import files, refuse_hidden_program
from geocrawl.cli.status import OK, assess
from geocrawl.config import check_all
from geocrawl.errors import GeocrawlError
from geocrawl.fetch.proxy import proxy_from_environment
from geocrawl.sanitize import masked
from geocrawl.settings import Settings
from geocrawl.store.read.status import last_visit_at, read_status
from geocrawl.urls.database import Place
from geocrawl.wording import moment

_LEAST_FREE_BYTES = 500_000_000
_CLOCK_S = 60.0
"""So far the last visit may lie in the future: clocks of several machines differ a little."""
_CONNECT_S = 3.0
_SILENT_S = 6 * 3600.0


@dataclass(frozen=True, slots=True)
class Found:
    """Finding of the doctor about one thing that geocrawl needs: the disk, the clock …"""

    what: str
    good: bool
    said: str
    """State of the thing, and what to do where it is not good."""


def doctor(overrides: opt.Overrides, json: opt.Json = False) -> None:
    """Look at settings, database, disk, clock, name service, proxy, permissions and unit, and say what to do.

    Exit code 1 when something is to be done. Nothing is changed, and no site is asked.
    """
    found = list(examine(opt.settings_from(overrides), time.time()))
    lines = (f"{'ok' if each.good else 'TO DO':<6} {each.what:<12} {each.said}" for each in found)
    output.print_lines(lines, json=json, value=[asdict(each) for each in found])
    if not all(each.good for each in found):
        raise typer.Exit(1)


def examine(settings: Settings, now: float) -> Iterator[Found]:
    """Yield what is found of each thing that geocrawl needs."""
    problems = check_all(os.environ, opt.current_folder(), unusable)
    yield from (Found("settings", False, problem) for problem in problems)
    if not problems:
        yield Found("settings", True, "all can be used here")
    if not (settings.contact or settings.user_agent):
        yield Found("contact", False, "owners of sites cannot reach you: set `contact` in the configuration")
    place = opt.database_path_from(settings)
    yield from _database(settings, place, now)
    if isinstance(place, Path):
        folder = next(each for each in place.absolute().parents if each.exists())
        yield _disk(folder)
        yield _permissions(folder, place)
    yield _names()
    yield from _proxies(settings)
    yield from _unit(Path(f"/{files()[0].path}"))


def _database(settings: Settings, place: Place, now: float) -> Iterator[Found]:
    """Yield the state of the database, of the daemon on it, and of the clock by its last visit."""
    if isinstance(place, Path) and not place.exists():
        yield Found("database", True, f"{place}: there is none yet; `geocrawl crawl URL` or `seeds add URL` makes it")
        return
    try:
        with opt.reading({"db": settings.db}) as connection:
            status, last = read_status(connection, now), last_visit_at(connection)
    except GeocrawlError as error:
        yield Found("database", False, str(error))
        return
    yield Found("database", True, f"{place}: {status.services:,} services")
    code, text = assess(status, last, now, _SILENT_S, place)
    is_needed = status.daemon is not None
    yield Found("daemon", code == OK or not is_needed, text if is_needed else "none has run here; crawls are by hand")
    if last is not None and last > now + _CLOCK_S:
        yield Found(
            "clock", False, f"the last visit was at {moment(last)} UTC, which is to come: set the machine's clock"
        )
    else:
        yield Found("clock", True, f"{moment(now)} UTC, not before the last visit")


def _disk(folder: Path) -> Found:
    free = shutil.disk_usage(folder).free
    advice = "" if free >= _LEAST_FREE_BYTES else ": make room, or move the database (--db)"
    return Found("disk", not advice, f"{folder}: {free / 2**30:,.1f} GiB free{advice}")


def _permissions(folder: Path, place: Path) -> Found:
    closed = [each for each in (folder, place) if each.exists() and not os.access(each, os.R_OK | os.W_OK)]
    if closed:
        return Found("permissions", False, f"{closed[0]}: this user may not write it; run as its owner, or use --db")
    return Found("permissions", True, f"{place} may be written")


def _names() -> Found:
    """Return whether this machine has a name service: /etc/resolv.conf names one. None is asked."""
    try:
        lines = Path("/etc/resolv.conf").read_text("utf-8", "replace").splitlines()
    except OSError as error:
        return Found("names", False, f"/etc/resolv.conf: {error.strerror}: names of hosts cannot be looked up")
    servers = [words[1] for words in map(str.split, lines) if len(words) > 1 and words[0] == "nameserver"]
    if not servers:
        return Found("names", False, "/etc/resolv.conf names no server: add `nameserver ADDRESS`, or use a proxy")
    return Found("names", True, f"looked up at {', '.join(servers)}")


def _proxies(settings: Settings) -> Iterator[Found]:
    """Yield whether each proxy that is set takes connections."""
    try:
        environment = proxy_from_environment(os.environ)
    except GeocrawlError as error:
        yield Found("proxy", False, str(error))
        return
    given = dict.fromkeys(each for each in (settings.proxy, environment.http, environment.https) if each)
    for address in given:
        parts = urlsplit(address)
        if not parts.hostname:
            continue
        try:
            socket.create_connection((parts.hostname, parts.port or 80), _CONNECT_S).close()
            yield Found("proxy", True, f"{masked(address)} takes connections")
        except OSError as error:
            yield Found("proxy", False, f"{masked(address)}: {error.strerror or error}: start it, or unset the setting")
    if not given:
        yield Found("proxy", True, "none is set")


def _unit(unit: Path) -> Iterator[Found]:
    """Yield whether the installed unit is that of this program and can start it."""
    if not unit.exists():
        yield Found("unit", True, "not installed (`geocrawl service install`)")
        return
    try:
        refuse_hidden_program()
        is_current = unit.read_text("utf-8", "replace") == files()[0].text
    except (GeocrawlError, OSError) as error:
        yield Found("unit", False, str(error))
        return
    advice = "" if is_current else " is not that of this program: run `geocrawl service install` again"
    yield Found("unit", is_current, f"{unit}{advice}")
