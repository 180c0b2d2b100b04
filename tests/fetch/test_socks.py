"""Requests through a proxy of SOCKS 5 (RFC 1928): it is told names, and connects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from geocrawl.errors import OwnFault
from geocrawl.model import Failure, FailureCode, Page
from tests.support.http_server import answer, serve

from .conftest import Kit

MakeKit = Callable[..., Kit]


@asynccontextmanager
async def socks(to_port: int, asked: list[str], *, login: bytes = b"", reply: int = 0) -> AsyncIterator[int]:
    """A proxy that connects everything with one port on loopback; yields its port. `login`: user and password."""
    tasks = set[asyncio.Task[None]]()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            _, count = await reader.readexactly(2)
            await reader.readexactly(count)
            writer.write(b"\x05\x02" if login else b"\x05\x00")
            if login:
                _, length = await reader.readexactly(2)
                user = await reader.readexactly(length)
                password = await reader.readexactly((await reader.readexactly(1))[0])
                writer.write(b"\x01" + (b"\x00" if user + b":" + password == login else b"\x01"))
            *_, length = await reader.readexactly(5)
            name = (await reader.readexactly(length)).decode()
            port = int.from_bytes(await reader.readexactly(2), "big")
            asked.append(f"{name}:{port}")
            writer.write(b"\x05" + bytes([reply]) + b"\x00\x01\x7f\x00\x00\x01\x00\x50")
            if not reply:
                there_reader, there_writer = await asyncio.open_connection("127.0.0.1", to_port)
                for each in (carry(reader, there_writer), carry(there_reader, writer)):
                    tasks.add(asyncio.create_task(each))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_the_proxy_resolves_the_name_and_the_connection_is_kept(kit: MakeKit, scheme: str) -> None:
    asked = list[str]()
    async with serve(lambda target, writer: answer(target.encode())) as server, socks(server.port, asked) as port:
        asking = kit(proxy=f"{scheme}://127.0.0.1:{port}", allow_private=False)
        for path in ("/a", "/b%2F?x=/%7E"):
            got = await asking.get(f"http://maps.example{path}")
            assert isinstance(got, Page), got
            assert got.body.decode() == path
    assert asked == ["maps.example:80"]


async def test_user_and_password_are_sent(kit: MakeKit) -> None:
    asked = list[str]()
    async with (
        serve(lambda target, writer: answer(b"ok")) as server,
        socks(server.port, asked, login=b"ada:secret") as port,
    ):
        assert isinstance(await kit(proxy=f"socks5://ada:secret@127.0.0.1:{port}").get("http://a.example/"), Page)
        with pytest.raises(OwnFault, match="Invalid username/password"):
            await kit(proxy=f"socks5://ada:wrong@127.0.0.1:{port}").get("http://a.example/")
    assert asked == ["a.example:80"]


async def test_a_server_that_the_proxy_cannot_reach_is_a_failure(kit: MakeKit) -> None:
    async with socks(0, [], reply=4) as port:
        got = await kit(proxy=f"socks5://127.0.0.1:{port}").get("http://a.example/")
    assert isinstance(got, Failure)
    assert (got.code, "Host unreachable" in got.detail) == (FailureCode.REFUSED, True)


async def test_a_private_address_is_not_asked_for(kit: MakeKit) -> None:
    asked = list[str]()
    async with socks(0, asked) as port:
        got = await kit(proxy=f"socks5://127.0.0.1:{port}", allow_private=False).get("http://10.0.0.1/")
    assert isinstance(got, Failure)
    assert (got.code, asked) == (FailureCode.GUARD, [])


async def test_a_proxy_that_is_not_there_is_a_fault_of_this_machine(kit: MakeKit) -> None:
    with pytest.raises(OwnFault, match=r"^The proxy socks5://127\.0\.0\.1:1 does not answer"):
        await kit(proxy="socks5://127.0.0.1:1").get("http://a.example/")
