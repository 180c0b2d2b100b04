"""Redirects within a host are followed, to another never; cookies live as long as the redirects of one visit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from geocrawl.model import Failure, FailureCode, Page, Purpose
from tests.support.http_server import answer, pages, redirect, serve

from .conftest import Kit, url

MakeKit = Callable[..., Kit]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
async def test_a_redirect_within_the_host_is_followed(kit: MakeKit, status: str) -> None:
    async with serve(pages({"/a/b": redirect("../c?x=%2F", status), "/c?x=%2F": answer(b"here")})) as server:
        got = await kit().get(f"{server.base}/a/b")
    assert isinstance(got, Page)
    assert (got.status, got.body) == (200, b"here")
    assert got.url.address.endswith("/a/b")
    assert got.final.address.endswith("/c?x=%2F")
    assert got.hops == (got.final,)
    assert server.connections <= 2


async def test_a_redirect_to_another_host_is_not_followed(kit: MakeKit) -> None:
    async with serve(pages({"/": redirect("http://localhost:1/x")})) as server:
        got = await kit().get(server.base + "/")
    assert isinstance(got, Page)
    assert got.location == url("http://localhost:1/x")
    assert (got.status, got.body, got.hops) == (302, b"", ())
    assert got.final == got.url


async def test_another_port_of_the_host_is_the_same_host(kit: MakeKit) -> None:
    async with serve(pages({"/": answer(b"there")})) as there, serve(pages({"/": redirect(there.base)})) as here:
        got = await kit().get(here.base + "/")
    assert isinstance(got, Page)
    assert got.body == b"there"


async def test_a_redirect_that_the_caller_declines_is_not_followed(kit: MakeKit) -> None:
    async with serve(pages({"/a": redirect("/b"), "/b": answer(b"b")})) as server, kit().turn() as turn:
        got = await turn.fetch(url(f"{server.base}/a"), purpose=Purpose.PAGE, follow=lambda target: False)
    assert isinstance(got, Page)
    assert got.location == url(f"{server.base}/b")
    assert server.targets == ["/a"]


@pytest.mark.parametrize("location", ["", "ftp://x.example/", "javascript:void(0)", "http://"])
async def test_a_redirect_to_nowhere_is_an_answer_of_its_own(kit: MakeKit, location: str) -> None:
    async with serve(lambda target, writer: redirect(location) if target == "/" else answer(b"")) as server:
        got = await kit().get(server.base + "/x" if not location else server.base + "/")
    assert isinstance(got, Page)
    assert got.location is None


@pytest.mark.parametrize("hides", ["eve:s3same@", "s3same@", "eve%3As3same:@", "//eve:s3same@"])
async def test_user_information_of_a_redirect_is_sent_neither_to_a_server_nor_through_a_proxy(
    kit: MakeKit, hides: str
) -> None:
    location = hides if hides.startswith("//") else f"http://{hides}"
    there = answer(b"there")
    async with serve(
        lambda target, writer: there if target.endswith("/b") else redirect(f"{location}a.example/b")
    ) as proxy:
        asking = kit(proxy=proxy.base.replace("//", "//operator:ours@"), ignore_robots=True)
        got = await asking.get("http://a.example/a")
    assert isinstance(got, Page) and got.body == b"there" and got.final == url("http://a.example/b")
    assert proxy.targets == ["http://a.example/a", "http://a.example/b"]
    assert "s3same" not in repr(got) and "eve" not in repr([proxy.targets, proxy.fields])
    assert all("authorization" not in fields for fields in proxy.fields)
    assert len({fields["proxy-authorization"] for fields in proxy.fields}) == 1


async def test_raw_bytes_in_a_location_are_escaped_as_they_stand(kit: MakeKit) -> None:
    raw = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /地图?a=%2f|b c\r\n\r\n".encode("gb18030")
    async with serve(lambda target, writer: raw if target == "/" else answer(b"ok")) as server:
        assert isinstance(await kit().get(server.base + "/"), Page)
    assert server.targets[1] == "/%B5%D8%CD%BC?a=%2f|b%20c"


async def test_every_hop_is_checked_against_robots_txt(kit: MakeKit) -> None:
    rules = answer(b"User-agent: *\nDisallow: /private", content_type="text/plain")
    async with serve(pages({"/robots.txt": rules, "/": redirect("/private/x")})) as server:
        got = await kit(ignore_robots=False).get(server.base + "/")
    assert isinstance(got, Failure)
    assert got.code is FailureCode.ROBOTS
    assert got.url == url(server.base + "/")
    assert server.targets == ["/robots.txt", "/"]


async def test_every_port_has_a_robots_txt_of_its_own(kit: MakeKit) -> None:
    rules = answer(b"User-agent: *\nDisallow: /", content_type="text/plain")
    forbidding = pages({"/robots.txt": rules, "/": answer(b"there")})
    async with serve(forbidding) as there, serve(pages({"/": redirect(there.base)})) as here:
        got = await kit(ignore_robots=False).get(here.base + "/")
    assert isinstance(got, Failure)
    assert got.code is FailureCode.ROBOTS


async def test_cookies_are_sent_on_the_hops_of_one_visit_only(kit: MakeKit) -> None:
    site = {
        "/a": redirect("/b", set_cookie="s=1; Path=/; HttpOnly"),
        "/b": redirect("/c", set_cookie="only=b; Path=/nowhere"),
        "/c": answer(b"welcome", set_cookie="late=1"),
    }
    async with serve(pages(site)) as server, kit().turn() as turn:
        for _ in range(2):
            got = await turn.fetch(url(f"{server.base}/a"), purpose=Purpose.PAGE)
            assert isinstance(got, Page)
            assert got.body == b"welcome"
    assert [fields.get("cookie", "") for fields in server.fields] == ["", "s=1", "s=1"] * 2


async def test_a_cookie_is_sent_back_byte_for_byte(kit: MakeKit) -> None:
    cookie = "名=図".encode("gb18030")
    first = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /b\r\nSet-Cookie: " + cookie + b"; Path=/\r\n\r\n"
    async with serve(pages({"/a": first, "/b": answer(b"in")})) as server:
        assert isinstance(await kit().get(f"{server.base}/a"), Page)
    assert server.fields[-1]["cookie"].encode("latin-1") == cookie


async def test_coming_back_with_a_cookie_is_no_circle(kit: MakeKit) -> None:
    async with serve(lambda target, writer: asking_for_cookie()) as server:

        def asking_for_cookie() -> bytes:
            if "cookie" in server.fields[-1]:
                return answer(b"in")
            return redirect("/", set_cookie="test=1")

        got = await kit().get(server.base + "/")
    assert isinstance(got, Page)
    assert got.body == b"in"


async def test_the_body_of_a_redirect_is_not_read(kit: MakeKit) -> None:
    async def endless(target: str, writer: asyncio.StreamWriter) -> None:
        if target != "/":
            writer.write(answer(b"short"))
            return
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Type: text/html\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()

    async with serve(endless) as server:
        got = await kit().get(server.base + "/")
    assert isinstance(got, Page)
    assert got.body == b"short"


async def test_an_address_of_another_host_is_a_mistake_of_the_caller(kit: MakeKit) -> None:
    async with kit().turn("a.example") as turn:
        with pytest.raises(ValueError, match=r"b\.example"):
            await turn.fetch(url("http://b.example/"), purpose=Purpose.PAGE)
