"""Read everything that is shown of one service."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Literal, overload

from starlette.requests import Request

from geocrawl.store import Connection
from geocrawl.store.read.history import EndpointHistory, NewsRow, history_of_service, read_news
from geocrawl.store.read.published import with_thumbnail
from geocrawl.store.read.show import ServiceDetail, service_detail
from geocrawl.web.problems import Problem
from geocrawl.web.site import site_of

_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
_MOST_NEWS = 50


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything that is shown of one service."""

    service: ServiceDetail
    histories: tuple[EndpointHistory, ...]
    news: tuple[NewsRow, ...]
    has_picture: bool

    @property
    def best(self) -> EndpointHistory | None:
        """Return the history of the best address; of the first where none is the best."""
        best = (each for each in self.histories if each.url == self.service.best)
        return next(best, self.histories[0] if self.histories else None)

    @property
    def health(self) -> str:
        """Return the state of the best address."""
        return self.best.health if self.best else "new"

    @property
    def availability(self) -> float | None:
        """Return the share of the last 30 days in which the best address answered."""
        return self.best.availability.get(30) if self.best else None


def number_of(request: Request) -> int:
    """Return the number of the service in a request's path. Raises Problem 404 for what is no number."""
    text = str(request.path_params["number"])
    if not _NUMBER.fullmatch(text):
        raise _unknown(text)
    return int(text)


@overload
async def detail_of(request: Request, number: int) -> Detail: ...
@overload
async def detail_of(request: Request, number: int, *, or_none: Literal[True]) -> Detail | None: ...
async def detail_of(request: Request, number: int, *, or_none: bool = False) -> Detail | None:
    """Return a service with its history. Raises Problem 404 when it is not in the catalogue (any more), unless
    `or_none`."""

    def question(connection: Connection) -> Detail | None:
        service = service_detail(connection, number)
        if service is None:
            return None
        histories = history_of_service(connection, number, time.time())
        news = tuple(read_news(connection, _MOST_NEWS, number))
        return Detail(service, histories, news, bool(with_thumbnail(connection, [number])))

    found = await site_of(request).reader.read(question)
    if found is None and not or_none:
        raise _unknown(str(number))
    return found


def _unknown(text: str) -> Problem:
    shown = text if len(text) <= 40 else f"{text[:39]}…"
    return Problem(404, f"there is no service {shown} in the catalogue; it may have been removed")
