"""Run queries in a few threads, each with a read-only connection of its own, so that none holds up the event loop."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeVar

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.store import Connection, Store
from geocrawl.urls.database import Place, ServerDatabase
from geocrawl.web.options import ANSWER_S
from geocrawl.web.problems import Problem

_Result = TypeVar("_Result")

THREADS = 4
MAX_WAITING = 200
"""Most questions that wait for a thread."""
_SERVER_CHANGES_S = 5
"""How old an answer from the catalogue of a server may be."""
_UNREADABLE = "the catalogue cannot be read now; its operator finds the reason in the log of `geocrawl serve`"


class CatalogReader:
    """Asks questions of one catalogue; many at once."""

    def __init__(self, path: Place, threads: int = THREADS) -> None:
        self._path = path
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="catalogue")
        self._local = threading.local()
        self._waiting = 0
        self._told = ""

    async def read(self, question: Callable[[Connection], _Result]) -> _Result:
        """Return the answer of a question. Raises Problem 503 when the catalogue cannot be read, or not in time."""
        if self._waiting >= MAX_WAITING:
            raise Problem(503, "too many requests wait for the catalogue; try again", headers={"Retry-After": "5"})
        self._waiting += 1
        try:
            async with asyncio.timeout(ANSWER_S):
                return await asyncio.get_running_loop().run_in_executor(self._pool, self._ask, question)
        except TimeoutError:
            raise Problem(503, "the answer takes too long; ask for less", headers={"Retry-After": "30"}) from None
        except PassingFault as fault:
            self._tell(fault)
            raise Problem(503, "the catalogue is locked for now; try again", headers={"Retry-After": "5"}) from None
        except DatabaseFault as fault:
            self._tell(fault)
            raise Problem(503, _UNREADABLE, headers={"Retry-After": "60"}) from None
        finally:
            self._waiting -= 1

    def generation(self) -> tuple[tuple[int, int, int], ...]:
        """Return a value that changes whenever the catalogue's files do."""
        if isinstance(self._path, ServerDatabase):
            return (_state(self._path),)
        return _state(self._path), _state(self._path.with_name(self._path.name + "-wal"))

    def close(self) -> None:
        """End the threads; their connections are closed with them."""
        self._pool.shutdown(cancel_futures=True)

    def _ask(self, question: Callable[[Connection], _Result]) -> _Result:
        try:
            return question(self._opened())
        except DatabaseFault:
            self._forget()  # it may be another file by now
            raise

    def _opened(self) -> Connection:
        """Return this thread's connection, opened anew when another file took the place of the catalogue."""
        identity = _state(self._path)[:1]
        if getattr(self._local, "identity", None) != identity:
            self._forget()
        if getattr(self._local, "opened", None) is None:
            stack = ExitStack()
            self._local.connection = stack.enter_context(Store.open_readonly(self._path))
            self._local.opened, self._local.identity = stack, identity
        connection: Connection = self._local.connection
        return connection

    def _forget(self) -> None:
        opened: ExitStack | None = getattr(self._local, "opened", None)
        if opened is not None:
            opened.close()
        self._local.opened = None

    def _tell(self, fault: DatabaseFault) -> None:
        """Write a fault to standard error, once while it stays the same."""
        if str(fault) != self._told:
            self._told = str(fault)
            sys.stderr.write(f"geocrawl: {fault}\n")


def _state(path: Place) -> tuple[int, int, int]:
    """Return inode, time of the last change and size of a file; zeros when there is none. A server's database counts as
    changed every few seconds."""
    if isinstance(path, ServerDatabase):
        return 0, int(time.time() / _SERVER_CHANGES_S), 0
    try:
        found = os.stat(path)  # noqa: PTH116  # twice a request
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_mtime_ns, found.st_size
