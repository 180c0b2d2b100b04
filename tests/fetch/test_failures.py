"""Every failure code, caused for real by a server on loopback that misbehaves."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from geocrawl.model import Failure, FailureCode, Page, Purpose
from geocrawl.settings import SiteSettings
from tests.support.http_server import Behaviour, answer, pages, redirect, serve
from tests.support.loop_time import LoopTime

from .conftest import Kit

MakeKit = Callable[..., Kit]


async def fail(kit: Kit, behaviour: Behaviour, purpose: Purpose = Purpose.PAGE) -> Failure:
    """The failure of one request to a server that behaves so."""
    async with serve(behaviour) as server:
        got = await kit.get(f"{server.base}/page", purpose)
    assert isinstance(got, Failure), got
    assert got.url.address.endswith("/page")
    assert got.detail and "\n" not in got.detail
    return got


async def test_a_name_that_does_not_exist_is_dns(kit: MakeKit) -> None:
    got = await kit().get("http://no-such-host.invalid/")
    assert isinstance(got, Failure)
    assert got.code is FailureCode.DNS


async def test_a_closed_port_is_refused(kit: MakeKit) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        got = await kit().get(f"http://127.0.0.1:{held.getsockname()[1]}/")
    assert isinstance(got, Failure)
    assert got.code is FailureCode.REFUSED


async def test_a_certificate_that_nobody_signed_is_tls(kit: MakeKit) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).with_name("self_signed.pem"))
    async with serve(pages({"/": answer(b"hi")}), tls=context) as server:
        got = await kit().get(server.base + "/")
    assert isinstance(got, Failure)
    assert got.code is FailureCode.TLS
    assert "self-signed certificate" in got.detail
    assert server.lines == []


async def test_plain_http_on_an_https_port_is_tls(kit: MakeKit) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(answer(b"", "400 Bad Request"))
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    got = await kit().get(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
    server.close()
    assert isinstance(got, Failure)
    assert got.code is FailureCode.TLS


async def test_a_port_that_never_accepts_is_timeout_connect(kit: MakeKit) -> None:
    with socket.socket() as full:  # a backlog of one, taken: further connects are neither accepted nor refused
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        got = await kit(connect_timeout_s=0.3).get(f"http://127.0.0.1:{full.getsockname()[1]}/")
        for one in waiting:
            one.close()
    assert isinstance(got, Failure)
    assert got.code is FailureCode.TIMEOUT_CONNECT


async def test_a_server_that_stops_talking_is_timeout_read(kit: MakeKit) -> None:
    async def stall(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\n<html>")
        await writer.drain()
        await limits.hang(20.0)

    limits = LoopTime()
    got = await fail(kit(read_timeout_s=20.0), lambda target, writer: stall(writer))
    assert got.code is FailureCode.TIMEOUT_READ
    assert got.status == 200


async def test_an_endless_slow_body_is_timeout_total(kit: MakeKit) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    got = await fail(kit(total_timeout_s=0.5), lambda target, writer: drip(writer))
    assert got.code is FailureCode.TIMEOUT_TOTAL
    assert "0.5 s" in got.detail


async def test_a_connection_cut_before_the_answer_is_reset(kit: MakeKit) -> None:
    async def reset(writer: asyncio.StreamWriter) -> None:
        raw = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    got = await fail(kit(), lambda target, writer: reset(writer))
    assert got.code is FailureCode.RESET


async def test_a_connection_closed_before_the_answer_is_reset(kit: MakeKit) -> None:
    async def close(writer: asyncio.StreamWriter) -> None:
        writer.close()

    got = await fail(kit(), lambda target, writer: close(writer))
    assert got.code is FailureCode.RESET


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n\r\n",
        b"<html>no status line at all</html>\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nnot a chunk\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: minus two\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_bad_http(kit: MakeKit, raw: bytes) -> None:
    got = await fail(kit(), lambda target, writer: raw)
    assert got.code is FailureCode.BAD_HTTP
    assert "b'" not in got.detail and 'b"' not in got.detail and "bytearray" not in got.detail


async def test_a_body_that_is_not_what_its_encoding_says_is_bad_http(kit: MakeKit) -> None:
    broken = gzip.compress(b"hello" * 100)[:10] + b"\xff" * 30
    got = await fail(kit(), pages({"/page": answer(broken, content_encoding="gzip")}))
    assert got.code is FailureCode.BAD_HTTP


async def test_three_stacked_encodings_are_bad_http(kit: MakeKit) -> None:
    got = await fail(kit(), pages({"/page": answer(b"x", content_encoding="gzip, gzip, gzip")}))
    assert got.code is FailureCode.BAD_HTTP


@pytest.mark.parametrize(
    "fields",
    [
        b"X-Long: " + b"a" * 70_000 + b"\r\n",
        b"".join(b"X-%d: %s\r\n" % (number, b"b" * 1000) for number in range(70)),
        b"".join(b"X-%d: c\r\n" % number for number in range(5000)),
    ],
)
async def test_a_long_header_block_is_header_limit(kit: MakeKit, fields: bytes) -> None:
    raw = b"HTTP/1.1 200 OK\r\n" + fields + b"Content-Length: 2\r\n\r\nhi"
    assert (await fail(kit(), lambda target, writer: raw)).code is FailureCode.HEADER_LIMIT


async def test_a_header_block_just_below_the_limit_is_read(kit: MakeKit) -> None:
    async with serve(pages({"/page": answer(b"hi", x_long="a" * 60_000)})) as server:
        got = await kit().get(f"{server.base}/page")
    assert isinstance(got, Page)
    assert len(got.headers["x-long"]) == 60_000


async def test_a_body_longer_than_the_limit_is_body_limit(kit: MakeKit) -> None:
    got = await fail(kit(page_body_bytes=1000), pages({"/page": answer(b"x" * 1001)}))
    assert got.code is FailureCode.BODY_LIMIT
    assert got.status == 200


async def test_a_longer_answer_to_a_probe_is_cut_and_says_so(kit: MakeKit) -> None:
    body = b"<a>" + b"x" * 5000
    async with serve(pages({"/page": answer(body, content_type="text/xml")})) as server:
        got = await kit(probe_body_bytes=1000).get(f"{server.base}/page", Purpose.PROBE)
        whole = await kit(probe_body_bytes=5003).get(f"{server.base}/page", Purpose.PROBE)
    assert isinstance(got, Page)
    assert (got.cut, got.body) == (True, body[:1000])
    assert isinstance(whole, Page)
    assert (whole.cut, whole.body) == (False, body)


async def test_content_length_is_not_believed(kit: MakeKit) -> None:
    raw = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n" + b"x" * 1001

    async def send(writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        writer.close()

    got = await fail(kit(page_body_bytes=1000), lambda target, writer: send(writer))
    assert got.code is FailureCode.BODY_LIMIT


async def test_probes_may_be_longer_than_pages_and_a_site_may_have_its_own_limit(kit: MakeKit) -> None:
    async with serve(pages({"/page": answer(b"x" * 2000)})) as server:
        common = {"page_body_bytes": 1000, "probe_body_bytes": 5000}
        assert isinstance(await kit(**common).get(f"{server.base}/page", Purpose.PROBE), Page)
        wide = kit(**common, sites={"127.0.0.1": SiteSettings(max_body_bytes=3000)})
        assert isinstance(await wide.get(f"{server.base}/page"), Page)


async def test_a_bomb_is_ratio(kit: MakeKit) -> None:
    bomb = gzip.compress(bytes(4 * 1024 * 1024))
    got = await fail(kit(), pages({"/page": answer(bomb, content_encoding="gzip")}))
    assert got.code is FailureCode.RATIO


BROKEN_OFF = [
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 500\r\n\r\n<html>cut",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\n9\r\ncut",
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n"
    + gzip.compress(b"<html>" * 99, mtime=0)[:-6],
]


def broken_off(raw: bytes) -> Behaviour:
    async def cut(writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        await writer.drain()
        writer.close()

    return lambda target, writer: cut(writer)


@pytest.mark.parametrize("purpose", [Purpose.PROBE, Purpose.MAP])
@pytest.mark.parametrize("raw", BROKEN_OFF)
async def test_of_a_service_what_came_of_such_a_body_is_used(kit: MakeKit, raw: bytes, purpose: Purpose) -> None:
    async with serve(broken_off(raw)) as server:
        got = await kit().get(f"{server.base}/page", purpose)
    assert isinstance(got, Page)
    assert got.body.startswith(b"<html>")
    assert [deviation.code for deviation in got.deviations] == ["body-end"]


@pytest.mark.parametrize("raw", BROKEN_OFF)
async def test_a_body_that_breaks_off_is_truncated(kit: MakeKit, raw: bytes) -> None:
    got = await fail(kit(), broken_off(raw), Purpose.PAGE)
    assert got.code is FailureCode.TRUNCATED
    assert got.status == 200


async def test_a_circle_of_redirects_is_redirect_loop(kit: MakeKit) -> None:
    site = pages({"/page": redirect("/b"), "/b": redirect("/page")})
    assert (await fail(kit(), site)).code is FailureCode.REDIRECT_LOOP


async def test_a_chain_past_the_limit_is_redirect_loop(kit: MakeKit) -> None:
    chain = {f"/{n}": redirect(f"/{n + 1}") for n in range(20)} | {"/page": redirect("/0")}
    async with serve(pages(chain)) as server:
        got = await kit().get(f"{server.base}/page")
    assert isinstance(got, Failure)
    assert got.code is FailureCode.REDIRECT_LOOP
    assert len(server.lines) == 6


async def test_a_private_address_is_guard(kit: MakeKit) -> None:
    async with serve(pages({})) as server:
        for base in (server.base, f"http://localhost:{server.port}"):
            got = await kit(allow_private=False).get(base + "/")
            assert isinstance(got, Failure)
            assert got.code is FailureCode.GUARD, got
    assert server.connections == 0


async def test_what_robots_txt_forbids_is_robots(kit: MakeKit) -> None:
    rules = answer(b"User-agent: *\nDisallow: /page", content_type="text/plain")
    async with serve(pages({"/robots.txt": rules, "/page": answer(b"secret")})) as server:
        got = await kit(ignore_robots=False).get(f"{server.base}/page", Purpose.PROBE)
    assert isinstance(got, Failure)
    assert (got.code, got.retry_after_s) == (FailureCode.ROBOTS, None)
    assert server.targets == ["/robots.txt"]


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("image/png", b"\x89PNG\r\n"),
        ("application/zip", b"PK\x03\x04"),
        ("video/mp4", b"text?"),
        ("application/octet-stream", b"\x00\x01\x02" * 400),
        ("application/octet-stream", b"%PDF-1.7 text follows"),
        ("", b"\x7fELF\x02\x01\x01\x00\x00"),
    ],
)
async def test_what_is_no_text_is_wrong_type(kit: MakeKit, content_type: str, body: bytes) -> None:
    got = await fail(kit(), pages({"/page": answer(body, content_type=content_type)}))
    assert got.code is FailureCode.WRONG_TYPE


async def test_the_body_of_a_wrong_type_is_not_downloaded(kit: MakeKit) -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    got = await fail(kit(), lambda target, writer: endless(writer))
    assert got.code is FailureCode.WRONG_TYPE


@pytest.mark.parametrize("site", [SiteSettings(not_before="2020-01-01"), SiteSettings(not_after="2018-12-31")])
async def test_a_page_outside_the_wanted_dates_is_date(kit: MakeKit, site: SiteSettings) -> None:
    page = answer(b"old", last_modified="Tue, 01 Jan 2019 10:00:00 GMT")
    got = await fail(kit(sites={"127.0.0.1": site}), pages({"/page": page}))
    assert got.code is FailureCode.DATE


@pytest.mark.parametrize("types", [("text/plain",), ("application/*", "text/xml")])
async def test_a_page_of_a_type_that_its_site_may_not_have_is_wrong_type(kit: MakeKit, types: tuple[str, ...]) -> None:
    kit_ = kit(sites={"127.0.0.1": SiteSettings(types=types)})
    got = await fail(kit_, pages({"/page": answer(b"<p>html", content_type="text/html; charset=utf-8")}))
    assert got.code is FailureCode.WRONG_TYPE
    assert f"Content-Type text/html, wanted: {', '.join(types)}" in got.detail


@pytest.mark.parametrize("content_type", ["text/html; charset=utf-8", "TEXT/HTML", "application/xml", ""])
async def test_a_page_of_a_wanted_type_or_without_one_is_read(kit: MakeKit, content_type: str) -> None:
    site = SiteSettings(types=("text/*", "application/xml"))
    async with serve(pages({"/page": answer(b"fine", content_type=content_type)})) as server:
        assert isinstance(await kit(sites={"127.0.0.1": site}).get(f"{server.base}/page"), Page)


@pytest.mark.parametrize("modified", ["Tue, 01 Jan 2019 10:00:00 GMT", "rubbish", ""])
async def test_a_page_within_the_dates_or_without_one_is_read(kit: MakeKit, modified: str) -> None:
    site = SiteSettings(not_before="2019-01-01", not_after="2019-01-01")
    async with serve(pages({"/page": answer(b"fine", last_modified=modified)})) as server:
        assert isinstance(await kit(sites={"127.0.0.1": site}).get(f"{server.base}/page"), Page)
