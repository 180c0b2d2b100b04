"""Requests by validators: what is sent, to which address, and what a 304 then means."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from geocrawl.fetch.fetcher import PoliteFetcher
from geocrawl.fetch.record import WarcRecorder
from geocrawl.model import Failure, HostState, Page, Purpose, Validators
from tests.support.http_server import Loopback, answer, pages, redirect, serve
from tests.support.politeness import MemoryPoliteness

from .conftest import AGENT, Kit, settings, url

MakeKit = Callable[..., Kit]

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
NOT_MODIFIED = b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n'


def conditions(server: Loopback) -> list[tuple[str, str | None, str | None]]:
    """(target, If-None-Match, If-Modified-Since) of every request."""
    return [
        (target, fields.get("if-none-match"), fields.get("if-modified-since"))
        for target, fields in zip(server.targets, server.fields, strict=True)
    ]


async def ask(kit: Kit, address: str, validators: Validators, purpose: Purpose = Purpose.PAGE) -> Page | Failure:
    asked = url(address)
    async with kit.turn() as turn:
        return await turn.fetch(asked, purpose=purpose, validators=validators)


@pytest.mark.parametrize("purpose", [Purpose.PAGE, Purpose.PROBE])
async def test_both_validators_are_sent_and_a_304_says_that_they_hold(kit: MakeKit, purpose: Purpose) -> None:
    async with serve(pages({"/a": NOT_MODIFIED})) as server:
        address = f"{server.base}/a"
        one = kit()
        for _ in range(2):  # the connection is still good
            got = await ask(one, address, Validators(address, 'W/"a"', DATE), purpose)
            assert isinstance(got, Page) and got.not_modified
            assert (got.status, got.body, got.final.address) == (304, b"", address)
        assert conditions(server) == [("/a", 'W/"a"', DATE)] * 2
        assert server.connections == 1


async def test_what_is_not_known_is_not_sent_and_a_whole_answer_is_read(kit: MakeKit) -> None:
    async with serve(pages({"/a": answer(b"new", etag='"b"')})) as server:
        address = f"{server.base}/a"
        got = await ask(kit(), address, Validators(address, "", DATE))
        assert isinstance(got, Page) and not got.not_modified and got.body == b"new"
        assert conditions(server) == [("/a", None, DATE)]


async def test_a_304_that_nobody_asked_for_is_an_answer_like_any_other(kit: MakeKit) -> None:
    async with serve(pages({"/a": answer(status="304 Not Modified")})) as server:
        got = await kit().get(f"{server.base}/a")
        assert isinstance(got, Page) and got.status == 304 and not got.not_modified
        elsewhere = Validators(f"{server.base}/b", '"a"')
        got = await ask(kit(), f"{server.base}/a", elsewhere)
        assert isinstance(got, Page) and got.status == 304 and not got.not_modified
        assert conditions(server) == [("/a", None, None)] * 2


async def test_on_the_way_of_redirects_only_their_own_address_is_asked_by_them(kit: MakeKit) -> None:
    web = {"/a": redirect("/b"), "/b": redirect("/c"), "/c": NOT_MODIFIED}
    async with serve(pages(web)) as server:
        got = await ask(kit(), f"{server.base}/a", Validators(f"{server.base}/c", '"c"'))
        assert isinstance(got, Page) and got.not_modified and got.final.address == f"{server.base}/c"
        assert conditions(server) == [("/a", None, None), ("/b", None, None), ("/c", '"c"', None)]
        server.lines.clear()
        server.fields.clear()
        got = await ask(kit(), f"{server.base}/a", Validators(f"{server.base}/a", '"a"'))
        assert isinstance(got, Page) and got.status == 304 and not got.not_modified, "the target was not asked by them"
        assert conditions(server) == [("/a", '"a"', None), ("/b", None, None), ("/c", None, None)]


async def test_robots_txt_is_asked_without_them(kit: MakeKit) -> None:
    async with serve(pages({"/a": NOT_MODIFIED})) as server:
        await ask(kit(ignore_robots=False), f"{server.base}/a", Validators(f"{server.base}/a", '"a"'))
        assert conditions(server) == [("/robots.txt", None, None), ("/a", '"a"', None)]


async def test_a_304_with_a_body_is_not_read(kit: MakeKit) -> None:
    async def chatty(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello")
        await writer.drain()

    async with serve(chatty) as server:
        one, address = kit(), f"{server.base}/a"
        for _ in range(2):
            got = await ask(one, address, Validators(address, '"a"'))
            assert isinstance(got, Page | Failure)
            assert isinstance(got, Failure) or (got.not_modified and got.body == b"")


async def test_a_crawl_that_is_recorded_asks_for_whole_documents(tmp_path: Path) -> None:
    async with serve(pages({"/a": answer(b"whole")})) as server:
        recorder = WarcRecorder(tmp_path / "a.warc.gz", software="test", seeds=[])
        clock = Kit(settings()).clock
        fetcher = PoliteFetcher(settings(), MemoryPoliteness(), clock, user_agent=AGENT, recorder=recorder)
        address = url(f"{server.base}/a")
        async with fetcher.turn(HostState(address.host)) as turn:
            got = await turn.fetch(address, purpose=Purpose.PAGE, validators=Validators(address.address, '"a"'))
        await fetcher.close()
        assert isinstance(got, Page) and got.body == b"whole"
        assert conditions(server) == [("/a", None, None)]
