"""Create a database file with the permissions that its folder calls for, and refuse names that would damage it.

In a folder that a group shares, the group may write the file. The service's state directory is such a folder (systemd
makes it setgid and writable for the group, StateDirectoryMode=2770): its group's members pause the daemon or add start
pages without being root. A file that root makes there belongs to the folder's owner, because the service could not
write it otherwise. Elsewhere the umask decides, but strangers never read it: addresses in it hold keys and passwords.
SQLite copies the database's permissions to its side files (-wal, -shm).

SQLite keeps what is not in the database yet in files beside it, by the database's name (`files.SIDE_FILES`). A symbolic
link is followed first, so it is harmless. A hard link is not: processes that open one file by two names know nothing of
each other's logs (sqlite.org/howtocorrupt.html, "Multiple links to the same file"). Reading does no harm, and neither
does the second name that a restore gives a database before a copy takes its place: nothing is opened by it then.
"""

from __future__ import annotations

import glob
import os
import stat
from contextlib import suppress
from pathlib import Path

from geocrawl.errors import DatabaseFault
from geocrawl.files import SECRET, refuse_side_file
from geocrawl.store.database.sqlite.faults import no_room

_SHARED = stat.S_ISGID | stat.S_IWGRP


def make_file(path: Path) -> None:
    """Create an empty file, unless there is one, with the permissions that its folder or else the umask implies.

    An existing file that belongs to this user is opened to the group of a shared folder: root may have made it before
    systemd made the folder. Raises PassingFault when the disk is full; SQLite reports all other errors when it opens
    the file.
    """
    try:
        folder = path.parent.stat()
        _make(path, folder if folder.st_mode & _SHARED == _SHARED else None)
    except OSError as error:
        if (full := no_room(path, error)) is not None:
            raise full from error


def open_to_group(path: Path) -> None:
    """Let the group of a shared folder write an existing file that belongs to this user; elsewhere, do nothing."""
    with suppress(OSError):
        if path.parent.stat().st_mode & _SHARED == _SHARED:
            _open_to_group(path)


def make_private_file(path: Path) -> None:
    """Create a file that only its owner may read and write; in a folder that a group shares, the group may read it.

    Raises OSError when it cannot be created.
    """
    folder = path.parent.stat()
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        if folder.st_mode & _SHARED == _SHARED:
            os.fchmod(descriptor, 0o640)
            if os.geteuid() == 0:
                os.fchown(descriptor, folder.st_uid, folder.st_gid)
    finally:
        os.close(descriptor)


def _make(path: Path, shared: os.stat_result | None) -> None:
    """Create the file or open it to the group. `shared`: its folder when a group shares that, else None."""
    try:
        # SQLite alone would make it 0644 less the umask: for strangers to read, never for the group to write.
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, SECRET)
    except FileExistsError:
        if shared:
            _open_to_group(path)
        return
    try:
        if shared:
            _share(descriptor, shared)
    finally:
        os.close(descriptor)


def _share(descriptor: int, folder: os.stat_result) -> None:
    """Let the folder's group write a new file, which becomes the folder's owner's.

    By descriptor, because another member of the group could replace the file's name with a link.
    """
    os.fchmod(descriptor, SECRET)
    if os.geteuid() == 0:
        os.fchown(descriptor, folder.st_uid, folder.st_gid)


def _open_to_group(path: Path) -> None:
    """Let the group write an existing file.

    Without opening it: closing a descriptor would release the locks on the file that SQLite has in this process.
    """
    found = path.lstat()
    if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() != 0 and not found.st_mode & stat.S_IWGRP:
        path.chmod(stat.S_IMODE(found.st_mode) | SECRET)


KEPT = ".before-restore"
"""Ending of the name of a database that a backup replaced; a number may follow."""


def kept_names(path: Path) -> list[Path]:
    """Return the names under which a restore that was stopped was to keep the database at `path`, and which are that
    file still."""
    place = path.resolve()
    return [each for each in place.parent.glob(f"{glob.escape(place.name)}{KEPT}*") if each.samefile(place)]


def refuse_name(path: Path, *, to_write: bool) -> None:
    """Raise UsageError when SQLite keeps a part of another database at `path`; DatabaseFault for a folder, a pipe or a
    device, and for a file with several names that is opened to write it."""
    if to_write:
        refuse_side_file(path)
    try:
        found = path.stat()
    except OSError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise DatabaseFault(f"{path}: is not a file; name another --db")
    if found.st_nlink > 1 and to_write and (names := found.st_nlink - len(kept_names(path))) > 1:
        raise DatabaseFault(
            f"{path}: is one file with {names} names (hard links); SQLite keeps a part of a database beside "
            "its name, so use by two names would damage it: remove the names that are not needed (rm); `geocrawl "
            "backup` makes copies"
        )
