"""Copy a database file and check that it is undamaged."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from geocrawl.errors import DatabaseFault
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.sqlite.connection import SqliteConnection

_PAGES_A_STEP = 2_000


def copy_file(source: Path, target: Path, *, portable: bool) -> None:
    """Write a consistent copy of a database, also while others write to it (SQLite's online backup).

    `portable`: the copy needs no side files, so that it may be carried anywhere. Raises DatabaseFault for a source that
    cannot be read and a target that cannot be written.
    """
    original = SqliteConnection.open(source, "ro")
    try:
        copy = SqliteConnection.open(target)
        try:
            original.copy_into(copy, _PAGES_A_STEP)
            if portable:
                copy.execute("PRAGMA journal_mode = DELETE")
        finally:
            copy.close()
    finally:
        original.close()


def check(path: Path) -> None:
    """Check a whole database file. Raises DatabaseFault, with advice, when it is missing, damaged, no database of
    geocrawl, or written by a newer geocrawl."""
    if not path.is_file():
        raise DatabaseFault(f"{path}: no such file")
    connection = SqliteConnection.open(path, "ro")
    try:
        if connection.version() is None:
            raise DatabaseFault(f"{path}: is not a database of geocrawl")
        problems = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
    finally:
        connection.close()
    if problems != ["ok"]:
        raise _damaged(path, problems)


def quick_check(connection: SqliteConnection, path: Path, limit_s: float) -> bool:
    """Check the pages of the file for at most `limit_s` seconds. Returns whether all pages were checked.

    Raises DatabaseFault, with advice, when the file is damaged.
    """
    until = time.monotonic() + limit_s
    connection.interrupt_when(lambda: time.monotonic() > until)
    try:
        problems = [row[0] for row in connection.execute("PRAGMA quick_check(3)")]
    except DatabaseFault as error:
        if isinstance(error.__cause__, sqlite3.OperationalError) and "interrupted" in str(error.__cause__):
            return False
        raise
    finally:
        connection.interrupt_when(None)
    if problems != ["ok"]:
        raise _damaged(path, problems)
    return True


def has_facts(connection: Connection) -> bool:
    """Return whether the table `meta` can be read: it cannot in an empty and in a damaged file.

    Raises DatabaseFault when the file cannot be opened or is locked.
    """
    try:
        connection.execute("SELECT name FROM meta LIMIT 1").fetchone()
    except DatabaseFault as error:
        is_damaged = not isinstance(error.__cause__, sqlite3.OperationalError)
        if is_damaged or "no such table" in str(error.__cause__):
            return False
        raise
    return True


def _damaged(path: Path, problems: list[str]) -> DatabaseFault:
    return DatabaseFault(
        f"{path}: is damaged ({' '.join('; '.join(problems).split())[:200]}); restore a backup with `geocrawl restore "
        f"FILE`, or save what can be read with `sqlite3 {path} .recover`"
    )
