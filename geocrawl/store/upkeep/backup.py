"""Copy the database while it is in use (SQLite's online backup), and put a checked copy back in its place.

A copy is written under a name of its own and checked before anything else changes, so that a full disk, a damaged copy
or a killed process leaves the database as it was.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Set
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

from geocrawl.errors import DatabaseFault, EnvironmentFault, PassingFault, UsageError
from geocrawl.files import (
    SIDE_FILES,
    leads_to,
    locked,
    make_folder,
    part_of,
    refuse_read_only,
    refuse_side_file,
    remove_abandoned,
)
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.life import Owner, is_alive
from geocrawl.store.database.processes import working_processes
from geocrawl.store.database.sqlite.connection import SqliteConnection
from geocrawl.store.database.sqlite.faults import damage, holder
from geocrawl.store.database.sqlite.files import KEPT, kept_names, make_file, make_private_file
from geocrawl.urls import read_url
from geocrawl.urls.database import DatabaseUrl, file_of

_PAGES_A_STEP = 2_000
_BUSY_S = 1.0
"""How long to wait for others to close the database."""
_HOLDERS = "SELECT DISTINCT lease_owner FROM host WHERE lease_until > ? AND lease_owner IS NOT NULL"


def back_up(url: str | DatabaseUrl, target: Path) -> int:
    """Write a consistent copy of the database at `url`, also while a daemon works on it; return its size in bytes.

    The copy appears under its name when it is whole and was checked; a former copy is replaced. Only its owner may read
    it, and in the service's folder its group. Raises DatabaseFault for a source that cannot be read, UsageError for a
    target that is a catalogue in use, EnvironmentFault for one that cannot be written.
    """
    source = file_of(url, "a backup")
    if not source.is_file():
        raise DatabaseFault(f"{source}: no such database")
    place = target.resolve()
    _refuse_catalogue(target, place, source)
    if not place.parent.is_dir():
        raise EnvironmentFault(f"{target}: the folder {place.parent} does not exist; create it, or name another file")
    with _part(place, make_private_file) as part:
        refuse_read_only(place)
        _copy_file(source, part)
        with _called(part, source):  # the copy is as the source is
            check(part)
        part.replace(place)
    return place.stat().st_size


def restore(
    source: Path,
    url: str | DatabaseUrl,
    now: float,
    prepare: Callable[[Connection, Path], object] = lambda former, copy: None,
) -> Path | None:
    """Put a copy in the place of the database at `url`; return where the former one was kept, None when there was none.

    `prepare(former, copy)` is called with a connection to the former database and the path of the copy before the copy
    takes its place. The former database is complete under its new name, which no other file has. Raises DatabaseFault
    when the copy is damaged or from a newer geocrawl, UsageError when it is the database itself, EnvironmentFault while
    anybody uses the database.
    """
    target = file_of(url, "restoring a backup")
    if leads_to(source, target):
        raise UsageError(f"{source}: is the catalogue itself; name a copy of it")
    refuse_side_file(target)
    check(source)
    place = target.resolve()
    _make_folder(place)
    with alone(place, now) as former, _part(place, make_file) as part:
        refuse_read_only(place)
        _copy_file(source, part)
        check(part)
        if former is not None:
            part.chmod(stat.S_IMODE(place.stat().st_mode))
            prepare(former, part)
        kept = _keep(place) if former is not None else None
        part.replace(place)
    return kept


# --------------------------------------------------------------------------- copying and checking


def _copy_file(source: Path, target: Path) -> None:
    """Write a consistent copy of a database, also while others write to it (SQLite's online backup).

    The copy needs no side files, so it may be carried anywhere. Raises DatabaseFault for a source that cannot be read
    and a target that cannot be written.
    """
    with closing(SqliteConnection.open(source, "ro")) as original, closing(SqliteConnection.open(target)) as copy:
        original.copy_into(copy, _PAGES_A_STEP)
        copy.execute("PRAGMA journal_mode = DELETE")


def check(path: Path) -> None:
    """Check a whole database file. Raises DatabaseFault, with advice, when it is missing, damaged, no database of
    geocrawl, or written by a newer geocrawl."""
    if not path.is_file():
        raise DatabaseFault(f"{path}: no such file")
    with closing(SqliteConnection.open(path, "ro")) as connection:
        if connection.version() is None:
            raise DatabaseFault(f"{path}: is not a database of geocrawl")
        problems = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
    if problems != ["ok"]:
        raise damage(path, "; ".join(problems))


# --------------------------------------------------------------------------- what must not be overwritten


def _refuse_catalogue(target: Path, place: Path, source: Path) -> None:
    """Raise UsageError for a target that is no file, or a database that is more than a copy.

    A copy needs no files beside it; a catalogue that was ever opened has a write-ahead log (bytes 18 and 19 of its
    header, sqlite.org/fileformat2.html, section 1.3.3), and SQLite would play that into the copy.
    """
    if leads_to(target, source):
        raise UsageError(f"{target}: is the catalogue itself")
    if not place.exists():
        return
    if not place.is_file():
        raise UsageError(f"{target}: is not a file")
    with suppress(OSError), place.open("rb") as file:
        if file.read(20)[18:] == b"\2\2":
            raise UsageError(f"{target}: is a catalogue, not a copy of one; name another file")
    for suffix in SIDE_FILES:
        if place.with_name(place.name + suffix).exists():
            raise UsageError(f"{target}: is in use ({place.name}{suffix} is beside it); name another file")


# --------------------------------------------------------------------------- files


def _make_folder(place: Path) -> None:
    try:
        make_folder(place.parent)
    except OSError as error:
        raise EnvironmentFault(f"{place.parent}: {error.strerror}") from None


@contextmanager
def _part(place: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Yield the name of a new empty file, made by `make`, that is to replace `place`; remove what is left of it."""
    part = part_of(place)
    everything = with_sides(part)
    try:
        for each in everything:
            each.unlink(missing_ok=True)  # of a killed process with our number
        remove_abandoned(place)
        make(part)
        with locked(part), _called(part, place):
            yield part
    except OSError as error:
        raise EnvironmentFault(f"{place}: {error.strerror or error}") from None
    finally:
        for each in everything:
            with suppress(OSError):
                each.unlink(missing_ok=True)


@contextmanager
def _called(part: Path, name: Path) -> Iterator[None]:
    """Put `name` in the place of the file that is being written in faults of the database inside."""
    try:
        yield
    except DatabaseFault as error:
        raise type(error)(str(error).replace(str(part), str(name))) from error


def _keep(place: Path) -> Path:
    """Give the former database and its side files a second name that is not in use; return that name.

    Where the file system has no hard links, the database is renamed.
    """
    if former := kept_names(place):  # of a restore that was stopped before the copy took the place
        return former[0]
    first = place.with_name(place.name + KEPT)
    kept = next(name for name in _numbered(first) if not any(map(os.path.lexists, with_sides(name))))
    try:
        os.link(place, kept)
    except OSError:
        place.rename(kept)
    for side, kept_side in zip(with_sides(place)[1:], with_sides(kept)[1:], strict=True):
        if side.exists():  # only beside a damaged file
            side.replace(kept_side)
    return kept


def _numbered(first: Path) -> Iterator[Path]:
    """Yield a name, then the same with -2, -3 …"""
    yield first
    for number in count(2):
        yield first.with_name(f"{first.name}-{number}")


# --------------------------------------------------------------------------- use by nobody else


@contextmanager
def alone(place: Path, now: float) -> Iterator[Connection | None]:
    """Keep all others out of the database while its file is replaced or removed; yield the connection that locks it,
    None when there is no database.

    What its write-ahead log holds is written into the file first, and the log is removed. A file too damaged for that
    stays as it is, and is not locked. Raises EnvironmentFault, naming who, while anybody has it open.
    """
    if not place.exists():
        yield None
        return
    with closing(SqliteConnection.open(place, "rw", busy_s=_BUSY_S)) as connection:
        if _has_facts(connection):
            _refuse_users(connection, place, now)
            _lock(connection, place)
        yield connection


def _refuse_users(connection: Connection, place: Path, now: float) -> None:
    """Raise EnvironmentFault while a daemon, a crawl or a process that holds a lease runs on the database."""
    for process in working_processes(connection, now):
        raise EnvironmentFault(f"{place}: {process} works on it; stop it first")
    for (text,) in connection.execute(_HOLDERS, (now,)).fetchall():
        if is_alive(connection, text, now):
            raise EnvironmentFault(f"{place}: {Owner.read(text)} works on it; stop it first")


def _lock(connection: Connection, place: Path) -> None:
    """Lock the whole file; SQLite leaves the mode with a write-ahead log only when nobody else has the file open."""
    try:
        mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
        if mode == "delete":
            connection.execute("BEGIN EXCLUSIVE")
            return
    except PassingFault as fault:
        if "locked" not in str(fault):
            raise
    raise EnvironmentFault(f"{place}: {holder(place)} has it open; stop it first")


def with_sides(path: Path) -> list[Path]:
    """Return the path of a database and those of its side files."""
    return [path.with_name(path.name + suffix) for suffix in ("", *SIDE_FILES)]


def remove_if_only_of(url: str | DatabaseUrl, hosts: Set[str], now: float) -> None:
    """Remove the database at `url`, if there is one, with its side files.

    Raises DatabaseFault, and removes nothing, when it is not a database of geocrawl or knows other hosts than `hosts`;
    EnvironmentFault while anybody uses it.
    """
    place = file_of(url, "removing a database").resolve()
    if place.exists() and place.stat().st_size:  # to lock a file changes its first page: not of one that stays
        with closing(SqliteConnection.open(place, "ro", busy_s=_BUSY_S)) as reading:
            _demand_only(reading, hosts)
    with alone(place, now) as connection:
        if connection is None:
            return
        if place.stat().st_size:
            _demand_only(connection, hosts)
        for each in reversed(with_sides(place)):
            try:
                each.unlink(missing_ok=True)
            except OSError as error:
                raise EnvironmentFault(f"{each}: {error.strerror or error}") from None


def _demand_only(connection: Connection, hosts: Set[str]) -> None:
    if not _has_facts(connection):
        raise DatabaseFault(f"{connection.path}: is not a database of geocrawl; move it away")
    known = {row[0] for row in connection.execute("SELECT name FROM host").fetchall()}
    seeds = [read_url(row[0]) for row in connection.execute("SELECT address FROM seed").fetchall()]
    known.update(url.host for url in seeds if url is not None)
    if others := sorted(known - hosts):
        raise DatabaseFault(f"{connection.path}: contains other hosts, such as {others[0]}; move it away")


def _has_facts(connection: Connection) -> bool:
    """Return whether the table `meta` can be read: it cannot in an empty and in a damaged file.

    Raises DatabaseFault when the file cannot be opened or is locked.
    """
    try:
        connection.execute("SELECT name FROM meta LIMIT 1").fetchone()
    except DatabaseFault as error:
        if any(words in str(error) for words in ("no such table", "is damaged", "is not a SQLite database")):
            return False
        raise
    return True
