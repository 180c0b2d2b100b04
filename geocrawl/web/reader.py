"""Read the catalogue for requests, in a few threads, each with a read-only connection of its own, so that none holds up
the event loop; searches in a thread of their own, whose engine keeps facts of every service in memory."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import Request

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.filters import QueryError, Sort
from geocrawl.model.details import ServiceDetail
from geocrawl.model.search import FacetValue, LayerResults, Results
from geocrawl.store import Connection, Store
from geocrawl.store.catalogue.index.index import search_engine
from geocrawl.store.catalogue.read.show import current_number, service_detail
from geocrawl.store.catalogue.search.engine import SearchEngine
from geocrawl.urls.database import DatabaseUrl, ServerDatabase
from geocrawl.web.answers import Problem, Workers
from geocrawl.web.options import ANSWER_S
from geocrawl.web.parameters import FACET_FIELDS, Asked
from geocrawl.web.site import site_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Result = TypeVar("_Result")

THREADS = 4
SEARCH_S = 5.0
"""Seconds after which a search ends without an answer."""
_NEWEST = 6
_SERVER_CHANGES_S = 5
"""How old an answer from the catalogue of a server may be."""
_UNREADABLE = "the catalogue cannot be read now; its operator finds the reason in the log of `geocrawl serve`"


class CatalogReader:
    """Asks questions of one catalogue; many at once."""

    def __init__(self, path: DatabaseUrl, threads: int = THREADS) -> None:
        self._path = path
        self._workers = Workers(threads, "catalogue")
        self._local = threading.local()
        self._told = ""

    async def read(self, question: Callable[[Connection], _Result]) -> _Result:
        """Return the answer of a question. Raises Problem 503 when the catalogue cannot be read, or not in time."""
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._workers.run(lambda: self._ask(question))
        except TimeoutError:
            raise Problem(503, "the answer takes too long; ask for less", headers={"Retry-After": "30"}) from None
        except PassingFault as fault:
            self._tell(fault)
            raise Problem(503, "the catalogue is locked for now; try again", headers={"Retry-After": "5"}) from None
        except DatabaseFault as fault:
            self._tell(fault)
            raise Problem(503, _UNREADABLE, headers={"Retry-After": "60"}) from None

    def generation(self) -> tuple[tuple[int, int, int], ...]:
        """Return a value that changes whenever the catalogue's files do."""
        if isinstance(self._path, ServerDatabase):
            return (_state(self._path),)
        return _state(self._path), _state(self._path.with_name(self._path.name + "-wal"))

    def close(self) -> None:
        """End the threads; their connections are closed with them."""
        self._workers.close()

    def _ask(self, question: Callable[[Connection], _Result]) -> _Result:
        try:
            return question(self._opened())
        except DatabaseFault:
            self._forget()  # it may be another file by now
            raise

    def _opened(self) -> Connection:
        """Return this thread's connection, opened again when another file took the place of the catalogue."""
        identity = identity_of(self._path)
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


def identity_of(path: DatabaseUrl) -> int:
    """Return a number that changes when another file takes the place of the catalogue."""
    return _state(path)[0]


def _state(path: DatabaseUrl) -> tuple[int, int, int]:
    """Return inode, time of the last change and size of a file; zeros when there is none. A server's database counts as
    changed every few seconds."""
    if isinstance(path, ServerDatabase):
        return 0, int(time.time() / _SERVER_CHANGES_S), 0
    try:
        found = os.stat(path)  # noqa: PTH116  # twice a request
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_mtime_ns, found.st_size


# --------------------------------------------------------------------------- search


class Finder:
    """Searches one catalogue; one search at a time."""

    def __init__(self, reader: CatalogReader) -> None:
        """`reader` has one thread, so that one engine does it all."""
        self._reader = reader
        self._connection: Connection | None = None
        self._engine: SearchEngine | None = None

    async def find(self, asked: Asked, *, facets: bool, apart: bool = False) -> Results:
        """Return the services that a request asks for, twins as one hit unless `apart`.

        Raises Problem 400 for a query that cannot be read, 503 when the catalogue cannot."""

        def question(connection: Connection, check: Callable[[], None]) -> Results:
            engine = self._engine_of(connection)
            results = _search(engine, asked, check, facets=facets, apart=apart)
            if facets and not apart:
                results = replace(results, facets={**results.facets, **_open_facets(engine, asked, check)})
            return results

        return await self._within_time(question, asked)

    async def numbers(self, asked: Asked) -> list[int]:
        """Return the numbers of the services that `find` with `apart` returns, in its order. Raises as `find` does."""

        def question(connection: Connection, check: Callable[[], None]) -> list[int]:
            return self._engine_of(connection).in_order(
                asked.texts,
                asked.filters,
                sort=asked.sorts,
                turned=asked.turned,
                limit=asked.limit,
                offset=asked.offset,
                check=check,
            )

        return await self._within_time(question, asked)

    async def layers(self, asked: Asked) -> LayerResults:
        """Return the layers that a request asks for. Raises as `find` does."""

        def question(connection: Connection, check: Callable[[], None]) -> LayerResults:
            return self._engine_of(connection).layers(
                asked.text,
                asked.filters,
                sort=asked.sorts,
                turned=asked.turned,
                limit=asked.limit,
                offset=asked.offset,
                check=check,
            )

        return await self._within_time(question, asked)

    async def _within_time(
        self, question: Callable[[Connection, Callable[[], None]], _Result], asked: Asked
    ) -> _Result:
        """Return the answer of a search, which is given the check that ends it. Raises as `find` does."""
        has_left = threading.Event()

        def answer(connection: Connection) -> _Result:
            end = time.monotonic() + SEARCH_S

            def check() -> None:
                if has_left.is_set() or time.monotonic() > end:
                    raise TimeoutError

            check()
            return question(connection, check)

        try:
            return await self._reader.read(answer)
        except QueryError as error:
            raise Problem(400, error.args[0]) from None
        finally:
            has_left.set()

    async def whole(self) -> Results:
        """Return the facets of the whole catalogue, and its newest services."""

        def question(connection: Connection) -> Results:
            return self._engine_of(connection).search(sort=Sort.NEWEST, limit=_NEWEST, facets=True, apart=True)

        return await self._reader.read(question)

    async def extents(self) -> NDArray[np.float64]:
        """Return west, south, east and north in degrees of each service with a known extent, shape (services, 4)."""
        return await self._reader.read(lambda connection: self._engine_of(connection).extents())

    def close(self) -> None:
        """End the thread."""
        self._reader.close()

    def _engine_of(self, connection: Connection) -> SearchEngine:
        """Return the engine of this connection; a new one after the catalogue was opened again."""
        if self._engine is None or self._connection is not connection:
            self._engine, self._connection = search_engine(connection), connection
        return self._engine


def _search(engine: SearchEngine, asked: Asked, check: Callable[[], None], *, facets: bool, apart: bool) -> Results:
    return engine.search(
        asked.texts if apart else asked.text,
        asked.filters,
        sort=asked.sorts,
        turned=asked.turned,
        limit=asked.limit,
        offset=asked.offset,
        facets=facets,
        apart=apart,
        check=check,
    )


def _open_facets(engine: SearchEngine, asked: Asked, check: Callable[[], None]) -> Mapping[str, tuple[FacetValue, ...]]:
    """Return the values of the facets of which some are chosen, counted as if none were: a second one may be added."""
    found = {}
    for name, field in FACET_FIELDS.items():
        if asked.all.get(name):
            unset: dict[str, Any] = {field: ()}
            without = replace(asked, filters=replace(asked.filters, **unset), limit=1, offset=0)
            found[name] = _search(engine, without, check, facets=True, apart=False).facets.get(name, ())
    return found


# --------------------------------------------------------------------------- one service

_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


def number_of(request: Request) -> int:
    """Return the number of the service in a request's path. Raises Problem 404 for what is no number."""
    text = str(request.path_params["number"])
    if not _NUMBER.fullmatch(text):
        raise unknown(text)
    return int(text)


async def renumbered(request: Request) -> str:
    """Return the address of a request under the number that its service has now, '' where it has not become one with
    another. A path begins with the number of its service nowhere but there: `…/items/25/badge.svg`."""
    text = str(request.path_params.get("number", ""))
    if not _NUMBER.fullmatch(text):
        return ""
    number = await site_of(request).reader.read(lambda connection: current_number(connection, int(text)))
    if number == int(text):
        return ""
    before, _, after = request.url.path.rpartition(f"/{text}")
    return str(request.url.replace(scheme="", netloc="", path=f"{before}/{number}{after}"))


async def detail_of(request: Request, number: int) -> ServiceDetail:
    """Return a service with its history. Raises Problem 404 when it is not in the catalogue (any more)."""
    detail = await find_detail(request, number)
    if detail is None:
        raise unknown(str(number))
    return detail


async def find_detail(request: Request, number: int) -> ServiceDetail | None:
    """Return a service with its history; None when it is not in the catalogue (any more)."""
    now = time.time()
    return await site_of(request).reader.read(lambda connection: service_detail(connection, number, past_until=now))


def unknown(text: str) -> Problem:
    """Return the problem of a service that there is not."""
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    return Problem(404, f"there is no service {shown} in the catalogue; it may have been removed")
