"""Copy the database while it is in use (SQLite's online backup), and replace it with a copy that was checked."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from geocrawl.errors import DatabaseFault, EnvironmentFault
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.integrity import check, copy_file, has_facts
from geocrawl.store.engine.permissions import make_file
from geocrawl.store.operations.daemon_lock import Holder, alive_holder


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
        copy_file(source, part, portable=True)
        check(part)
        part.replace(target)
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
        copy_file(source, part, portable=False)
        part.replace(target)
    except OSError as error:
        raise EnvironmentFault(f"{target}: {error.strerror}") from None
    return kept


def _holder(path: Path, now: float) -> Holder | None:
    """Return the daemon that runs on a database; None when none does, or when the file is too damaged to be read."""
    with closing(Connection.open(path, "ro")) as connection:
        return alive_holder(connection, now) if has_facts(connection) else None
