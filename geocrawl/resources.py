"""Use this machine's resources well, and recognise errors that say that it lacks some.

A long run raises the limit on open files and tunes Python's cyclic garbage collector. An error that says that open
files, memory, threads, ports or disk space have run out is a fault of this machine (`errors.OwnFault`), whichever
server was being asked when it occurred.
"""

from __future__ import annotations

import errno
import gc
import resource
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_FILES_PER_WORKER, _FILES_BESIDES = 3, 128
"""Open files of one worker (a connection, an idle connection, a look-up), and of all else (database, log, recordings
…)."""
BACK = "This machine has resources again"
"""Message for the moment when `are_there` returns True again."""
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
    """Raise this process's limit on open files to the hard limit; return a warning when it may be too low for
    `workers`, else ''.

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


def spare_files(workers: int) -> int:
    """Return how many idle connections this process may keep besides what `workers` and all else need; at least one a
    worker."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return sys.maxsize
    return workers + max(soft - workers * _FILES_PER_WORKER - _FILES_BESIDES, 0)


def _is_a_port_left() -> bool:
    """Return whether a local port is free. Connecting to an address of a family that this machine lacks fails with the
    same error as a lack of ports (EADDRNOTAVAIL)."""
    with socket.socket() as taken:
        try:
            taken.bind(("", 0))
        except OSError:
            return False
    return True


async def are_there() -> bool:
    """Return whether this process can get a socket with a port, and a thread."""
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


_MMAP_THRESHOLD, _LARGE_BYTES = -3, 256 * 1024
"""Option of mallopt(3), and its value."""
_AT_START, _IN_A_RUN = (400_000, 20, 20), (10_000, 20, 20)
"""Allocations before a collection of generation 0 (Python's default: 700), collections of generation 0 before one of
generation 1, and of generation 1 before a full one. A visit allocates thousands of containers, and reference counting
frees nearly all of them."""


def tune() -> None:
    """Let the collector run rarely, from the start of the program on.

    Importing the modules of a crawl allocates some hundred thousand containers that are never freed: at Python's
    default thresholds, collections took a tenth of the start-up time.
    """
    gc.set_threshold(*_AT_START)


def collect_all() -> None:
    """Free what nothing refers to any more, what existed when the run began included."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


@contextmanager
def long_run() -> Iterator[None]:
    """Let the collector run rarely during a run, and skip the objects that exist when the run begins.

    Modules, tables and models that are loaded at the start exist as long as the run, so scanning them at every full
    collection frees nothing. At the default thresholds collections took a quarter of a crawl's CPU time.

    Large blocks of memory go back to the system as soon as they are freed: by default glibc keeps blocks up to 32 MiB
    once one of that size was freed, and what a strategy needs for a moment would stay with the process.
    """
    import ctypes

    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE_BYTES)
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_IN_A_RUN)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
