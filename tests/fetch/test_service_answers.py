"""Answers of services that a GIS gets over: packed without saying so, and busy at first."""

from __future__ import annotations

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
