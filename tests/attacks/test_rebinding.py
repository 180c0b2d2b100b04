"""A name that changes its address between two look-ups reaches nobody who must not be reached."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest

from geocrawl.model import Failure, FailureCode, Page
from tests.attacks import rebinding
from tests.attacks.attacks import measure
from tests.fetch.conftest import Kit, kit
from tests.support import own_network
from tests.support.http_server import answer, pages, serve
from tests.support.parts import NAMESPACES
from tests.support.samples import sampled

pytestmark = pytest.mark.machine

__all__ = ["kit"]
IS_AVAILABLE = own_network.available()
needs_namespaces = pytest.mark.skipif(not IS_AVAILABLE, reason=NAMESPACES.reason)


@needs_namespaces
@pytest.mark.parametrize(
    "name", sampled(["a name that leads to loopback", "a name that turns to loopback"], "a name that turns to loopback")
)
def test_a_crawl_with_an_attackers_name_server(name: str) -> None:
    """The others of FLIPS are run by `python -m benchmarks attacks`: each takes two crawls."""
    (row,) = measure(name)
    assert row["held"] and "guard" in row["ended_by"], row


@pytest.mark.long
@needs_namespaces
def test_without_the_guard_the_same_crawl_reaches_them() -> None:
    assert rebinding.attack("a name that turns to loopback", "--allow-private")["private_connections"] > 0


@pytest.mark.parametrize("private", ["127.0.0.1", "10.0.0.1", "169.254.169.254"])
async def test_a_name_that_leads_to_a_private_address_is_refused_when_it_is_connected(
    kit: Callable[..., Kit], monkeypatch: pytest.MonkeyPatch, private: str
) -> None:
    """The name's text is that of a public host: only what it resolves to tells."""
    connected, looked_up = list[Any](), list[str]()

    def look_up(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        looked_up.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (private, port))]

    async def connect(sock: socket.socket, address: Any) -> None:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", connect)
    got = await kit(allow_private=False).get(f"http://{rebinding.NAME}/")
    assert isinstance(got, Failure) and got.code is FailureCode.GUARD
    assert set(looked_up) == {rebinding.NAME} and not connected


@pytest.mark.parametrize("asked_by", ["a new connection", "a new session"])
async def test_the_address_that_is_connected_is_the_one_that_is_looked_at(
    kit: Callable[..., Kit], monkeypatch: pytest.MonkeyPatch, asked_by: str
) -> None:
    """As above, where there are no namespaces: look-ups are answered, and connects to the public address diverted,
    below the real transport."""
    connected = []
    async with serve(pages({"/": answer(b"hello", connection="close")})) as web, serve(pages({})) as victim:
        answers = iter([rebinding.PUBLIC])

        def look_up(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers, own_network.LOOPBACK), port))]

        loop = asyncio.get_running_loop()
        connect = loop.sock_connect

        async def divert(sock: socket.socket, address: Any) -> None:
            connected.append(address[0])
            await connect(sock, ("127.0.0.1", web.port) if address[0] == rebinding.PUBLIC else address)

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        monkeypatch.setattr(loop, "sock_connect", divert)
        address = f"http://{rebinding.NAME}:{victim.port}/"
        first = kit(allow_private=False)
        assert isinstance(await first.get(address), Page)
        second = first if asked_by == "a new connection" else kit(allow_private=False)
        again = await second.get(address)
        assert victim.connections == 0 and set(connected) == {rebinding.PUBLIC}
        if second is not first:
            assert isinstance(again, Failure) and again.code is FailureCode.GUARD
