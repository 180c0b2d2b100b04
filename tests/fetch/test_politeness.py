"""Delay, Crawl-delay, Retry-After and back-off, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from email.utils import format_datetime, formatdate

import pytest

from geocrawl.errors import GivenBack
from geocrawl.fetch.answer_reader import read_http_date
from geocrawl.fetch.politeness import (
    DAY_S,
    Effect,
    ExchangeSubject,
    after_exchange,
    count_request,
    delay_s,
    effect_of,
    is_day_limit_reached,
    read_retry_after,
)
from geocrawl.model import Failure, FailureCode, HostState, Page, Purpose
from geocrawl.settings import Settings, SiteSettings
from tests.support.http_server import answer, pages, redirect, serve

from .conftest import Kit, VirtualClock, settings, url

MakeKit = Callable[..., Kit]
NOW = 1_700_000_000.0
S = Settings()
TROUBLE = ("next_at", "troubled_at", "troubled_address", "refusals")


# --------------------------------------------------------------------------- the table


def test_the_table_says_what_an_answer_means() -> None:
    assert {effect_of(status) for status in (429, 503)} == {Effect.OVERLOAD}
    assert {effect_of(status) for status in (500, 502, 504)} == {Effect.ERROR}
    assert {effect_of(status) for status in (200, 301, 403, 404, 501)} == {Effect.OK}
    assert effect_of(FailureCode.DNS) is effect_of(FailureCode.TIMEOUT_READ) is Effect.ERROR
    assert effect_of(FailureCode.BODY_LIMIT) is effect_of(FailureCode.WRONG_TYPE) is Effect.NEUTRAL


def after(host: HostState, status: int, address: str, now: float, *, is_robots: bool = False) -> HostState:
    return after_exchange(host, status, now, S, retry_after_s=None, asked=ExchangeSubject(address, now, is_robots))


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_servers_error_is_its_addresss_trouble_however_often(status: int) -> None:
    host = HostState("a.example")
    for number in range(8):
        host = after(host, status, "http://a.example/1", NOW + number)
        assert (host.errors, host.next_at) == (0, NOW + number + S.delay_s)
    assert (host.troubled_address, host.troubled_at) == ("http://a.example/1", NOW + 7)


def asked_one_after_the_other(answers: str, status: int, retry_after_s: float | None = 120) -> HostState:
    """The state of a host whose addresses refuse (x, each another one) or answer (o) by turns, a second apart."""
    host = HostState("a.example")
    for number, answer_ in enumerate(answers):
        at = NOW + number
        code, wait_s = (status, retry_after_s) if answer_ == "x" else (200, None)
        host = after_exchange(
            host, code, at, S, retry_after_s=wait_s, asked=ExchangeSubject(f"http://a.example/{number}", at)
        )
    return replace(host, next_at=host.next_at - at)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("answers", ["xx", "oooooxx", "xoxox", "xoxooxx", "xxooox", "xxoooooxooxox"])
def test_a_host_rests_that_refuses_at_two_addresses_running_or_more_often_than_not(status: int, answers: str) -> None:
    host = asked_one_after_the_other(answers, status)
    assert host.errors > 0 and host.next_at >= 120


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("answers", ["x", "xox", "xoooxooox", "oooox", "xooxoooox", "xxoooooox", 5 * "xooooo" + "x"])
def test_a_host_that_answers_most_of_its_addresses_keeps_its_delay(status: int, answers: str) -> None:
    host = asked_one_after_the_other(answers, status)
    assert host.errors == 0 and host.next_at == (10 if status == 429 else S.delay_s), "a 429 slows its host down"


def test_an_address_that_refuses_again_is_no_second_one() -> None:
    host = HostState("a.example")
    for number in range(8):
        host = after(host, 503, "http://a.example/1", NOW + number)
    assert host.refusals == 3
    assert after(host, 503, "http://a.example/2", NOW + 9).errors == 1


def test_a_refusal_is_forgotten_after_a_while() -> None:
    first = after(HostState("a.example"), 503, "http://a.example/1", NOW)
    second = after(first, 503, "http://a.example/2", NOW + S.trouble_window_s)
    assert second.errors == 1 and second.next_at - NOW - S.trouble_window_s == pytest.approx(60, rel=0.1)
    late = after(first, 503, "http://a.example/2", NOW + S.trouble_window_s + 1)
    assert late.errors == 0 and late.troubled_address == "http://a.example/2"


def test_an_error_of_one_page_and_a_refusal_of_another_leave_their_host_alone() -> None:
    host = after(HostState("a.example"), 500, "http://a.example/1", NOW)
    for number in range(30):
        host = after(host, 200, f"http://a.example/ok{number}", NOW + 1 + number)
    host = after(host, 503, "http://a.example/2", NOW + 40)
    assert (host.errors, host.next_at) == (0, NOW + 40 + S.delay_s)


def test_a_short_wait_that_429_asks_for_is_the_whole_hosts() -> None:
    asked = ExchangeSubject("http://a.example/1", NOW)
    assert after_exchange(HostState("a.example"), 429, NOW, S, retry_after_s=7, asked=asked).next_at == NOW + 7


@pytest.mark.parametrize("status", [500, 502, 504])
def test_other_errors_of_several_addresses_in_a_row_send_the_host_to_rest(status: int) -> None:
    host = HostState("a.example")
    waits = []
    for number in range(4):
        host = after(host, status, f"http://a.example/{number}", NOW + number)
        waits.append(host.next_at - NOW - number)
    assert waits[:3] == [S.delay_s] * 3 and waits[3] == pytest.approx(60, rel=0.1)
    assert after(host, 404, "http://a.example/4", NOW + 99).errors == 0


def test_robots_txt_and_429_without_a_time_speak_for_the_host() -> None:
    robots = after(HostState("a.example"), 503, "http://a.example/robots.txt", NOW, is_robots=True)
    busy = after(HostState("a.example"), 429, "http://a.example/1", NOW)
    assert robots.errors == busy.errors == 1
    assert min(robots.next_at, busy.next_at) - NOW == pytest.approx(60, rel=0.1)


def rests_of(outcome: int | FailureCode, count: int, settings: Settings = S) -> list[float]:
    """How long a host waits after each of so many errors in a row, asked again as soon as it may be."""
    host, now, waits = HostState("a.example"), NOW, []
    for _ in range(count):
        host = after_exchange(host, outcome, now, settings)
        waits.append(host.next_at - now)
        now = host.next_at
    return waits


def test_a_strained_host_rests_at_once_and_twice_as_long_each_time() -> None:
    waits = rests_of(503, 16)
    for number, wait in enumerate(waits):
        assert wait == pytest.approx(min(60 * 2.0**number, 86_400), rel=0.1)
    assert max(waits) <= S.backoff_max_s
    assert len({round(wait / 2**number, 6) for number, wait in enumerate(waits[:8])}) > 1, "back-offs vary"
    assert rests_of(503, 16) == waits, "and can be repeated"


def test_a_failing_host_rests_after_three_failures_in_a_row() -> None:
    waits = rests_of(FailureCode.REFUSED, 5)
    assert waits[:2] == pytest.approx([1.0, 1.0])
    assert waits[2:] == [pytest.approx(60 * 2**n, rel=0.1) for n in range(3)]


@pytest.mark.parametrize(
    ("own_s", "crawl_delay_s", "demanded_s"),
    [(None, None, 1.0), (5.0, None, 5.0), (0.0, None, 0.0), (0.0, 3.0, 3.0), (5.0, 3.0, 5.0), (None, 3.0, 3.0)],
)
def test_a_hosts_own_delay_stands_for_the_common_one_but_never_for_a_longer_crawl_delay(
    own_s: float | None, crawl_delay_s: float | None, demanded_s: float
) -> None:
    settings = Settings(sites={"a.example": SiteSettings(delay_s=own_s)})
    assert delay_s(HostState("a.example", crawl_delay_s=crawl_delay_s), settings) == demanded_s
    assert delay_s(HostState("b.example"), settings) == 1.0


def test_an_answer_ends_the_row() -> None:
    host = after_exchange(HostState("a"), FailureCode.RESET, NOW, S)
    host = after_exchange(host, FailureCode.RESET, NOW + 1, S)
    assert host.errors == 2
    assert after_exchange(host, FailureCode.BODY_LIMIT, NOW + 2, S).errors == 2
    assert after_exchange(host, 404, NOW + 2, S).errors == 0


def test_errors_are_forgiven_half_an_hour_after_the_rest() -> None:
    host = HostState("a", next_at=NOW, errors=7, last_error_at=NOW - 4000)
    assert after_exchange(host, 503, NOW + 1799, S).errors == 8
    assert after_exchange(host, 503, NOW + 1801, S).errors == 1


def test_retry_after_stands_for_the_rest_until_it_does_not_help() -> None:
    host = after_exchange(HostState("a"), 429, NOW, S, retry_after_s=5)
    assert host.next_at == NOW + 5
    host = after_exchange(HostState("a", errors=4, last_error_at=NOW), 429, NOW, S, retry_after_s=5)
    assert host.next_at > NOW + 800
    assert after_exchange(HostState("a"), 503, NOW, S, retry_after_s=0).next_at == NOW + 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("999999999999999999999", 86_400),
        ("soon", None),
        ("", None),
        ("-5", None),
        ("Tue, 14 Nov 2023 22:15:20 GMT", 120),
        ("Tue, 14 Nov 2023 22:00:00 GMT", 0),
        ("Tue, 14 Nov 2090 22:00:00 GMT", 86_400),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(value: str, expected: float | None) -> None:
    assert read_retry_after({"retry-after": value}, NOW, S) == expected


@pytest.mark.parametrize("off_s", [-7 * 60, 0, 7 * 60, 3 * 86_400])
@pytest.mark.parametrize("wait_s", [0, 90])
def test_a_date_to_retry_after_is_by_the_servers_clock(off_s: int, wait_s: int) -> None:
    fields = {
        "date": formatdate(NOW + off_s, usegmt=True),
        "retry-after": formatdate(NOW + off_s + wait_s, usegmt=True),
    }
    assert read_retry_after(fields, NOW, S) == wait_s
    assert read_retry_after(fields | {"date": "soon"}, NOW, S) == min(max(0, off_s + wait_s), S.max_retry_after_s)


@pytest.mark.parametrize("text", ["Tue, 99 Nov 2023 22:15:20 GMT", "0", "x" * 5000, "Sat, 01 Jan 9999 00:00:00 -9999"])
def test_a_date_that_is_none_is_none(text: str) -> None:
    assert read_http_date(text) is None


# --------------------------------------------------------------------------- a turn


async def test_a_turn_waits_between_requests(kit: MakeKit) -> None:
    clock = VirtualClock()
    async with serve(lambda target, writer: answer(b"ok")) as server, kit(clock, delay_s=1.0).turn() as turn:
        for number in range(3):
            assert isinstance(await turn.fetch(url(f"{server.base}/{number}"), purpose=Purpose.PAGE), Page)
        assert turn.host.next_at == clock.time + 1
    assert clock.slept == [1.0, 1.0]


async def test_a_turn_without_delay_does_not_wait(kit: MakeKit) -> None:
    clock = VirtualClock()
    async with (
        serve(pages({"/0": redirect("/1"), "/1": answer(b"ok")})) as server,
        kit(clock, ignore_robots=False).turn() as turn,
    ):
        await turn.fetch(url(f"{server.base}/0"), purpose=Purpose.PAGE)
    assert clock.slept == []


async def test_robots_txt_and_hops_count_as_requests(kit: MakeKit) -> None:
    clock = VirtualClock()
    async with (
        serve(pages({"/0": redirect("/1"), "/1": answer(b"ok")})) as server,
        kit(clock, delay_s=2.0, ignore_robots=False).turn() as turn,
    ):
        await turn.fetch(url(f"{server.base}/0"), purpose=Purpose.PAGE)
    assert server.targets == ["/robots.txt", "/0", "/1"]
    assert clock.slept == [2.0, 2.0]


async def test_a_turn_starts_when_the_host_may_be_asked(kit: MakeKit) -> None:
    clock = VirtualClock()
    async with serve(lambda target, writer: answer(b"ok")) as server, kit(clock).turn(next_at=clock.time + 7) as turn:
        await turn.fetch(url(server.base), purpose=Purpose.PAGE)
    assert clock.slept == [7.0]


@pytest.mark.parametrize(("named", "kept"), [("5", 5.0), ("0.5", 1.0), ("86400", 120.0)])
async def test_crawl_delay_is_kept_from_the_first_page_on(kit: MakeKit, named: str, kept: float) -> None:
    clock = VirtualClock()
    rules = answer(f"User-agent: *\nCrawl-delay: {named}".encode(), content_type="text/plain")
    async with (
        serve(pages({"/robots.txt": rules, "/": answer(b"ok")})) as server,
        kit(clock, delay_s=1.0, ignore_robots=False).turn() as turn,
    ):
        for _ in range(2):
            await turn.fetch(url(server.base), purpose=Purpose.PAGE)
        assert turn.host.crawl_delay_s == float(named)
        assert turn.host.next_at == clock.time + kept
    assert clock.slept == [kept, kept]


async def test_too_many_requests_for_one_address_slow_its_host_down_and_end_the_turn(kit: MakeKit) -> None:
    clock = VirtualClock()
    async with (
        serve(lambda target, writer: answer(b"slow down", "429 Too Many", retry_after="7200")) as server,
        kit(clock, delay_s=1.0).turn() as turn,
    ):
        first = await turn.fetch(url(f"{server.base}/a"), purpose=Purpose.PAGE)
        again = await turn.fetch(url(f"{server.base}/b"), purpose=Purpose.PAGE)
        host = turn.host
    assert isinstance(first, Page) and isinstance(again, Page)
    assert (first.status, again.status) == (429, 429)
    assert again.url.address.endswith("/b")
    assert server.targets == ["/a"], "the turn is over"
    assert (first.retry_after_s, host.errors, host.next_at) == (7200.0, 0, clock.time + 10)
    assert clock.slept == []


async def test_a_host_of_which_two_addresses_get_too_many_requests_rests_as_long_as_it_asks(kit: MakeKit) -> None:
    clock = VirtualClock()
    async with serve(lambda target, writer: answer(b"slow down", "429 Too Many", retry_after="7200")) as server:
        asking = kit(clock, delay_s=1.0)
        async with asking.turn() as turn:
            await turn.fetch(url(f"{server.base}/a"), purpose=Purpose.PAGE)
            host = turn.host
        async with asking.turn(**{name: getattr(host, name) for name in TROUBLE}) as turn:
            await turn.fetch(url(f"{server.base}/b"), purpose=Purpose.PAGE)
            host = turn.host
    assert server.targets == ["/a", "/b"] and clock.slept == [10.0]
    assert (host.errors, host.next_at) == (1, clock.time + 7200)


async def test_one_address_in_trouble_ends_its_turn_and_leaves_its_host_its_delay(kit: MakeKit) -> None:
    clock = VirtualClock()
    async with (
        serve(lambda target, writer: answer(b"", "503 Unavailable", retry_after="7200")) as server,
        kit(clock, delay_s=1.0).turn() as turn,
    ):
        first = await turn.fetch(url(f"{server.base}/wms?version=1.3.0"), purpose=Purpose.PROBE)
        again = await turn.fetch(url(f"{server.base}/wms?version=1.1.1"), purpose=Purpose.PROBE)
        host = turn.host
    assert isinstance(first, Page) and isinstance(again, Page)
    assert (first.status, first.retry_after_s, again.status) == (503, 7200.0, 503)
    assert server.targets == ["/wms?version=1.3.0"]
    assert (host.errors, host.next_at, host.troubled_at) == (0, clock.time + 1, clock.time)


async def test_retry_after_may_be_a_date(kit: MakeKit) -> None:
    clock = VirtualClock()
    moment = read_http_date("Tue, 14 Nov 2023 22:20:00 GMT")
    assert moment is not None
    site = pages({"/": answer(b"", "429 Too Many Requests", retry_after=format_datetime(moment, usegmt=True))})
    async with serve(site) as server, kit(clock).turn() as turn:
        got = await turn.fetch(url(server.base), purpose=Purpose.PAGE)
        assert isinstance(got, Page) and got.retry_after_s == moment.timestamp() - clock.time


async def test_a_dead_host_rests_after_three_failures(kit: MakeKit) -> None:
    clock = VirtualClock()
    async with kit(clock, delay_s=1.0).turn("no-such-host.invalid") as turn:
        for number in range(4):
            got = await turn.fetch(url(f"http://no-such-host.invalid/{number}"), purpose=Purpose.PAGE)
            assert isinstance(got, Failure)
            assert got.code is FailureCode.DNS
            retry_after_s = got.retry_after_s
        assert turn.host.errors == 3
        assert turn.host.next_at - clock.time == pytest.approx(60, rel=0.1)
        assert retry_after_s == pytest.approx(60, rel=0.1)
    assert clock.slept == [1.0, 1.0]


async def test_a_refusal_of_the_guard_costs_the_host_nothing(kit: MakeKit) -> None:
    async with kit(VirtualClock(), allow_private=False, delay_s=1.0).turn("10.0.0.1") as turn:
        await turn.fetch(url("http://10.0.0.1/"), purpose=Purpose.PAGE)
        assert turn.host == HostState("10.0.0.1")


async def test_a_host_whose_requests_of_the_day_are_spent_is_left_alone_until_the_next_day(kit: MakeKit) -> None:
    clock = VirtualClock()
    tomorrow = (clock.time // DAY_S + 1) * DAY_S
    async with serve(pages({f"/{number}": answer(b"<p>map</p>") for number in range(4)})) as server:
        asking = kit(clock, delay_s=0.0, ignore_robots=True, requests_per_host_per_day=3)
        async with asking.turn() as turn:
            for number in range(2):
                await turn.fetch(url(f"{server.base}/{number}"), purpose=Purpose.PAGE)
            assert turn.host.asked == 2 and turn.host.next_at < tomorrow
            await turn.fetch(url(f"{server.base}/2"), purpose=Purpose.PAGE)
            assert turn.host.next_at == tomorrow
            content = await turn.fetch(url(f"{server.base}/3"), purpose=Purpose.MAP)
            assert isinstance(content, Failure) and content.code is FailureCode.BUDGET
        clock.time = tomorrow
        async with asking.turn(day=turn.host.day, asked=turn.host.asked) as turn:
            await turn.fetch(url(f"{server.base}/0"), purpose=Purpose.PAGE)
            assert turn.host.asked == 1 and turn.host.next_at == tomorrow


def test_a_host_may_have_a_number_of_requests_of_its_own() -> None:
    settings = Settings(requests_per_host_per_day=10, sites={"a.example": SiteSettings(requests_per_day=2)})
    now = 20_000 * DAY_S + 5.0
    for name, limit in (("a.example", 2), ("b.example", 10)):
        host = HostState(name)
        while not is_day_limit_reached(host, now, settings):
            host = count_request(host, now)
        assert host.asked == limit
        assert not is_day_limit_reached(host, now + DAY_S, settings)
    assert not is_day_limit_reached(host, now, Settings()), "no limit"


class SetClock(VirtualClock):
    """A clock whose wall time is set by hand."""

    set_by_s = 0.0

    def now(self) -> float:
        return self.time + self.set_by_s


@pytest.mark.parametrize("set_by_s", [DAY_S, -400 * DAY_S])
async def test_no_step_of_the_clock_shortens_a_retry_after_within_a_process(set_by_s: float) -> None:
    clock, asked = SetClock(), list[str]()

    def respond(target: str, writer: object) -> bytes:
        asked.append(target)
        return answer(b"later", "503 Service Unavailable", retry_after="3600") if len(asked) == 1 else answer(b"")

    async with serve(respond) as server:
        kit = Kit(settings(ignore_robots=False), clock)
        page = url(f"{server.base}/")
        async with kit.fetcher.turn(HostState(page.host)) as turn:
            assert isinstance(await turn.fetch(page, purpose=Purpose.PAGE), Failure)
        clock.set_by_s = set_by_s
        kit.politeness.records.clear()  # has expired, and so has the host's rest
        clock.time += 1_000.0
        async with kit.fetcher.turn(HostState(page.host)) as turn:
            with pytest.raises(GivenBack, match="left alone for another 2,600 s"):
                await turn.fetch(page, purpose=Purpose.PAGE)
            assert turn.host.next_at == clock.now() + 2_600.0
        clock.time += 2_601.0
        async with kit.fetcher.turn(HostState(page.host)) as turn:
            assert isinstance(await turn.fetch(page, purpose=Purpose.PAGE), Page)
        await kit.fetcher.close()
    assert asked == ["/robots.txt", "/robots.txt", "/"]


@pytest.mark.parametrize("asks", ["20", "3600"])
async def test_no_step_of_the_clock_shortens_the_retry_after_of_one_address(asks: str) -> None:
    clock, asked = SetClock(), list[str]()

    def respond(target: str, writer: object) -> bytes:
        asked.append(target)
        refused = target == "/busy" and len(asked) == 1
        return answer(b"later", "503 Service Unavailable", retry_after=asks) if refused else answer(b"")

    async with serve(respond) as server:
        kit = Kit(settings(ignore_robots=True), clock)
        busy, other = url(f"{server.base}/busy"), url(f"{server.base}/other")
        host = HostState(busy.host)
        for wanted, passed_s, status in ((busy, 0, 503), (busy, 10, 503), (other, 0, 200), (busy, float(asks), 200)):
            clock.time += passed_s
            clock.set_by_s += DAY_S
            async with kit.fetcher.turn(host) as turn:
                page = await turn.fetch(wanted, purpose=Purpose.PAGE)
                host = turn.host
            assert isinstance(page, Page) and page.status == status
            if passed_s == 10:
                assert page.retry_after_s is not None and 0 <= float(asks) - 10 - page.retry_after_s < 5
        await kit.fetcher.close()
    assert asked == ["/busy", "/other", "/busy"]
