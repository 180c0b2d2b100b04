"""robots.txt under RFC 9309: what an answer means, what is kept, and that nothing hostile in it costs us."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.fetcher import PoliteFetcher
from geocrawl.fetch.robots import RobotsCache, RobotsRules, product_token, read_text, sitemaps_of
from geocrawl.model import Failure, FailureCode, HostState, Page, Purpose, RobotsRecord
from geocrawl.settings import Settings, SiteSettings
from tests.support.http_server import Behaviour, answer, pages, redirect, serve
from tests.support.politeness import MemoryPoliteness

from .conftest import AGENT, Kit, VirtualClock, settings, url

MakeKit = Callable[..., Kit]
S = Settings()


def robots(text: str, status: str = "200 OK", **headers: str) -> bytes:
    return answer(text.encode(), status, content_type="text/plain", **headers)


async def visit(kit: Kit, behaviour: Behaviour, path: str = "/page") -> tuple[Page | Failure, list[str]]:
    async with serve(behaviour) as server:
        return await kit.get(server.base + path), server.targets


# --------------------------------------------------------------------------- what an answer means


@pytest.mark.parametrize("status", ["404 Not Found", "401 Unauthorized", "403 Forbidden", "410 Gone"])
async def test_without_a_robots_txt_all_is_allowed(kit: MakeKit, status: str) -> None:
    site = pages({"/robots.txt": robots("User-agent: *\nDisallow: /", status), "/page": answer(b"ok")})
    assert isinstance((await visit(kit(ignore_robots=False), site))[0], Page)


async def test_a_site_s_limit_of_bytes_does_not_cut_its_robots_txt(kit: MakeKit) -> None:
    text = "User-agent: *\n" + "Disallow: /other\n" * 9 + "Disallow: /page\n"
    site = pages({"/robots.txt": robots(text), "/page": answer(b"ok")})
    short = kit(ignore_robots=False, sites={"127.0.0.1": SiteSettings(max_body_bytes=20)})
    got, asked = await visit(short, site)
    assert isinstance(got, Failure) and got.code is FailureCode.ROBOTS and asked == ["/robots.txt"]


@pytest.mark.parametrize("status", ["500 Oops", "502 Bad Gateway", "503 Unavailable", "429 Too Many Requests"])
async def test_a_robots_txt_that_cannot_be_had_is_not_now(kit: MakeKit, status: str) -> None:
    clock = VirtualClock()
    asking = kit(clock, ignore_robots=False)
    async with serve(pages({"/robots.txt": robots("", status), "/page": answer(b"ok")})) as server:
        got = await asking.get(f"{server.base}/page")
        assert isinstance(got, Failure)
        assert (got.code, got.retry_after_s) == (FailureCode.ROBOTS, 3600)
        assert "unreachable" in got.detail
        clock.time += 1800
        later = await asking.get(f"{server.base}/other")
        assert isinstance(later, Failure)
        assert later.retry_after_s == 1800
        assert server.targets == ["/robots.txt"], "and is not asked for again meanwhile"


async def test_retry_after_of_a_robots_txt_is_kept(kit: MakeKit) -> None:
    site = pages({"/robots.txt": robots("", "503 Unavailable", retry_after="600")})
    got, _ = await visit(kit(VirtualClock(), ignore_robots=False), site)
    assert isinstance(got, Failure)
    assert got.retry_after_s == 600


async def test_a_robots_txt_that_breaks_off_is_not_now(kit: MakeKit) -> None:
    cut = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nUser-agent: *\n"

    got, targets = await visit(kit(ignore_robots=False, read_timeout_s=0.2), lambda target, writer: cut)
    assert isinstance(got, Failure)
    assert got.code is FailureCode.ROBOTS
    assert got.retry_after_s is not None
    assert targets == ["/robots.txt"]


async def test_a_host_that_is_not_there_fails_by_its_own_cause_and_leaves_no_record(kit: MakeKit) -> None:
    asking = kit(ignore_robots=False)
    got = await asking.get("http://no-such-host.invalid/page")
    assert isinstance(got, Failure)
    assert got.code is FailureCode.DNS
    assert got.url.address == "http://no-such-host.invalid/page"
    assert asking.politeness.records == {}


async def test_redirects_of_a_robots_txt_are_followed_to_other_hosts(kit: MakeKit) -> None:
    async with serve(pages({"/rules": robots("User-agent: *\nDisallow: /page")})) as other:
        chain = {f"/{n}": redirect(f"/{n + 1}") for n in range(3)} | {"/3": redirect(other.base + "/rules")}
        chain["/robots.txt"] = redirect("/0")
        got, targets = await visit(kit(ignore_robots=False), pages(chain))
    assert isinstance(got, Failure)
    assert got.code is FailureCode.ROBOTS
    assert targets == ["/robots.txt", "/0", "/1", "/2", "/3"]


async def test_more_than_five_redirects_count_as_no_robots_txt(kit: MakeKit) -> None:
    chain = {f"/{n}": redirect(f"/{n + 1}") for n in range(20)} | {"/robots.txt": redirect("/0")}
    got, targets = await visit(kit(ignore_robots=False), pages({**chain, "/page": answer(b"ok")}))
    assert isinstance(got, Page)
    assert len(targets) == 7


async def test_a_robots_txt_sent_to_a_private_address_is_not_now(kit: MakeKit) -> None:
    async with serve(pages({"http://a.example/robots.txt": redirect("http://10.0.0.1/robots.txt")})) as proxy:
        asking = kit(VirtualClock(), ignore_robots=False, allow_private=False, proxy=proxy.base)
        got = await asking.get("http://a.example/page")
    assert isinstance(got, Failure)
    assert (got.code, got.retry_after_s) == (FailureCode.ROBOTS, 3600)


# --------------------------------------------------------------------------- what is kept


async def test_a_robots_txt_is_believed_for_a_day(kit: MakeKit) -> None:
    clock = VirtualClock()
    asking = kit(clock, ignore_robots=False)
    async with serve(pages({"/robots.txt": robots("User-agent: *\nDisallow: /no"), "/": answer(b"ok")})) as server:
        for _ in range(2):
            assert isinstance(await asking.get(server.base), Page)
        clock.time += 86_401
        await asking.get(server.base)
    assert server.targets == ["/robots.txt", "/", "/", "/robots.txt", "/"]


async def test_a_record_of_an_earlier_run_is_used(kit: MakeKit) -> None:
    asking = kit(ignore_robots=False)
    async with serve(pages({"/": answer(b"ok")})) as server:
        asking.politeness.records[server.base] = RobotsRecord(server.base, 200, "User-agent: *\nDisallow: /", 0, 9e9)
        got = await asking.get(server.base)
    assert isinstance(got, Failure)
    assert server.lines == []


async def test_a_failure_that_the_store_has_deleted_is_forgotten(kit: MakeKit) -> None:
    asking = kit(VirtualClock(), ignore_robots=False)
    answers = {"/robots.txt": answer(b"", "503 Service Unavailable"), "/": answer(b"ok")}
    async with serve(pages(answers)) as server:
        assert isinstance(await asking.get(server.base), Failure)
        asking.politeness.records.clear()  # as when an outage of ours is undone
        del answers["/robots.txt"]
        assert isinstance(await asking.get(server.base), Page)


class RobotsBehindANetwork(MemoryPoliteness):
    """Politeness whose store of robots.txt answers only when another task has run meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()

    async def read_robots(self, origin: str) -> RobotsRecord | None:
        self.asked.set()
        await self.may_answer.wait()
        return await super().read_robots(origin)


async def test_other_tasks_run_while_the_store_is_read_and_a_known_record_needs_no_store() -> None:
    robots_store = RobotsBehindANetwork()
    fetcher = PoliteFetcher(settings(ignore_robots=False), robots_store, SystemClock(), user_agent=AGENT)
    async with serve(pages({"/a": answer(b"ok"), "/b": answer(b"ok")})) as server:
        async with fetcher.turn(HostState("127.0.0.1")) as turn:
            first = asyncio.create_task(turn.fetch(url(f"{server.base}/a"), purpose=Purpose.PAGE))
            await robots_store.asked.wait()
            assert server.targets == []
            robots_store.may_answer.set()
            assert isinstance(await first, Page)
            assert isinstance(await turn.fetch(url(f"{server.base}/b"), purpose=Purpose.PAGE), Page)
        await fetcher.close()
    assert robots_store.reads == 2, "what is known, once more when the answer was no robots.txt"


async def test_the_rules_in_memory_are_bounded() -> None:
    store = MemoryPoliteness()
    memory = RobotsCache(store, "geocrawl", S)
    text = "User-agent: *\nDisallow: /x\n" + "#" * 400_000
    for number in range(100):
        await memory.put(RobotsRecord(f"http://h{number}", 200, text, 0, 10))
    assert len(memory._parsed) < 45
    assert len(store.records) == 100
    assert await memory.get("http://h0", 1) is not None
    assert await memory.get("http://h0", 11) is None


# --------------------------------------------------------------------------- rules


def allowed(text: str, path: str = "/page", token: str = "geocrawl") -> bool:
    return RobotsRules(text, token).allows(f"http://a.example{path}")


def test_the_group_that_names_us_counts_and_no_other() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-Agent: GeoCrawl/2.0\nAllow: /\nDisallow: /no\n"
    text += "\nuser-agent: geo\nDisallow: /"
    assert allowed(text)
    assert not allowed(text, "/no/x")
    assert not allowed(text, token="otherbot")
    assert allowed("User-agent: geocrawler\nDisallow: /"), "a longer name is another crawler"
    assert not allowed("User-agent: a\nUser-agent: geocrawl\nUser-agent: b\nDisallow: /")


def test_the_longest_match_wins_and_wildcards_work() -> None:
    text = "User-agent: *\nDisallow: /*.php$\nDisallow: /a/\nAllow: /a/b\nDisallow: /q?x=*&y"
    assert not allowed(text, "/x.php")
    assert allowed(text, "/x.php?a")
    assert not allowed(text, "/a/c")
    assert allowed(text, "/a/b/c")
    assert not allowed(text, "/q?x=1&y=2")


def test_the_product_token_is_the_first_of_the_user_agent() -> None:
    assert product_token("geocrawl/0.1 (+https://a)") == "geocrawl"
    assert product_token("My-Bot/2") == "my-bot"
    assert product_token("") == "geocrawl"


@pytest.mark.parametrize("body", [b"<?xml version='1.0'?><a>Disallow: /</a>", b"  <!doctype html>", b"\x00\x01", b""])
def test_a_page_in_the_place_of_a_robots_txt_holds_no_rules(body: bytes) -> None:
    assert read_text(body, 1000) == ""


def test_a_robots_txt_is_cut_at_the_limit_without_the_last_line() -> None:
    body = b"User-agent: *\r\nDisallow: /private/x"
    assert read_text(body, 28) == read_text(body[:28], 28) == "User-agent: *\r\n"


async def test_a_long_robots_txt_is_cut_rather_than_refused(kit: MakeKit) -> None:
    text = "User-agent: *\nDisallow: /page\n" + "# filler\n" * 100_000
    got, _ = await visit(kit(ignore_robots=False), pages({"/robots.txt": robots(text), "/page": answer(b"x")}))
    assert isinstance(got, Failure)
    assert (got.code, got.retry_after_s) == (FailureCode.ROBOTS, None)


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert not allowed(read_text("\ufeffUser-agent: *\nDisallow: /".encode(), 1000))


@pytest.mark.parametrize("end", ["\n", "\r", "\x0b", "\x85", "\u2028"])
def test_thousands_of_groups_cost_nothing(end: str) -> None:
    agents = "".join(f"User-agent: bot{number}{end}" for number in range(20_000))
    text = agents + "".join(f"Disallow: /{number}{end}" for number in range(8000))
    rules = RobotsRules(text + f"User-agent: geocrawl{end}Disallow: /page", "geocrawl")
    assert rules._rules is not None
    assert len(rules._rules._user_agents) <= 3
    assert not rules.allows("http://a.example/page")


@given(st.text(max_size=300), st.sampled_from(["/", "/a?b=c", "/%zz", "/ü"]))
def test_no_text_raises(text: str, path: str) -> None:
    RobotsRules(text, "geocrawl").allows("http://a.example" + path)


@given(
    st.lists(
        st.sampled_from(
            [
                "User-agent: *",
                "Disallow: /a",
                "Allow: /a*b$",
                "Crawl-delay: 1e999",
                "\0",
                "::",
                "Request-rate: x/y",
                "Visit-time: z",
                "User agent geocrawl",
            ]
        ),
        max_size=12,
    )
)
def test_no_odd_line_raises(lines: list[str]) -> None:
    rules = RobotsRules("\n".join(lines), "geocrawl")
    rules.allows("http://a.example/a/b")
    assert rules.crawl_delay_s is None


async def test_robots_txt_is_obeyed_for_pages_and_probes_alike(kit: MakeKit) -> None:
    site = pages({"/robots.txt": robots("User-agent: *\nDisallow: /wms"), "/wms?": answer(b"<a/>")})
    async with serve(site) as server, kit(ignore_robots=False).turn() as turn:
        for purpose in (Purpose.PAGE, Purpose.PROBE):
            got = await turn.fetch(url(server.base + "/wms?"), purpose=purpose)
            assert isinstance(got, Failure)
            assert got.code is FailureCode.ROBOTS
    assert server.targets == ["/robots.txt"]


# --------------------------------------------------------------------------- sitemaps


def test_sitemap_lines_hold_for_all_whatever_group_they_stand_in() -> None:
    text = (
        "User-agent: other\nDisallow: /\nsitemap:http://a.example/s.xml\n\nSITEMAP : /more.xml.gz # here\n"
        "Sitemap: http://a.example/s.xml\nSitemap:\nsitemaps: http://no.example/\n"
    )
    assert sitemaps_of(text) == ("http://a.example/s.xml", "/more.xml.gz")
    assert RobotsRules(text, "geocrawl").sitemaps == ("http://a.example/s.xml", "/more.xml.gz")
    assert len(sitemaps_of("".join(f"Sitemap: /{n}\n" for n in range(100)))) == 20


async def test_a_turn_knows_the_sitemaps_of_the_robots_txt_that_it_read(kit: MakeKit) -> None:
    asking = kit(ignore_robots=False)
    site = pages({"/robots.txt": robots("Sitemap: /map.xml\nSitemap: ftp://x/y"), "/page": answer(b"ok")})
    async with serve(site) as server:
        page = url(f"{server.base}/page")
        async with asking.turn() as turn:
            assert await turn.sitemaps(page) == ()
            await turn.fetch(page, purpose=Purpose.PAGE)
            assert [each.address for each in await turn.sitemaps(page)] == [f"{server.base}/map.xml"]
    async with kit(ignore_robots=True).turn() as turn:
        assert await turn.sitemaps(page) == ()


@pytest.mark.parametrize(
    "begins",
    [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"],
    ids=["hangs", "drips its head", "drips its body", "drips without an end"],
)
async def test_a_robots_txt_that_never_comes_costs_its_time_once(kit: MakeKit, begins: bytes) -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(begins)
        while True:
            await asyncio.sleep(0.05)
            if begins:
                writer.write(b"#")
                await writer.drain()

    asking = kit(ignore_robots=False, total_timeout_s=0.5, read_timeout_s=0.3)
    async with serve(lambda target, writer: drip(writer)) as server:
        for page in range(5):
            got = await asking.get(f"{server.base}/page{page}")
            assert isinstance(got, Failure)
            assert got.code is FailureCode.ROBOTS
            assert got.retry_after_s == pytest.approx(3600, abs=5)
        assert server.targets == ["/robots.txt"]
