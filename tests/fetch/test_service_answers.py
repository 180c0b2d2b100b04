"""Answers of services that a GIS gets over: packed without saying so, and busy at first."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable

import pytest

from geocrawl.model import Failure, FailureCode, Page, Purpose
from tests.support.http_server import Behaviour, answer, pages, serve

from .conftest import Kit, VirtualClock, url

MakeKit = Callable[..., Kit]
CAPABILITIES = b"<WMS_Capabilities>" + b"<Layer/>" * 500 + b"</WMS_Capabilities>"
PACKED = {"gzip": gzip.compress(CAPABILITIES), "deflate": zlib.compress(CAPABILITIES)}


@pytest.mark.parametrize("named", PACKED)
async def test_a_body_that_is_packed_without_saying_so_is_unpacked(kit: MakeKit, named: str) -> None:
    async with serve(pages({"/wms": answer(PACKED[named], content_type="text/xml")})) as server:
        got = await kit().get(server.base + "/wms", Purpose.PROBE)
    assert isinstance(got, Page)
    assert got.body == CAPABILITIES
    assert [(deviation.code, deviation.detail) for deviation in got.deviations] == [("packed", named)]


async def test_a_body_whose_packing_is_named_is_no_deviation(kit: MakeKit) -> None:
    async with serve(pages({"/wms": answer(PACKED["gzip"], content_encoding="gzip")})) as server:
        got = await kit().get(server.base + "/wms", Purpose.PROBE)
    assert isinstance(got, Page)
    assert (got.body, got.deviations) == (CAPABILITIES, ())


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
async def test_a_bomb_that_does_not_say_so_is_one_all_the_same(kit: MakeKit, pack: Callable[[bytes], bytes]) -> None:
    async with serve(pages({"/wms": answer(pack(bytes(4 * 1024 * 1024)))})) as server:
        got = await kit().get(server.base + "/wms", Purpose.PROBE)
    assert isinstance(got, Failure)
    assert got.code is FailureCode.RATIO


def mismeasured(body: bytes, announced: int, *, in_two: bool = False, media_type: str = "text/xml") -> Behaviour:
    """A service whose Content-Length is wrong, and which ends its connections when it is asked to.

    `in_two`: the bytes beyond Content-Length come later than the others.
    """
    head = answer(b"", content_type=media_type).replace(b"Content-Length: 0", f"Content-Length: {announced}".encode())

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(head + (body[:announced] if in_two else body))
        await writer.drain()
        if in_two:
            await asyncio.sleep(0.05)
            writer.write(body[announced:])
            await writer.drain()
        writer.close()

    return lambda target, writer: write(writer)


@pytest.mark.parametrize("purpose", [Purpose.PROBE, Purpose.MAP])
@pytest.mark.parametrize("in_two", [False, True])
async def test_a_body_that_is_longer_than_announced_is_read_to_its_end(
    kit: MakeKit, purpose: Purpose, in_two: bool
) -> None:
    async with serve(mismeasured(CAPABILITIES, 3000, in_two=in_two)) as server, kit().turn() as turn:
        for _ in range(2):
            got = await turn.fetch(url(server.base + "/wms"), purpose=purpose)
            assert isinstance(got, Page)
            assert got.body == CAPABILITIES
        assert turn.host.asked == 3, "that the lengths are wrong is found out once a turn"
        assert turn.host.errors == 0


async def test_the_announced_length_is_told(kit: MakeKit) -> None:
    async with serve(mismeasured(CAPABILITIES, 3000)) as server:
        got = await kit().get(server.base + "/wms", Purpose.PROBE)
    assert isinstance(got, Page)
    told = f"{len(CAPABILITIES)} bytes, Content-Length: 3000"
    assert [(each.code, each.detail) for each in got.deviations] == [("body-end", told)]


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (b"<WMS_Capabilities><Layer/>", "text/xml"),
        (b'{"layers": [', "application/json"),
        (b"\x89PNG\r\n\x1a\nhalf", "image/png"),
    ],
)
async def test_a_body_that_breaks_off_is_asked_for_once_more(kit: MakeKit, body: bytes, media_type: str) -> None:
    broken = mismeasured(body, len(body), media_type=media_type)
    async with serve(broken) as server, kit().turn() as turn:
        got = await turn.fetch(url(server.base + "/wms"), purpose=Purpose.MAP)
        assert isinstance(got, Page)
        assert (got.body, got.deviations, turn.host.asked) == (body, (), 2)


@pytest.mark.parametrize(
    "body",
    [CAPABILITIES, b"<html><p>no end", b'{"a": 1}', b"<TileMap/>", b"<?xml version='1.0'?>\n<a:b>x</a:b>\n", b""],
)
async def test_a_whole_body_is_asked_for_once(kit: MakeKit, body: bytes) -> None:
    async with serve(pages({"/wms": answer(body)})) as server, kit().turn() as turn:
        await turn.fetch(url(server.base + "/wms"), purpose=Purpose.PROBE)
        assert turn.host.asked == 1


@pytest.mark.parametrize("purpose", [Purpose.PROBE, Purpose.MAP])
async def test_a_body_that_is_shorter_than_announced_is_read(kit: MakeKit, purpose: Purpose) -> None:
    async with serve(mismeasured(CAPABILITIES, 9000)) as server:
        got = await kit().get(server.base + "/wms", purpose)
    assert isinstance(got, Page)
    assert (got.body, [each.code for each in got.deviations]) == (CAPABILITIES, ["body-end"])


async def test_a_page_is_read_as_far_as_it_announces(kit: MakeKit) -> None:
    async with serve(mismeasured(b"<html>" + CAPABILITIES, 3000, media_type="text/html")) as server:
        got = await kit().get(server.base + "/wms", Purpose.PAGE)
    assert isinstance(got, Page)
    assert len(got.body) == 3000


async def test_bytes_that_are_no_http_are_asked_for_once(kit: MakeKit) -> None:
    async with serve(lambda target, writer: b"ICY 200 OK\r\n\r\nno http") as server, kit().turn() as turn:
        got = await turn.fetch(url(server.base + "/wms"), purpose=Purpose.PROBE)
        assert isinstance(got, Failure)
        assert (got.code, turn.host.asked) == (FailureCode.BAD_HTTP, 1)


def busy(times: int, retry_after: str) -> Behaviour:
    """A service that is busy at first."""
    left = iter(range(times))

    def behaviour(target: str, writer: object) -> bytes:
        is_busy = next(left, None) is not None
        return answer(b"", "503 Service Unavailable", retry_after=retry_after) if is_busy else answer(CAPABILITIES)

    return behaviour


async def test_a_service_that_is_busy_for_a_moment_is_asked_again(kit: MakeKit) -> None:
    clock = VirtualClock()
    async with serve(busy(1, "5")) as server, kit(clock).turn() as turn:
        got = await turn.fetch(url(server.base + "/wms"), purpose=Purpose.PROBE)
        assert isinstance(got, Page)
        assert (got.status, [deviation.code for deviation in got.deviations]) == (200, ["busy-first"])
        assert turn.host.asked == 2
    assert sum(clock.slept) == pytest.approx(5)


@pytest.mark.parametrize(
    ("times", "retry_after", "purpose", "asked"),
    [(9, "5", Purpose.PROBE, 2), (1, "60", Purpose.PROBE, 1), (1, "", Purpose.PROBE, 1), (1, "5", Purpose.PAGE, 1)],
)
async def test_it_is_asked_again_once_and_only_after_a_short_wait(
    kit: MakeKit, times: int, retry_after: str, purpose: Purpose, asked: int
) -> None:
    async with serve(busy(times, retry_after)) as server, kit(VirtualClock()).turn() as turn:
        for _ in range(2):
            got = await turn.fetch(url(server.base + "/wms"), purpose=purpose)
            assert isinstance(got, Page)
            assert (got.status, got.deviations) == (503, ())
    assert len(server.lines) == asked
