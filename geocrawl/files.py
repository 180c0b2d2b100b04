"""Write files whole or not at all, and never over a catalogue.

Every command writes its files through this module. A file appears under its name when all of it is on disk, so a full
disk leaves the former one as it was. A database of SQLite is never written over, by whatever name it is called:
relative, by a symbolic or a hard link, in another spelling; nor are the side files in which SQLite keeps what is not in
the database yet.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from geocrawl.errors import EnvironmentFault, UsageError

SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite appends to a database's name for the files beside it (sqlite.org/fileformat2.html, sections 1, 3, 4)."""
_ABANDONED_S = 60.0
"""Seconds after its last write at which an unlocked part counts as abandoned: a running process locks its parts."""
SECRET = 0o660
"""Permissions, before the umask, of a new file that may contain keys or passwords in addresses: none for other
users."""
MOST_TEXT_BYTES = 256 * 1024**2
"""Length of the longest list or text that is read where a person names its file."""
_SQLITE = b"SQLite format 3\0"
_APPLICATION_ID_AT = 68
_BEGINNINGS = (
    _SQLITE,
    b"\x37\x7f\x06\x82",  # a write-ahead log, by its byte order
    b"\x37\x7f\x06\x83",
    b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7",  # a rollback journal
    (3_007_000).to_bytes(4, sys.byteorder),  # the index of a write-ahead log (sqlite.org/walformat.html)
)


def read_whole(path: Path, most_bytes: int) -> bytes:
    """Return the bytes of a file; raise OSError for one that is longer, as a device may be, or cannot be read."""
    with path.open("rb") as file:
        body = file.read(most_bytes + 1)
    if len(body) > most_bytes:
        raise OSError(errno.EFBIG, f"is longer than {most_bytes // 1024**2} MiB", str(path))
    return body


def refuse_database(path: Path, database: object = None, *, over: bytes = b"") -> None:
    """Raise UsageError when `path` leads to a database of SQLite or to a file beside one.

    `over`: the application id (four bytes) of databases that may be written over, such as GPKG of GeoPackages.
    `database` is the path of a database that this process works on (a server's database has no path): it is recognised
    by its name and its place on the disk and never opened, which would end the locks that SQLite holds on it.
    """
    if isinstance(database, Path) and leads_to(path, database):
        raise UsageError(f"{path}: is the catalogue itself")
    target = path.resolve()
    if _begins_as(target, _BEGINNINGS) and not (over and _application_id(target) == over):
        raise UsageError(f"{path}: is a database (SQLite); name another file")
    refuse_side_file(path)


def refuse_side_file(path: Path) -> None:
    """Raise UsageError when SQLite keeps, or would keep, a part of another database at `path`."""
    target = path.resolve()
    for suffix in SIDE_FILES:
        base = target.name.removesuffix(suffix)
        if base not in ("", target.name) and _begins_as(target.with_name(base), (_SQLITE,)):
            raise UsageError(f"{path}: SQLite keeps a part of the database {base} there; name another file")


def leads_to(path: Path, database: Path) -> bool:
    """Return whether `path` is another name for a database or for one of its side files, which need not exist."""
    for place in {database, database.resolve()}:
        own = [place, *(place.with_name(place.name + suffix) for suffix in SIDE_FILES)]
        if any(path.resolve() == each.resolve() or _is_same_file(path, each) for each in own):
            return True
    return False


def is_standard_output(out: Path | None) -> bool:
    """Return whether a target is standard output, which cannot be replaced as a file is."""
    return out is None or str(out) in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def make_folder(folder: Path) -> None:
    """Make a folder and those above it. Raises UsageError when one would stand where SQLite keeps a part of a database,
    OSError when one cannot be made."""
    for each in (folder, *folder.parents):
        if not each.exists():
            refuse_side_file(each)
    folder.mkdir(parents=True, exist_ok=True)


def demand_folder(folder: Path, names: Iterable[str]) -> None:
    """Make a folder, and raise when files of these names could not be written there: before the work, not after it.

    Raises UsageError when one is a database, EnvironmentFault when the folder cannot be made or written.
    """
    try:
        make_folder(folder)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "no file may be written there")
        for name in names:
            refuse_database(folder / name)
            refuse_read_only(folder / name)
    except OSError as error:
        raise EnvironmentFault(f"{folder}: {error.strerror or error}; name another folder") from error


def refuse_read_only(path: Path) -> None:
    """Raise OSError for a file that is write-protected: a new file that replaces it would ignore its permissions."""
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "the file there may not be written")


def part_of(target: Path) -> Path:
    """Return the name under which this process writes a file before it takes the place of `target`."""
    return target.with_name(f".{target.name}.{os.getpid()}.part")


@contextmanager
def locked(part: Path) -> Iterator[None]:
    """Lock a part while it is written, so that `remove_abandoned` leaves it alone. Raises OSError without a part."""
    descriptor = os.open(part, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        with suppress(OSError):  # a file system without such locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def remove_abandoned(target: Path) -> None:
    """Remove the parts of `target` that killed processes left: old ones that no process has locked (`locked`)."""
    for part in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        with suppress(OSError):
            if time.time() - part.lstat().st_mtime < _ABANDONED_S:
                continue
            descriptor = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for each in (*(part.with_name(part.name + suffix) for suffix in SIDE_FILES), part):
                    each.unlink(missing_ok=True)
            finally:
                os.close(descriptor)


@contextmanager
def whole_file(path: Path, *, mode: int | None = None, new_mode: int = 0o666, over: bytes = b"") -> Iterator[BinaryIO]:
    """Yield a binary file that replaces `path` once all of it is on disk; a symbolic link is kept.

    `mode`: the file's permissions; by default those of the former file or, without one, `new_mode` less the umask.
    `over`: as in `refuse_database`.
    Raises UsageError for a database, OSError when the file cannot be written.
    """
    refuse_database(path, over=over)
    target = path.resolve()
    if target.exists() and not target.is_file():  # a pipe or a device cannot be replaced
        with target.open("wb") as stream:
            yield stream
        return
    refuse_read_only(target)
    remove_abandoned(target)
    part = part_of(target)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        descriptor = os.open(part, flags, new_mode if mode is None else mode)
        with os.fdopen(descriptor, "wb") as stream, locked(part):
            if mode is None and target.exists():
                os.fchmod(descriptor, stat.S_IMODE(target.stat().st_mode))
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def write_faults(path: Path) -> Iterator[None]:
    """Raise EnvironmentFault, which names a file or folder, for an error of the system while it is written."""
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(f"{path}: cannot be written: {error.strerror or error}") from error


def write_whole(path: Path, data: str | bytes, *, mode: int | None = None) -> None:
    """Write a file, text in UTF-8, and its folder if that is missing.

    Raises UsageError for a database, EnvironmentFault when the file cannot be written.
    """
    with write_faults(path):
        make_folder(path.parent)
        with whole_file(path, mode=mode) as stream:
            stream.write(data.encode("utf-8", "replace") if isinstance(data, str) else data)


def _begins_as(path: Path, beginnings: tuple[bytes, ...]) -> bool:
    """Return whether a regular file begins with one of `beginnings`; False for a file that cannot be read."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_SQLITE)).startswith(beginnings)
    except OSError:
        return False


def _application_id(path: Path) -> bytes:
    """Return the application id in the header of a database (sqlite.org/fileformat2.html, 1.3.16); b"" without one."""
    try:
        with path.open("rb") as file:
            return file.read(_APPLICATION_ID_AT + 4)[_APPLICATION_ID_AT:]
    except OSError:
        return b""


def _is_same_file(one: Path, other: Path) -> bool:
    """Return whether both names lead to one file: hard links, another spelling where case is ignored."""
    try:
        return one.samefile(other)
    except OSError:
        return False
