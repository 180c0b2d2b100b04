"""What this machine gives a process, and what it says when it gives no more: open files, memory, threads, ports, disk.

Such an error is a fault of this machine, whatever was requested of whom when it came (`errors.OwnFault`).
"""

from __future__ import annotations

import errno
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

_FILES_PER_WORKER, _FILES_BESIDES = 3, 128
"""A connection, one that is kept open, and a look-up; database, log, threads, recordings."""
BACK = "This machine has resources again"
"""Sentence for the moment when `are_there` is true again."""
_OF_ERRNO = {
    errno.EMFILE: "This process may open no more files and connections (EMFILE): raise LimitNOFILE= of the service or "
    "`ulimit -n`, or use fewer --workers",
    errno.ENFILE: "This machine may open no more files (ENFILE): raise fs.file-max, or use fewer --workers",
    errno.ENOMEM: "This machine has no memory left (ENOMEM): raise MemoryMax= of the service, or use fewer --workers",
    errno.ENOBUFS: "This machine has no network buffers left (ENOBUFS): use fewer --workers",
    errno.EADDRNOTAVAIL: "All local ports are in use (EADDRNOTAVAIL): widen net.ipv4.ip_local_port_range, or use fewer "
    "--workers",
    errno.ENOSPC: "A disk of this machine is full (ENOSPC): make room",
    errno.EDQUOT: "A disk quota is used up (EDQUOT): make room",
    errno.EROFS: "A disk of this machine may only be read (EROFS): mount it for writing",
}
_MEMORY = "This process gets no more memory: raise MemoryMax= of the service, or use fewer --workers"
_THREADS = (
    "This process may start no more threads: raise TasksMax= of the service or `ulimit -u`, or use fewer --workers"
)


def lack_of(error: BaseException) -> str:
    """Return which resource an error, or one of its causes, says is missing, and what to do; '' for any other error."""
    for each in causes_of(error):
        if isinstance(each, MemoryError):
            return _MEMORY
        if isinstance(each, RuntimeError) and "can't start new thread" in str(each):
            return _THREADS
        if isinstance(each, socket.gaierror) or not isinstance(each, OSError):
            if isinstance(each, socket.gaierror) and each.errno == socket.EAI_MEMORY:
                return _MEMORY
            continue
        if each.errno in _OF_ERRNO and (each.errno != errno.EADDRNOTAVAIL or not _is_a_port_left()):
            return _OF_ERRNO[each.errno]
    return ""


def allow_open_files(workers: int) -> str:
    """Let this process open as many files as it may at all; return a line when they may not do for `workers`, else ''.

    The soft limit is often 1024 where the hard one is higher.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
    needed = workers * _FILES_PER_WORKER + _FILES_BESIDES
    if soft == resource.RLIM_INFINITY or needed <= soft:
        return ""
    return (
        f"{workers:,} workers may need {needed:,} open files, {soft:,} are allowed: raise LimitNOFILE= or `ulimit -n`"
    )


def _is_a_port_left() -> bool:
    """Return whether a local port is free. A connect to an address of a family that this machine has not says the same
    as one that finds no port (EADDRNOTAVAIL)."""
    with socket.socket() as taken:
        try:
            taken.bind(("", 0))
        except OSError:
            return False
    return True


async def are_there() -> bool:
    """Return whether this process gets a socket with a port, and a thread."""
    try:
        if not _is_a_port_left():
            return False
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
    except (OSError, RuntimeError, MemoryError):
        return False
    return True


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from, each once."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__
