"""Copies of the database: made while it is in use (SQLite's online backup), checked before they take its place."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from geocrawl.errors import DatabaseFault, EnvironmentFault
from geocrawl.store.engine.database import read_version
from geocrawl.store.engine.faults import BUSY_S, fault
from geocrawl.store.engine.permissions import make_file
from geocrawl.store.operations.daemon_lock import Holder, alive_holder

_PAGES_A_STEP = 2_000


def back_up(source: Path, target: Path) -> int:
    """Write a consistent copy of the database, also while a daemon works on it; returns its size in bytes.

    The copy appears under its name when it is whole and was checked. Raises DatabaseFault for a source that cannot be
    read, EnvironmentFault for a target that cannot be written.
    """
    if not source.is_file():
        raise DatabaseFault(f"{source}: no such database")
    part = target.with_name(target.name + ".part")
    try:
        part.unlink(missing_ok=True)
        with _opened(source) as original, sqlite3.connect(part) as copy:
            original.backup(copy, pages=_PAGES_A_STEP)
            # A file for itself, without side files: it may be carried anywhere.
            copy.execute("PRAGMA journal_mode = DELETE")
        copy.close()
        original.close()
        check(part)
        part.replace(target)
    except sqlite3.Error as error:
        raise fault(source, error) from error
    except OSError as error:
        raise EnvironmentFault(f"{target}: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
    return target.stat().st_size


def restore(source: Path, target: Path, now: float) -> Path | None:
    """Put a copy in the database's place; returns where the former one was kept, None when there was none.

    Raises DatabaseFault when the copy is damaged or from a newer geocrawl, EnvironmentFault while a daemon runs.
    """
    check(source)
    kept = None
    try:
        if target.exists():
            holder = _holder(target, now)
            if holder is not None:
                raise EnvironmentFault(
                    f"{target}: a daemon runs on it (process {holder.pid} on {holder.machine}); stop it first"
                )
            kept = target.with_name(target.name + ".before-restore")
            for suffix in ("", "-wal", "-shm"):
                side = target.with_name(target.name + suffix)
                if side.exists():
                    side.replace(kept.with_name(kept.name + suffix))
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        part.unlink(missing_ok=True)
        make_file(part)
        with _opened(source) as original, sqlite3.connect(part) as copy:
            original.backup(copy, pages=_PAGES_A_STEP)
        copy.close()
        original.close()
        part.replace(target)
    except sqlite3.Error as error:
        raise fault(target, error) from error
    except OSError as error:
        raise EnvironmentFault(f"{target}: {error.strerror}") from None
    return kept


def _holder(path: Path, now: float) -> Holder | None:
    """The daemon that runs on a database; None when none does, or when the file is too damaged to tell."""
    try:
        with closing(_opened(path)) as connection:
            return alive_holder(connection, now)
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return None
        raise
    except sqlite3.DatabaseError:
        return None


def quick_check(connection: sqlite3.Connection, path: Path, limit_s: float) -> bool:
    """Look over the pages of the file for at most `limit_s`; whether it came to the end.

    Raises DatabaseFault, saying what to do, when they do not hang together.
    """
    until = time.monotonic() + limit_s
    connection.set_progress_handler(lambda: time.monotonic() > until, 100_000)
    try:
        problems = [row[0] for row in connection.execute("PRAGMA quick_check(3)")]
    except sqlite3.OperationalError as error:
        if "interrupted" in str(error):
            return False
        raise fault(path, error) from error
    except sqlite3.DatabaseError as error:
        raise fault(path, error) from error
    finally:
        connection.set_progress_handler(None, 0)
    if problems != ["ok"]:
        raise _damaged(path, problems)
    return True


def _damaged(path: Path, problems: list[str]) -> DatabaseFault:
    return DatabaseFault(
        f"{path}: is damaged ({' '.join('; '.join(problems).split())[:200]}); restore a backup with `geocrawl restore "
        f"FILE`, or save what can be read with `sqlite3 {path} .recover`"
    )


def check(path: Path) -> None:
    """Raises DatabaseFault, saying what to do, for a file that is no whole database of a geocrawl that we know."""
    if not path.is_file():
        raise DatabaseFault(f"{path}: no such file")
    try:
        with _opened(path) as connection:
            if read_version(connection, path) is None:
                raise DatabaseFault(f"{path}: is no database of geocrawl")
            problems = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
        connection.close()
    except sqlite3.DatabaseError as error:
        raise fault(path, error) from error
    if problems != ["ok"]:
        raise _damaged(path, problems)


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_S)
