"""Read the catalogue for requests, in a few threads, each with a catalogue of its own, so that none holds up the event
loop; searches in threads of their own, which keep facts of every service in memory."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from geocrawl.errors import DatabaseFault, PassingFault
from geocrawl.filters import QueryError, Sort
from geocrawl.model.search import FacetValue, LayerResults, Results
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.urls.database import DatabaseUrl, ServerDatabase
from geocrawl.web.answers import Problem, Turns, Workers, too_slow
from geocrawl.web.options import ANSWER_S
from geocrawl.web.parameters import FACET_FIELDS, SearchRequest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_Result = TypeVar("_Result")
Check = Callable[[], None]
"""Raises TimeoutError when nobody waits for a search any more, or it has taken too long."""

THREADS = 4
SEARCHES = 2
"""Threads that search; each keeps the facts of all services, 30 MB for 100,000."""
SEARCH_S = 5.0
"""Seconds after which a search ends without an answer."""
_NEWEST = 6
_SERVER_CHANGES_S = 5
"""How old an answer from the catalogue of a server may be."""
_UNREADABLE = "the catalogue cannot be read now; its operator finds the reason in the log of `geocrawl serve`"


class CatalogueReader:
    """Asks questions of one catalogue; many at once."""

    def __init__(self, path: DatabaseUrl, threads: int = THREADS, turns: Turns | None = None) -> None:
        self._path = path
        self._workers = Workers(threads, "catalogue", turns)
        self._local = threading.local()
        self._last_fault = ""

    async def read(self, question: Callable[[Catalogue], _Result]) -> _Result:
        """Return the answer of a question. Raises Problem 503 when the catalogue cannot be read, or not in time."""
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._workers.run(lambda: self._ask(question))
        except TimeoutError:
            raise too_slow() from None
        except PassingFault as fault:
            self._log(fault)
            raise Problem(503, "the catalogue is locked for now; try again", headers={"Retry-After": "5"}) from None
        except DatabaseFault as fault:
            self._log(fault)
            raise Problem(503, _UNREADABLE, headers={"Retry-After": "60"}) from None

    async def search(self, question: Callable[[Catalogue, Check], _Result]) -> _Result:
        """Return the answer of a search, which is given the check that ends it. Raises Problem 400 for a query that
        cannot be read, 503 as `read` does."""
        has_left = threading.Event()

        def answer(catalogue: Catalogue) -> _Result:
            end = time.monotonic() + SEARCH_S

            def check() -> None:
                if has_left.is_set() or time.monotonic() > end:
                    raise TimeoutError

            check()
            return question(catalogue, check)

        try:
            return await self.read(answer)
        except QueryError as error:
            raise Problem(400, error.args[0]) from None
        finally:
            has_left.set()

    def generation(self) -> tuple[tuple[int, int, int], ...]:
        """Return a value that changes whenever the catalogue's files do."""
        if isinstance(self._path, ServerDatabase):
            return (_state(self._path),)
        return _state(self._path), _state(self._path.with_name(self._path.name + "-wal"))

    def close(self) -> None:
        """End the threads; their catalogues are closed with them."""
        self._workers.close()

    def _ask(self, question: Callable[[Catalogue], _Result]) -> _Result:
        try:
            return question(self._opened())
        except DatabaseFault:
            self._forget()  # it may be another file by now
            raise

    def _opened(self) -> Catalogue:
        """Return this thread's catalogue, opened again when another file took its place."""
        identity = identity_of(self._path)
        if getattr(self._local, "identity", None) != identity:
            self._forget()
        if getattr(self._local, "catalogue", None) is None:
            self._local.catalogue, self._local.identity = Catalogue(self._path), identity
        catalogue: Catalogue = self._local.catalogue
        return catalogue

    def _forget(self) -> None:
        catalogue: Catalogue | None = getattr(self._local, "catalogue", None)
        if catalogue is not None:
            catalogue.close()
        self._local.catalogue = None

    def _log(self, fault: DatabaseFault) -> None:
        """Write a fault to standard error, once while it stays the same."""
        if str(fault) != self._last_fault:
            self._last_fault = str(fault)
            sys.stderr.write(f"geocrawl: {fault}\n")


def identity_of(path: DatabaseUrl) -> int:
    """Return a number that changes when another file takes the place of the catalogue."""
    return _state(path)[0]


def _state(path: DatabaseUrl) -> tuple[int, int, int]:
    """Return inode, time of the last change and size of a file; zeros for a missing file. A server's database counts as
    changed every few seconds."""
    if isinstance(path, ServerDatabase):
        return 0, int(time.time() / _SERVER_CHANGES_S), 0
    try:
        status = os.stat(path)  # noqa: PTH116  # twice a request
    except OSError:
        return 0, 0, 0
    return status.st_ino, status.st_mtime_ns, status.st_size


# --------------------------------------------------------------------------- search


class Finder:
    """Searches one catalogue, in two threads, so that one client's costly searches (`Workers`) leave one to others."""

    def __init__(self, path: DatabaseUrl, turns: Turns | None = None) -> None:
        self._reader = CatalogueReader(path, SEARCHES, turns)

    async def find(self, criteria: SearchRequest, *, facets: bool, apart: bool = False) -> Results:
        """Return the services that a request asks for, twins as one hit unless `apart`. Raises as
        `CatalogueReader.search` does."""

        def question(catalogue: Catalogue, check: Check) -> Results:
            text = criteria.texts if apart else criteria.text
            options = criteria.order | {"apart": apart, "check": check}
            results = catalogue.find(text, criteria.filters, facets=facets, **options)
            if facets and not apart:
                results = replace(results, facets={**results.facets, **_open_facets(catalogue.find, criteria, check)})
            return results

        return await self._reader.search(question)

    async def numbers(self, criteria: SearchRequest) -> list[int]:
        """Return the numbers of the services that `find` with `apart` returns, in its order. Raises as `find` does."""
        return await self._reader.search(
            lambda catalogue, check: catalogue.find_numbers(
                criteria.texts, criteria.filters, check=check, **criteria.order
            )
        )

    async def layers(self, criteria: SearchRequest, *, facets: bool = False) -> LayerResults:
        """Return the layers that a request asks for. Raises as `find` does."""

        def question(catalogue: Catalogue, check: Check) -> LayerResults:
            options = criteria.order | {"facets": facets, "check": check}
            results = catalogue.find_layers(criteria.text, criteria.filters, **options)
            if facets:
                opened = _open_facets(catalogue.find_layers, criteria, check)
                results = replace(results, facets={**results.facets, **opened})
            return results

        return await self._reader.search(question)

    async def whole(self) -> Results:
        """Return the facets of the whole catalogue, and its newest services."""
        return await self._reader.read(
            lambda catalogue: catalogue.find(sort=Sort.NEWEST, limit=_NEWEST, facets=True, apart=True)
        )

    async def topics(self, most: int) -> list[str]:
        """Return the words of the field that occur in most titles of services."""
        return await self._reader.read(lambda catalogue: catalogue.topics(most))

    async def extents(self) -> NDArray[np.float64]:
        """Return west, south, east and north in degrees of each service with a known extent, shape (services, 4)."""
        return await self._reader.read(Catalogue.extents)

    def close(self) -> None:
        """End the thread."""
        self._reader.close()


def _open_facets(
    find: Callable[..., Results | LayerResults], criteria: SearchRequest, check: Check
) -> Mapping[str, tuple[FacetValue, ...]]:
    """Return the values of the facets with chosen values, counted as if none were chosen: a second may be added."""
    counted = {}
    for name, field in FACET_FIELDS.items():
        if criteria.all.get(name):
            others = tuple(each for each in criteria.filters.columns if each[0] != name)
            unset: dict[str, Any] = {field: others if field == "columns" else ()}
            filters = replace(criteria.filters, **unset)
            results = find(criteria.text, filters, facets=True, limit=0, check=check)
            counted[name] = results.facets.get(name, ())
    return counted
