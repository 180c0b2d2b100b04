"""One exchange: what is sent, byte for byte, and what of the answer survives."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest

from geocrawl.errors import UsageError
from geocrawl.fetch import transport
from geocrawl.fetch.http import user_agent
from geocrawl.fetch.proxy import EnvironmentProxies, proxy_from_environment
from geocrawl.model import Failure, Page, Purpose
from geocrawl.settings import Settings, SiteSettings
from tests.support.http_server import NOT_FOUND, answer, pages, redirect, serve

from .conftest import AGENT, Kit, url

MakeKit = Callable[..., Kit]

TARGETS = [
    "/",
    "/a%2Fb/%2e%2E%2b+c?x=%2F%2B+%20&y=a%26b",
    "/%c4%E3%BA%C3?k=%B5%D8%CD%BC&K=%b5",
    "/a|b;c=1/{x}?map=/srv/a|b;c&q=[1,2]^`'",
    "/wms?",
    "/wms??service=WMS&",
    "/wms?&&=&a",
    "/%zz?%u4f60%",
    "//double//slash/?a=b?c=d",
    "/a:b@c?url=http://x.example/%3Fa%3D1",
    "/?REQUEST=GetCapabilities&VERSION=1.3.0&&SERVICE=WMS",
    "/a\\b?c\\d",
]


@pytest.mark.parametrize("through_proxy", [False, True])
async def test_an_address_is_asked_byte_for_byte(kit: MakeKit, through_proxy: bool) -> None:
    async with serve(lambda target, writer: answer(b"ok")) as server:
        base = "http://some.example:8080" if through_proxy else server.base
        asking = kit(proxy=server.base if through_proxy else "")
        asked = [url(base + target) for target in TARGETS]
        for one in asked:
            assert isinstance(await asking.get(one.address), Page)
    paths = [one.address.removeprefix(one.origin) for one in asked]
    # A backslash in a path is a slash to browsers, and to read_url; nothing else was touched before the fetch.
    assert paths[:-1] == TARGETS[:-1]
    assert server.targets == [(base if through_proxy else "") + path for path in paths]


@pytest.mark.parametrize("host", ["xn--a.example", "xn--zzzzzz99999.example", "xn--i-7iq.example", "xn--.example"])
@pytest.mark.parametrize("purpose", [Purpose.PAGE, Purpose.PROBE])
async def test_a_host_whose_labels_are_no_idna_is_asked_by_its_name(kit: MakeKit, host: str, purpose: Purpose) -> None:
    async with serve(lambda target, writer: answer(b"ok")) as server:
        asking = kit(proxy=server.base)
        for port in ("", ":8080"):
            assert isinstance(await asking.get(f"http://{host}{port}/wms?a=b", purpose), Page)
    assert [fields["host"] for fields in server.fields] == [host, f"{host}:8080"]
    assert isinstance(await kit().get(f"http://{host}/", purpose), Failure)


async def test_a_request_names_the_crawler_and_its_encodings(kit: MakeKit) -> None:
    async with serve(lambda target, writer: answer(b"ok")) as server:
        await kit().get(server.base + "/")
    (fields,) = server.fields
    assert fields["user-agent"] == AGENT
    assert fields["accept-encoding"] == "gzip, deflate, br, zstd"
    assert fields["host"] == f"127.0.0.1:{server.port}"
    assert "cookie" not in fields and "authorization" not in fields


def test_the_user_agent_holds_version_and_contact() -> None:
    assert (
        user_agent(Settings(), "1.2")
        == "geocrawl/1.2 (crawler of public map services; see Politeness in its README.md; no contact set)"
    )
    assert user_agent(Settings(contact="https://a.example/bot"), "1.2") == "geocrawl/1.2 (+https://a.example/bot)"
    with pytest.raises(ValueError, match="one line"):
        Settings(user_agent="mybot/1 me\r\nX: y")


async def test_headers_with_raw_bytes_survive(kit: MakeKit) -> None:
    raw = (
        "HTTP/1.1 200 Все хорошо\r\nContent-Type: text/html\r\nServer: QGIS Server — Zürich\r\n"
        "X-Twice: a\r\nX-TWICE: b\r\nContent-Length: 2\r\n"
    ).encode() + b"X-Latin: caf\xe9\r\n\r\nhi"
    async with serve(lambda target, writer: raw) as server:
        got = await kit().get(server.base + "/")
    assert isinstance(got, Page)
    assert got.headers["server"] == "QGIS Server — Zürich"
    assert got.headers["x-latin"] == "café"
    assert got.headers["x-twice"] == "a, b"
    assert got.body == b"hi"


async def test_connections_are_used_again(kit: MakeKit) -> None:
    async with serve(lambda target, writer: answer(b"ok" * 5000)) as server:
        asking = kit()
        for number in range(5):
            await asking.get(f"{server.base}/{number}")
        assert server.connections == 1


async def test_past_the_limit_of_idle_connections_none_is_kept(kit: MakeKit) -> None:
    async with serve(lambda target, writer: answer(b"ok")) as server:
        asking = kit(max_idle_connections=0)
        for _ in range(3):
            await asking.get(server.base)
        assert server.connections == 3


async def test_of_more_hosts_than_connections_may_be_kept_the_latest_keep_theirs(kit: MakeKit) -> None:
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(serve(lambda target, writer: answer(b"ok"))) for _ in range(3)]
        asking = kit(max_idle_connections=2)
        for server in (*servers, servers[2], servers[1], servers[0]):
            await asking.get(server.base)
        assert [server.connections for server in servers] == [2, 1, 1]


async def test_a_connection_is_kept_for_a_while_only(kit: MakeKit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_KEEPALIVE_S", 0.0)
    async with serve(lambda target, writer: answer(b"ok")) as server:
        asking = kit()
        for _ in range(3):
            await asking.get(server.base)
        assert server.connections == 3


def test_where_few_files_may_be_open_fewer_connections_are_kept() -> None:
    script = (
        "import resource; from geocrawl.resources import spare_files\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)); print(spare_files(5), spare_files(100))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["118", "100"]


async def test_two_turns_of_one_host_share_one_connection_at_a_time(kit: MakeKit) -> None:
    under_way = 0
    most = 0

    async def slow(writer: asyncio.StreamWriter) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.02)
        under_way -= 1
        writer.write(answer(b"ok"))

    async with serve(lambda target, writer: slow(writer)) as server:
        asking = kit()
        await asyncio.gather(*(asking.get(f"{server.base}/{number}") for number in range(4)))
    assert most == 1


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/octet-stream", b"<html>hello"),
        ("application/octet-stream", "\ufeff<?xml version='1.0'?><a/>".encode("utf-16")),
        ("application/octet-stream", "地图".encode("gb18030") * 300),
        ("application/x-whatever", b'{"json": 1}'),
        ("", b"plain words"),
        ("text/html; charset=x", b"\x00odd"),
        ("application/javascript", b"var a;"),
        ("application/x-gzip", b"\x1f\x8b\x08 a packed sitemap"),
        ("application/vnd.ogc.wms_xml", b"<WMT_MS_Capabilities/>"),
    ],
)
async def test_text_is_read_whatever_its_label(kit: MakeKit, content_type: str, body: bytes) -> None:
    async with serve(pages({"/": answer(body, content_type=content_type)})) as server:
        got = await kit().get(server.base + "/")
    assert isinstance(got, Page), got
    assert got.body == body


async def test_an_error_page_of_a_wrong_type_keeps_its_status(kit: MakeKit) -> None:
    async with serve(pages({"/": answer(b"\x89PNG", "404 Not Found", content_type="image/png")})) as server:
        got = await kit().get(server.base + "/")
    assert isinstance(got, Page)
    assert (got.status, got.body) == (404, b"")


# --------------------------------------------------------------------------- passwords


ADA = SiteSettings(user="ada", password="secret")


def test_a_password_belongs_to_one_origin() -> None:
    eve = SiteSettings(user="eve", password="other")
    known = Settings(sites={"a.example": ADA, "https://a.example:8443": eve, "http://b.example": ADA, "::1": ADA})
    given = {
        "https://a.example/x": ("ada", "secret"),
        "https://a.example:443/": ("ada", "secret"),
        "https://a.example:8443/": ("eve", "other"),
        "https://[::1]/": ("ada", "secret"),
        "http://b.example/": ("ada", "secret"),
    }
    for each in ("http://a.example/", "https://a.example:444/", "http://a.example:443/", "https://sub.a.example/"):
        assert known.credentials_of(url(each).host, url(each).origin) is None, each
    for each in ("https://b.example/", "http://b.example:8080/", "https://[::1]:8443/"):
        assert known.credentials_of(url(each).host, url(each).origin) is None, each
    for each, expected in given.items():
        assert known.credentials_of(url(each).host, url(each).origin) == expected


async def test_an_origins_password_is_sent_there_only(kit: MakeKit) -> None:
    async with serve(lambda target, writer: answer(b"ok")) as server, serve(pages({})) as other:
        asking = kit(sites={server.base: ADA})
        await asking.get(f"{server.base}/")
        await asking.get(f"http://localhost:{server.port}/")
        await asking.get(f"{other.base}/")
    assert server.fields[0]["authorization"] == "Basic YWRhOnNlY3JldA=="
    assert "authorization" not in server.fields[1]
    assert [("authorization" in fields) for fields in other.fields] == [False]


async def test_a_hosts_password_is_not_sent_over_http_or_to_another_port(kit: MakeKit) -> None:
    async with serve(lambda target, writer: answer(b"ok")) as server:
        assert isinstance(await kit(sites={"127.0.0.1": ADA}).get(f"{server.base}/"), Page)
    assert "authorization" not in server.fields[0]


@pytest.mark.parametrize("purpose", [Purpose.PAGE, Purpose.PROBE, Purpose.MAP])
async def test_a_redirect_to_another_port_takes_no_password_along(kit: MakeKit, purpose: Purpose) -> None:
    async with serve(pages({"/there": answer(b"ok")})) as other:
        leading = {"/": redirect(f"{other.base}/there", set_cookie="a=b")}
        async with serve(pages(leading)) as server:
            got = await kit(sites={server.base: ADA, "127.0.0.1": ADA}).get(f"{server.base}/", purpose)
    assert isinstance(got, Page) and got.final.address == f"{other.base}/there"
    assert "authorization" in server.fields[0]
    assert "authorization" not in other.fields[0]


async def test_a_robots_txt_that_lies_elsewhere_is_asked_without_the_password(kit: MakeKit) -> None:
    async with serve(pages({})) as other:
        site = pages({"/robots.txt": redirect(f"http://localhost:{other.port}/robots.txt"), "/": answer(b"ok")})
        async with serve(site) as server:
            asking = kit(sites={server.base: ADA}, ignore_robots=False)
            assert isinstance(await asking.get(f"{server.base}/"), Page)
    assert all("authorization" in fields for fields in server.fields)
    assert [("authorization" in fields) for fields in other.fields] == [False]


# --------------------------------------------------------------------------- proxies


async def test_a_proxy_is_told_its_user_and_password(kit: MakeKit) -> None:
    async with serve(lambda target, writer: NOT_FOUND if target == "x.example:443" else answer(b"ok")) as server:
        asking = kit(proxy=f"http://a%40b:p%3Aw@127.0.0.1:{server.port}")
        assert isinstance(await asking.get("http://x.example/p"), Page)
        assert isinstance(await asking.get("https://x.example/p"), Failure)
    assert server.lines == ["GET http://x.example/p HTTP/1.1", "CONNECT x.example:443 HTTP/1.1"]
    assert [fields["proxy-authorization"] for fields in server.fields] == ["Basic YUBiOnA6dw=="] * 2


async def test_a_bad_gateway_behind_a_proxy_is_an_answer(kit: MakeKit) -> None:
    async with serve(lambda target, writer: answer(b"no such host", "502 Bad Gateway")) as server:
        got = await kit(proxy=server.base).get("http://gone.example/")
    assert isinstance(got, Page)
    assert got.status == 502


async def test_a_private_literal_address_is_not_sent_to_a_proxy(kit: MakeKit) -> None:
    async with serve(lambda target, writer: answer(b"ok")) as server:
        asking = kit(proxy=server.base, allow_private=False)
        assert isinstance(await asking.get("http://169.254.169.254/latest/meta-data/"), Failure)
        assert isinstance(await asking.get("http://2130706433/"), Failure)
        assert isinstance(await asking.get("http://name.example/"), Page), "the proxy itself may be on loopback"
    assert server.targets == ["http://name.example/"]


async def test_a_site_may_pass_the_proxy_by_or_take_another(kit: MakeKit) -> None:
    async with (
        serve(lambda target, writer: answer(b"common")) as common,
        serve(lambda target, writer: answer(b"other")) as other,
        serve(lambda target, writer: answer(b"direct")) as direct,
    ):
        sites = {"127.0.0.1": SiteSettings(proxy="direct"), "b.example": SiteSettings(proxy=other.base)}
        asking = kit(proxy=common.base, sites=sites)
        bodies = [await asking.get(text) for text in (direct.base, "http://b.example/", "http://c.example/")]
    assert [got.body for got in bodies if isinstance(got, Page)] == [b"direct", b"other", b"common"]


async def test_the_environments_proxy_is_taken_except_where_no_proxy_says(kit: MakeKit) -> None:
    async with (
        serve(lambda target, writer: answer(b"proxied")) as proxy,
        serve(lambda target, writer: answer(b"direct")) as direct,
    ):
        environment = proxy_from_environment({"HTTP_PROXY": proxy.base, "no_proxy": "127.0.0.1,.intern.example"})
        asking = kit(environment=environment)
        assert getattr(await asking.get("http://a.example/"), "body", b"") == b"proxied"
        assert getattr(await asking.get(direct.base), "body", b"") == b"direct"


def test_the_environment_is_read_as_other_programs_do() -> None:
    assert proxy_from_environment({}) == EnvironmentProxies()
    found = proxy_from_environment({"http_proxy": "a.example:1", "HTTP_PROXY": "b.example:2", "https_proxy": ""})
    assert found == EnvironmentProxies("a.example:1", "", "")
    assert proxy_from_environment({"HTTP_PROXY": "http://evil", "REQUEST_METHOD": "GET"}).http == ""


@pytest.mark.parametrize("text", ["socks4://127.0.0.1:9050", "socks://u:p@host:1"])
def test_another_proxy_than_of_http_and_socks5_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^https_proxy: not a proxy such as .* socks5://127.0.0.1:1080"):
        proxy_from_environment({"https_proxy": text})


@pytest.mark.parametrize("text", ["socks4://a:1", "ftp://a", "http://"])
def test_settings_have_no_proxy_that_is_none(text: str) -> None:
    for kind in (Settings, SiteSettings):
        with pytest.raises(ValueError, match="a proxy such as"):
            kind(proxy=text)


async def test_a_probe_reads_what_a_page_would_not(kit: MakeKit) -> None:
    async with serve(pages({"/": answer(b"<WMS_Capabilities/>", content_type="application/pdf")})) as server:
        got = await kit().get(server.base + "/", Purpose.PROBE)
    assert isinstance(got, Page)
