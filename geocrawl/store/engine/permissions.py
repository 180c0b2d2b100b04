"""Who may write a database file.

In a folder that a group shares, the group: that is the service's state directory (systemd makes it setgid and writable
for the group, StateDirectoryMode=2770), whose members pause the daemon or add start pages without being root. And what
root makes in such a folder belongs to its owner, for the service could not write it else. SQLite gives its side files
(-wal, -shm) the rights of the database.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from geocrawl.store.engine.faults import no_room

_SHARED = stat.S_ISGID | stat.S_IWGRP
_OF_A_GROUP = 0o660


def make_file(path: Path) -> None:
    """An empty file where there is none, with the rights that its folder or else the umask gives it.

    One that is there and ours is opened to the group of a shared folder: root may have made it before systemd made the
    folder. Raises PassingFault when the disk is full; what else cannot be done is left out, SQLite says it better.
    """
    try:
        folder = path.parent.stat()
        _make(path, folder if folder.st_mode & _SHARED == _SHARED else None)
    except OSError as error:
        if (full := no_room(path, error)) is not None:
            raise full from error


def _make(path: Path, shared: os.stat_result | None) -> None:
    """`shared`: its folder, when a group shares that."""
    try:
        # SQLite alone would make it 0644 less the umask: never for the group to write.
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except FileExistsError:
        if shared:
            _open_to_group(path)
        return
    try:
        if shared:
            _give(descriptor, shared)
    finally:
        os.close(descriptor)


def _give(descriptor: int, folder: os.stat_result) -> None:
    """By descriptor, since another member of the group may put a link into the place of a name."""
    os.fchmod(descriptor, _OF_A_GROUP)
    if os.geteuid() == 0:
        os.fchown(descriptor, folder.st_uid, folder.st_gid)


def _open_to_group(path: Path) -> None:
    """Without opening it: closing any descriptor of it would drop the locks that SQLite holds in this process."""
    found = path.lstat()
    if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() != 0 and not found.st_mode & stat.S_IWGRP:
        path.chmod(stat.S_IMODE(found.st_mode) | _OF_A_GROUP)
