"""Translate SQLite's errors into one clear line each, with advice."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from geocrawl.errors import DatabaseFault, NoRoom, PassingFault, RefusedValue
from geocrawl.store.database.connection import BUSY_S
from geocrawl.store.database.life import Owner
from geocrawl.store.database.sqlite.held_name import is_held

_OF_VALUES = (sqlite3.DataError, sqlite3.IntegrityError, sqlite3.InterfaceError)
Error = sqlite3.Error | UnicodeError | OverflowError
ERRORS = (sqlite3.Error, UnicodeError, OverflowError)
"""What `sqlite3` raises for a statement. UnicodeError: when it quotes damaged bytes of the schema in an error, and for
a text that has no UTF-8 (half of a surrogate pair); OverflowError: for a number of more than 64 bits."""
_RESTORE = "restore a backup with `geocrawl restore FILE`"


def is_there(path: Path) -> bool:
    """Return whether there is a file at `path`. Raises DatabaseFault when its folder may not be read."""
    try:
        return path.is_file()
    except PermissionError as error:
        raise DatabaseFault(
            f"{path}: {error.strerror}; members of the folder's group may read it, or name another --db"
        ) from None


def file_identity(path: Path) -> tuple[int, int] | None:
    """Return what tells the file at `path` from another one that takes its place; None without a file."""
    try:
        found = os.stat(path)  # noqa: PTH116  # half the time of Path.stat, at each transaction
    except OSError:
        return None
    return found.st_dev, found.st_ino


def moved(path: Path) -> DatabaseFault:
    """Return the fault for a file that was deleted or replaced while it was open."""
    return DatabaseFault(
        f"{path}: was deleted or replaced by another file while it was in use; what was written to it since then is "
        "lost. Stop all that use it, put the right file in its place (without the former one's -wal and -shm files), "
        "and start again"
    )


def _owner(path: Path) -> str:
    """Return the name of a file's owner, or the number of one that has no account."""
    try:
        return path.owner()
    except KeyError:
        return str(path.stat().st_uid)


def fault(path: Path, error: Error) -> DatabaseFault:
    """Return the fault for an error of SQLite: what happened to which file, and what helps."""
    if isinstance(error, UnicodeDecodeError):
        return damage(path, "a text in its schema is not UTF-8")
    if isinstance(error, UnicodeError):
        return RefusedValue(f"{path}: cannot hold a text whose characters are not all Unicode")
    if isinstance(error, OverflowError):
        return RefusedValue(f"{path}: cannot hold a number of more than 64 bits")
    text = str(error).lower()
    code = getattr(error, "sqlite_errorname", "") or ""
    if "locked" in text or "busy" in text:
        return PassingFault(f"{path}: locked for {BUSY_S:g} s by {holder(path)}; try again when it has ended")
    if "full" in text or code == "SQLITE_FULL":
        return NoRoom(f"{path}: the disk is full; no settled visit is lost: free some space and continue")
    if "i/o error" in text or code.startswith("SQLITE_IOERR"):
        return NoRoom(
            f"{path}: the disk fails to read or write it ({code or error}); check the disk, its free space and the "
            "limits on the size of files"
        )
    if code == "SQLITE_INTERRUPT":
        return PassingFault(f"{path}: the statement was cut off because it lasted too long")
    if "readonly" in text or "read-only" in text:
        return DatabaseFault(
            f"{path}: cannot be written; check the permissions of the file and its folder, or name another --db"
        )
    if "unable to open" in text:
        if path.exists() and not os.access(path, os.R_OK):
            return DatabaseFault(
                f"{path}: may not be read by this user; run the command as its owner ({_owner(path)}), "
                "or open it to others"
            )
        return DatabaseFault(
            f"{path}: cannot be opened; check that its folder exists and may be written, or name another --db"
        )
    if "not a database" in text:
        return DatabaseFault(f"{path}: is not a SQLite database; {_RESTORE}, or name another --db")
    if "malformed" in text or code.startswith("SQLITE_CORRUPT"):
        return damage(path, str(error))
    if "no such column: " in text or "no such table: v_" in text or "no such table: source" in text:
        return DatabaseFault(
            f"{path}: was written by an older geocrawl; the next command that writes to it "
            "(`geocrawl seeds add`, `crawl` …) brings it up to date"
        )
    if isinstance(error, _OF_VALUES):
        return RefusedValue(f"{path}: {error}")
    return DatabaseFault(f"{path}: {error}")


def damage(path: Path, what: str) -> DatabaseFault:
    """Return the fault for a damaged file."""
    said = " ".join(what.split())[:200]
    return DatabaseFault(
        f"{path}: is damaged ({said}); {_RESTORE}, or save what can be read with `sqlite3 {path} .recover`"
    )


def copy_fault(source: Path, target: Path, error: Error) -> DatabaseFault:
    """Return the fault for an error of SQLite while it copies a database: which of the two files it concerns."""
    code = getattr(error, "sqlite_errorname", "") or ""
    if code == "SQLITE_FULL":
        return PassingFault(f"{target}: the disk is full, no copy was made; free some space or name another folder")
    if code.startswith("SQLITE_IOERR"):  # of either file: SQLite does not say which
        return PassingFault(f"{target}: {source} could not be copied there ({code}); check both disks")
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):  # the source is only read, and open
        return fault(target, error)
    return fault(source, error)


def no_room(path: Path, error: OSError) -> PassingFault | None:
    """Return the fault for a full disk or a spent quota; None for any other error."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return PassingFault(f"{path}: {error.strerror}; free some space and continue")
    return None


def holder(path: Path) -> str:
    """Name, for a person, who may have a lock on the database: the last run that is not ended, if its process runs."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=0.1)
    except sqlite3.Error:
        return "another process"
    try:
        rows = connection.execute(
            "SELECT owner, datetime(started_at, 'unixepoch') FROM run WHERE ended_at IS NULL ORDER BY id DESC"
        ).fetchall()
    except sqlite3.Error:
        rows = []
    finally:
        connection.close()
    runs = (
        f"{Owner.read(text)} (a crawl started {since} UTC)" for text, since in rows if is_held(path, text) is not False
    )
    return next(runs, "another process")
