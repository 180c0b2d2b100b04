"""Copies of the database: made while it is in use (SQLite's online backup), checked before they take its place."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from geocrawl.errors import DatabaseFault, EnvironmentFault
from geocrawl.store.database import read_version
from geocrawl.store.faults import BUSY_S, fault
from geocrawl.store.keeper import alive_holder

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
            with _opened(target) as present:
                holder = alive_holder(present, now)
            present.close()
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
        raise DatabaseFault(
            f"{path}: is damaged ({'; '.join(problems)[:200]}); restore a backup with `geocrawl restore FILE`, or save "
            f"what can be read with `sqlite3 {path} .recover`"
        )


def _opened(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_S)
