"""Answers as servers really send them, and as attackers would: interim ones, line ends, trailers, answers too many."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from geocrawl.model import Failure, FailureCode, Page, Purpose
from tests.support.http_server import answer, pages, redirect, serve

from .conftest import Kit, url

MakeKit = Callable[..., Kit]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"


@pytest.mark.parametrize(
    "raw",
    [
        HINTS * 10 + HEAD + b"Content-Length: 5\r\n\r\n<map>",
        HEAD.replace(b"\r\n", b"\n") + b"Content-Length: 5\n\n<map>",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n<m\r\n3\r\nap>\r\n0\r\nX-Trailer: 1\r\n\r\n",
        b"HTTP/1.1 200 \r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\n<map>",
        HEAD + b"X-Latin: Stra\xdfe\r\nContent-Length: 5\r\n\r\n<map>",
    ],
)
async def test_such_an_answer_is_read(kit: MakeKit, raw: bytes) -> None:
    async with serve(lambda target, writer: raw) as server:
        asking = kit()
        for _ in range(2):
            got = await asking.get(f"{server.base}/page")
            assert isinstance(got, Page), got
            assert (got.status, got.body) == (200, b"<map>")
            assert "link" not in got.headers and "x-trailer" not in got.headers
        assert server.connections == 1


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
async def test_without_a_length_the_body_ends_with_the_connection(kit: MakeKit, version: bytes) -> None:
    async def write(writer: asyncio.StreamWriter) -> None:
        for piece in (b"HTTP/%b 200 OK\r\nContent-" % version, b"Type: text/html\r\n\r\n<ma", b"p>"):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        writer.close()

    async with serve(lambda target, writer: write(writer)) as server:
        got = await kit().get(f"{server.base}/page")
    assert isinstance(got, Page)
    assert got.body == b"<map>"


ANSWER = HEAD + b"Content-Length: 5\r\n\r\n<map>"


@pytest.mark.parametrize(
    "raw", [HINTS * 50, HINTS * 11 + ANSWER, b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nhello"]
)
async def test_an_answer_that_never_comes_is_no_http(kit: MakeKit, raw: bytes) -> None:
    async with serve(lambda target, writer: raw) as server:
        got = await kit().get(f"{server.base}/page")
    assert isinstance(got, Failure)
    assert got.code is FailureCode.BAD_HTTP


@pytest.mark.parametrize("late", [False, True])
async def test_a_second_answer_is_never_that_of_the_next_request(kit: MakeKit, late: bool) -> None:
    forged = asyncio.Event()

    async def twice(target: str, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(target.encode()))
        if target == "/a":
            if late:
                await writer.drain()
                await asyncio.sleep(0.05)
            with suppress(ConnectionError):
                writer.write(answer(b"forged"))
                await writer.drain()
            forged.set()

    async with serve(twice) as server:
        asking = kit()
        await asking.get(f"{server.base}/a")
        await forged.wait()
        await asyncio.sleep(0.05)
        got = await asking.get(f"{server.base}/b")
        assert isinstance(got, Page)
        assert got.body == b"/b"
        assert server.connections == 2


async def test_a_long_body_arrives_whole_and_the_connection_is_kept(kit: MakeKit) -> None:
    body = b"".join(b"<p>%d</p>" % number for number in range(400_000))
    async with serve(pages({"/page": answer(body, content_type="text/xml")})) as server:
        asking = kit()
        for _ in range(2):
            got = await asking.get(f"{server.base}/page", Purpose.PROBE)
            assert isinstance(got, Page)
            assert got.body == body
        assert server.connections == 1


async def test_hosts_behind_one_proxy_share_connections(kit: MakeKit) -> None:
    async with serve(lambda target, writer: answer(target.encode())) as server:
        asking = kit(proxy=server.base)
        for host in ("a", "b", "c"):
            got = await asking.get(f"http://{host}.example/x")
            assert isinstance(got, Page)
            assert got.body == f"http://{host}.example/x".encode()
        assert server.connections == 1


@asynccontextmanager
async def tunnelling(to_port: int, asked: list[str]) -> AsyncIterator[str]:
    """A proxy that connects every tunnel with one port on loopback; `asked`: what it was asked for."""
    tasks = set[asyncio.Task[None]]()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", to_port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        for task in (carry(reader, there_writer), carry(there_reader, writer)):
            tasks.add(asyncio.create_task(task))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    yield f"http://user:secret@127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_https_goes_through_a_tunnel_of_a_proxy(kit: MakeKit) -> None:
    certificate = Path(__file__).with_name("self_signed.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    asked = list[str]()
    async with serve(lambda target, writer: answer(target.encode()), tls=context) as server:
        async with tunnelling(server.port, asked) as proxy:
            asking = kit(proxy=proxy)
            assert isinstance(await asking.get("https://maps.example/wms"), Failure), "not verified"
            async with asking.turn("maps.example") as turn:
                for path in ("/wms", "/map"):
                    got = await turn.fetch(url(f"https://maps.example{path}"), purpose=Purpose.PROBE)
                    assert isinstance(got, Page), got
                    assert got.body == path.encode()
        assert server.targets == ["/wms", "/map"]
    tunnels = [each for each in asked if each.startswith("CONNECT maps.example:443 HTTP/1.1\r\n")]
    assert len(tunnels) == 3, "page refused, probe refused, probe on a connection that its second request uses again"
    assert all("Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=" in each for each in tunnels)
    assert all("proxy-authorization" not in fields for fields in server.fields)


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n<map>\r\n0\r\n", b"X-T: " + b"a" * 900 + b"\r\n"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n<map>\r\n0\r\nX-T: ", b"a" * 1_000),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;", b"a" * 1_000),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 1_000),
        (b"", HINTS),
        (HEAD, b"X: y\r\n"),
        (HEAD + b"X: ", b"y" * 1_000),
        (b"HTTP/1.1 200 ", b"OK" * 500),
        (b"", b"\r\n"),
    ],
    ids=["trailers", "trailer", "chunk extension", "chunk size", "1xx", "fields", "field", "reason", "empty lines"],
)
async def test_what_never_ends_around_a_body_is_bounded(kit: MakeKit, start: bytes, more: bytes) -> None:
    sent = 0

    async def write(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(start)
        with suppress(ConnectionError):
            while sent < 50_000_000:
                writer.write(more * 20)
                sent += len(more) * 20
                await writer.drain()

    async with serve(lambda target, writer: write(writer)) as server:
        got = await kit(total_timeout_s=20.0).get(f"{server.base}/page")
    assert isinstance(got, Failure)
    assert got.code in (FailureCode.BAD_HTTP, FailureCode.HEADER_LIMIT), got
    assert sent < 10_000_000, "what the system's buffers hold, and no more"


async def test_lines_that_are_no_header_fields_are_passed_over(kit: MakeKit) -> None:
    raw = HEAD + b"garbage\r\nX Y: 1\r\n: z\r\nServer : odd\r\nX-Nul: a\0b\r\nTransfer-Encoding: identity\r\n"
    async with serve(lambda target, writer: raw + b"Content-Length: 5\r\n\r\n<map>") as server:
        got = await kit().get(f"{server.base}/page")
    assert isinstance(got, Page), got
    assert (got.body, got.headers["server"], got.headers["x-nul"]) == (b"<map>", "odd", "a b")


async def test_cookies_of_redirects_are_bounded(kit: MakeKit) -> None:
    def respond(target: str, writer: asyncio.StreamWriter) -> bytes:
        number = int(target[1:] or 0)
        cookies = b"".join(b"Set-Cookie: c%d-%d=%b\r\n" % (number, each, b"x" * 3_000) for each in range(15))
        return b"HTTP/1.1 302 Found\r\nLocation: /%d\r\n%bContent-Length: 0\r\n\r\n" % (number + 1, cookies)

    async with serve(respond) as server:
        await kit(max_redirects=5).get(f"{server.base}/")
    assert max(len(fields.get("cookie", "")) for fields in server.fields) <= 6_144
    assert len(server.fields[-1]["cookie"]) > 3_000


async def test_a_server_that_refuses_long_fields_of_its_own_cookies_is_read(kit: MakeKit) -> None:
    def respond(target: str, writer: asyncio.StreamWriter) -> bytes:
        if len(server.fields[-1].get("cookie", "")) > 8_000:
            return b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\n\r\n"
        if target == "/9":
            return answer(b"in" if "session=1" in server.fields[-1].get("cookie", "") else b"out")
        number = int(target[1:] or 0)
        cookies = b"Set-Cookie: junk%d=%b\r\n" % (number, b"x" * 3_900)
        if number == 8:
            cookies += b"Set-Cookie: session=1\r\n"
        return b"HTTP/1.1 302 Found\r\nLocation: /%d\r\n%bContent-Length: 0\r\n\r\n" % (number + 1, cookies)

    async with serve(respond) as server:
        got = await kit(max_redirects=10).get(f"{server.base}/")
    assert isinstance(got, Page), got
    assert got.body == b"in"


@pytest.mark.parametrize("piece", [b" a='1'", b"x", b" xmlns:a='u'"])
async def test_markup_without_the_end_of_a_tag_is_left_soon(kit: MakeKit, piece: bytes) -> None:
    sent = 0

    async def respond(target: str, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(HEAD + b"\r\n<?xml version='1.0'?><WMS_Capabilities a='")
        with suppress(ConnectionError):
            while sent < 100_000_000:
                writer.write(piece * 10_000)
                sent += len(piece) * 10_000
                await writer.drain()

    async with serve(respond) as server:
        got = await kit().get(f"{server.base}/wms", purpose=Purpose.PROBE)
    assert isinstance(got, Failure)
    assert got.code is FailureCode.BODY_LIMIT
    assert sent < 20_000_000, "what the system's buffers hold, and no more"


@pytest.mark.parametrize(
    "body",
    [
        b"<WMS_Capabilities>" + b"<Layer><Name>a</Name></Layer>" * 200_000 + b"</WMS_Capabilities>",
        b"<WMS_Capabilities a='" + b"x" * 900_000 + b"'/>",
        b"<gml:posList>" + b"12.5 41.9 " * 300_000 + b"</gml:posList>",
        b"<kml><![CDATA[" + b"12.5,41.9 " * 300_000 + b"]]></kml>",
        b'{"layers": "' + b"x" * 5_000_000 + b'"}',
    ],
)
async def test_long_answers_of_services_with_ends_of_tags_or_without_markup_are_read(kit: MakeKit, body: bytes) -> None:
    async with serve(pages({"/wms": answer(body)})) as server:
        got = await kit().get(f"{server.base}/wms", purpose=Purpose.PROBE)
    assert isinstance(got, Page), got
    assert got.body == body


WHOLE = b"<map>" + b"0" * 20 + b"</map>"
SAYS = [
    *("31", "031", "31, 31", "31,31,031", "31\r\nContent-Length: 31", "31\r\ncontent-length: 31 , 31", "31,", ""),
    "3\r\nTransfer-Encoding: chunked",
]


@pytest.mark.parametrize("says", SAYS)
@pytest.mark.parametrize("purpose", [Purpose.PAGE, Purpose.PROBE])
async def test_a_length_is_read_as_browsers_read_it_and_costs_no_second_request(
    kit: MakeKit, says: str, purpose: Purpose
) -> None:
    sent = b"1f\r\n%b\r\n0\r\n\r\n" % WHOLE if "chunked" in says else WHOLE

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD + b"Content-Length: %b\r\n\r\n" % says.encode() + sent)
        writer.close()

    async with serve(lambda target, writer: write(writer)) as server:
        got = await kit().get(f"{server.base}/page", purpose)
    assert isinstance(got, Page), got
    assert (got.body, len(server.lines)) == (WHOLE, 1)


@pytest.mark.parametrize("says", ["31, 32", "31\r\nContent-Length: 3", "9" * 40, "-31", "+31", "31.0", "0x1F"])
async def test_a_length_that_is_no_number_or_two_is_no_http(kit: MakeKit, says: str) -> None:
    raw = HEAD + b"Content-Length: %b\r\n\r\n" % says.encode() + WHOLE
    async with serve(lambda target, writer: raw) as server:
        got = await kit().get(f"{server.base}/page")
    assert isinstance(got, Failure)
    assert got.code is FailureCode.BAD_HTTP


@pytest.mark.parametrize(
    ("fields", "media_type"),
    [
        (["text/html", "text/html"], "text/html"),
        (["text/plain", "text/html;charset=koi8-r"], "text/html;charset=koi8-r"),
        (["text/html;charset=koi8-r", "text/html"], "text/html;charset=koi8-r"),
        (["text/html;charset=koi8-r", "text/html;x=1"], "text/html;x=1;charset=koi8-r"),
        (["text/html;charset=koi8-r", "text/xml"], "text/xml"),
        (["text/html;charset=koi8-r, text/xml, text/html"], "text/html"),
        (["text/html", "*/*"], "text/html"),
        (["text/html", "none", ""], "text/html"),
        (['text/xml;a="x,text/html"'], 'text/xml;a="x,text/html"'),
        (["none", "neither"], "none, neither"),
    ],
)
async def test_of_several_media_types_the_last_one_counts(kit: MakeKit, fields: list[str], media_type: str) -> None:
    named = "".join(f"Content-Type: {each}\r\n" for each in fields)
    raw = f"HTTP/1.1 200 OK\r\n{named}Content-Length: 3\r\n\r\n<a>".encode()
    async with serve(lambda target, writer: raw) as server:
        got = await kit().get(f"{server.base}/page")
    assert isinstance(got, Page), got
    assert got.headers["content-type"] == media_type


async def test_user_information_in_a_redirect_reaches_neither_proxy_nor_server(kit: MakeKit) -> None:
    def respond(target: str, writer: asyncio.StreamWriter) -> bytes:
        to = {"http://a.example/": "http://u:s3same@a.example/x", "http://a.example/x": "http://s3same@b.example/"}
        return redirect(to[target]) if target in to else answer(b"here")

    async with serve(respond) as server:
        asking = kit(proxy=server.base)
        got = await asking.get("http://a.example/")
        assert isinstance(got, Page) and got.location is not None
        assert isinstance(await asking.get(got.location.address), Page)
    assert server.targets == ["http://a.example/", "http://a.example/x", "http://b.example/"]
    assert "s3same" not in f"{server.fields}{got.location}{got.hops}"
    assert all("authorization" not in name for fields in server.fields for name in fields)
