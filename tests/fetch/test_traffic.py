"""The bytes that are received are told as they come, whatever becomes of the answer."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.fetcher import PoliteFetcher
from geocrawl.model import Failure, FailureCode, HostState, Page, Purpose
from tests.fetch.conftest import AGENT, settings, url
from tests.support.http_server import Behaviour, answer, pages, serve
from tests.support.politeness import MemoryPoliteness

STATUS_LINE = len("HTTP/1.1 200 OK\r\n") + len("\r\n")
BODY = b"<p>map</p>" * 5000


async def on_received(behaviour: Behaviour, target: str, **changes: object) -> tuple[Page | Failure, int]:
    """What came of asking for a target, and how many bytes were told."""
    told: list[int] = []
    chosen = settings(**changes)
    fetcher = PoliteFetcher(chosen, MemoryPoliteness(), SystemClock(), user_agent=AGENT, on_received=told.append)
    async with serve(behaviour) as server:
        async with fetcher.turn(HostState("127.0.0.1")) as turn:
            found = await turn.fetch(url(server.base + target), purpose=Purpose.PAGE)
        await fetcher.close()
    return found, sum(told)


@pytest.mark.parametrize(
    "sent",
    [
        answer(BODY),
        answer(gzip.compress(BODY), content_encoding="gzip"),
        answer(BODY, "404 Not Found"),
        answer(b"", "204 No Content"),
    ],
)
async def test_header_fields_and_bodies_count_as_they_were_sent(sent: bytes) -> None:
    found, count = await on_received(pages({"/": sent}), "/")
    assert isinstance(found, Page)
    status_line = sent.index(b"\r\n") + 2
    assert count == len(sent) - status_line - len(b"\r\n"), "all but the status line and the empty one"


async def test_robots_txt_counts_too() -> None:
    robots, page = answer(b"User-agent: *\nAllow: /\n", content_type="text/plain"), answer(b"<p>page</p>")
    _, count = await on_received(pages({"/robots.txt": robots, "/": page}), "/", ignore_robots=False)
    assert count == len(robots) + len(page) - 2 * STATUS_LINE


async def test_an_answer_that_breaks_off_counts_as_far_as_it_came() -> None:
    async def torn(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n" + BODY)
        await writer.drain()
        writer.close()

    found, count = await on_received(lambda target, writer: torn(writer), "/")
    assert isinstance(found, Failure) and count >= len(BODY)


async def test_an_answer_over_the_limit_counts_although_it_is_refused() -> None:
    found, count = await on_received(pages({"/": answer(BODY)}), "/", page_body_bytes=1000)
    assert isinstance(found, Failure) and found.code is FailureCode.BODY_LIMIT
    assert 1000 < count <= len(answer(BODY))
