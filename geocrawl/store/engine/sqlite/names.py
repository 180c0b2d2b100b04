"""Refuse a name of a database under which SQLite would damage it or lose what is written to it.

SQLite keeps what is not in the database yet in files beside it, by the database's name (`files.SIDE_FILES`). A symbolic
link is followed first, so it is harmless. A hard link is not: processes that open one file by two names know nothing of
each other's logs (sqlite.org/howtocorrupt.html, "Multiple links to the same file"). A copy without a log may be read.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from geocrawl.errors import DatabaseFault
from geocrawl.files import refuse_side_file


def refuse_name(path: Path, *, to_write: bool) -> None:
    """Raise UsageError when SQLite keeps a part of another database at `path`; DatabaseFault for a folder, a pipe or a
    device, and for a database with several names that is opened to write it, or has a write-ahead log."""
    if to_write:
        refuse_side_file(path)
    try:
        found = path.stat()
    except OSError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise DatabaseFault(f"{path}: is not a file; name another --db")
    if found.st_nlink > 1 and (to_write or _has_log(path)):
        beside = ", ".join(each.name for each in _names_beside(path.resolve(), found.st_ino))
        raise DatabaseFault(
            f"{path}: is one file with {found.st_nlink} names (hard links{': also ' + beside if beside else ''}); "
            "SQLite keeps a part of a database beside its name, so use by two names would damage it: remove the names "
            "that are not needed (rm); `geocrawl backup` makes copies"
        )


def _has_log(path: Path) -> bool:
    """Return whether the header declares a write-ahead log (bytes 18 and 19, sqlite.org/fileformat2.html).

    The descriptor stays open until the process ends: closing it would end the locks that SQLite holds on the file.
    """
    try:
        return os.pread(os.open(path, os.O_RDONLY | os.O_CLOEXEC), 2, 18) == b"\2\2"
    except OSError:
        return False


def _names_beside(path: Path, inode: int) -> list[Path]:
    """Return the other names that a file has in its folder, as far as that may be read."""
    with suppress(OSError):
        return sorted(each for each in path.parent.iterdir() if each != path and each.lstat().st_ino == inode)
    return []
