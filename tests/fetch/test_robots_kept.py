"""What an answer for robots.txt means while rules are known or not: the table of docs/safety.md, each row asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from geocrawl.model import Failure, FailureCode, Page, RobotsRecord
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.frontier.politeness import SqlPoliteness
from tests.support.http_server import Behaviour, answer, pages, redirect, serve
from tests.support.loop_time import LoopTime

from .conftest import Kit, VirtualClock, settings

MakeKit = Callable[..., Kit]
ROOT = Path(__file__).parents[2]
DAY_S = 86_400.0
FAST: dict[str, Any] = {"ignore_robots": False}
SILENT = {"a text that breaks off", "nothing"}
OLD, NEW = "User-agent: *\nDisallow: /old", b"User-agent: *\nDisallow: /new"
HTML = answer(b"<!doctype html><title>Sign in</title>")
CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nUser-agent: *\n"
ELSEWHERE = {"/rules": answer(NEW, content_type="text/plain"), "/page": HTML}
CHAIN = {f"/{n}": redirect(f"/{n + 1}") for n in range(20)}


def text(body: bytes, status: str = "200 OK") -> bytes:
    return answer(body, status, content_type="text/plain")


ANSWERS: dict[str, Callable[[str], bytes]] = {
    "200 with rules": lambda other: text(NEW),
    "200 with an empty file": lambda other: text(b""),
    "202 or 204 with nothing in it": lambda other: text(b"", "202 Accepted"),
    "200 with HTML": lambda other: HTML,
    "200 with other text that has no record": lambda other: text(b"Access denied\n"),
    "301 to rules on another host": lambda other: redirect(f"{other}/rules"),
    "301 to a page on another host": lambda other: redirect(f"{other}/page"),
    "301 to a missing file on another host": lambda other: redirect(f"{other}/nowhere"),
    "301 six times in a row": lambda other: redirect("/0"),
    "301 to where it cannot be read": lambda other: redirect("http://no-such-host.invalid/robots.txt"),
    "401": lambda other: text(b"Disallow: /", "401 Unauthorized"),
    "403": lambda other: text(b"Disallow: /", "403 Forbidden"),
    "404": lambda other: text(b"", "404 Not Found"),
    "410": lambda other: text(b"", "410 Gone"),
    "429": lambda other: text(b"", "429 Too Many Requests"),
    "500": lambda other: text(b"", "500 Internal Server Error"),
    "503": lambda other: text(b"", "503 Service Unavailable"),
    "a text that breaks off": lambda other: CUT,
    "nothing": lambda other: b"",
}
ALLOWED = {
    "everything is allowed": {"old", "new"},
    "nothing is allowed": set(),
    "the new rules hold": {"old"},
    "the known rules hold": {"new"},
    "the known rules hold, after the host's back-off": {"new"},
}


def rows() -> dict[str, tuple[str, str]]:
    """Return the table of the documentation: what holds without and with known rules, by answer."""
    section = (ROOT / "docs/safety.md").read_text("utf-8").partition("| robots.txt answers |")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines()[2:]]
    return {name: (unknown, known) for name, unknown, known in cells}


def site(robots: bytes, limits: LoopTime | None = None) -> Behaviour:
    """Return the behaviour of a server; with `limits` it says no more after `robots`, and the time for more passes."""
    answers = pages({**CHAIN, "/robots.txt": robots, "/old": answer(b"ok"), "/new": answer(b"ok")})

    async def break_off(writer: asyncio.StreamWriter, limits: LoopTime) -> None:
        writer.write(robots)
        await limits.hang(Settings().read_timeout_s)

    return lambda target, writer: (
        break_off(writer, limits) if limits and target == "/robots.txt" else answers(target, writer)
    )


async def allowed(asking: Kit, base: str) -> set[str]:
    """Return which of two addresses are answered; every other one is not asked because of robots.txt."""
    got = {name: await asking.get(f"{base}/{name}") for name in ("old", "new")}
    codes = {each.code for each in got.values() if isinstance(each, Failure)}
    assert codes <= {FailureCode.ROBOTS}
    return {name for name, each in got.items() if isinstance(each, Page)}


def test_the_table_has_each_answer() -> None:
    assert list(rows()) == list(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
async def test_the_table_holds(kit: MakeKit, name: str) -> None:
    unknown, known = rows()[name]
    limits = LoopTime()
    async with serve(pages(ELSEWHERE)) as other:
        at = f"http://localhost:{other.port}"
        async with serve(site(ANSWERS[name](at), limits if name in SILENT else None)) as server:
            assert await allowed(kit(VirtualClock(), **FAST), server.base) == ALLOWED[unknown]
            clock = VirtualClock()
            asking = kit(clock, **FAST)
            expired = RobotsRecord(server.base, 200, OLD, clock.time - DAY_S - 1, clock.time - 1)
            await asking.politeness.write_robots(expired)
            if "back-off" in known:
                first = await asking.get(f"{server.base}/new")
                assert isinstance(first, Failure) and first.retry_after_s is not None
                clock.time += first.retry_after_s
            assert await allowed(asking, server.base) == ALLOWED[known]
            if "known" in known:
                for _ in range(4):  # it is asked for again each time, for a day
                    clock.time += 8 * 3_600
                    left = await allowed(asking, server.base)
            else:
                clock.time += DAY_S + 1
                left = await allowed(asking, server.base)
            if "back-off" in known and left != ALLOWED[unknown]:
                left = await allowed(asking, server.base)
            assert left == ALLOWED[unknown], "known rules have had their time"


@pytest.mark.parametrize("name", [name for name, (unknown, _) in rows().items() if unknown == "nothing is allowed"])
async def test_where_there_are_no_rules_an_answer_that_leaves_that_open_forbids_nothing(
    kit: MakeKit, name: str
) -> None:
    clock, limits = VirtualClock(), LoopTime()
    asking = kit(clock, **FAST)
    robots = ANSWERS[name]("http://localhost:9")
    async with serve(site(robots, limits if name in SILENT else None)) as server:
        await asking.politeness.write_robots(RobotsRecord(server.base, 404, "", clock.time - DAY_S - 1, clock.time - 1))
        for days in (0.0, 0.5, 1.0, 9.0, 9.0, 9.0):
            clock.time += days * DAY_S
            first = await asking.get(f"{server.base}/new")
            if isinstance(first, Failure):
                assert "back-off" in rows()[name][1] and first.retry_after_s is not None
                clock.time += first.retry_after_s
            assert await allowed(asking, server.base) == {"old", "new"}


async def test_rules_come_back_with_the_file(kit: MakeKit) -> None:
    clock, answers = VirtualClock(), {"/robots.txt": text(NEW), "/new": answer(b"ok"), "/old": answer(b"ok")}
    asking = kit(clock, **FAST)
    async with serve(pages(answers)) as server:
        assert await allowed(asking, server.base) == {"old"}
        clock.time += DAY_S + 1
        answers["/robots.txt"] = HTML
        assert await allowed(asking, server.base) == {"old"}
        clock.time += 3_601
        answers["/robots.txt"] = text(OLD.encode())
        assert await allowed(asking, server.base) == {"new"}, "after an hour, not after a day"


@pytest.mark.parametrize("last", [b"", HTML], ids=["nothing", "html"])
async def test_failures_of_several_kinds_are_one_time_without_a_robots_txt(kit: MakeKit, last: bytes) -> None:
    clock, limits = VirtualClock(), LoopTime()
    robots = [HTML, text(b"", "500 Oops"), text(b"", "403 Forbidden"), last]
    asking = kit(clock, **FAST)
    async with serve(lambda target, writer: site(robots[0], None if robots[0] else limits)(target, writer)) as server:
        await asking.politeness.write_robots(RobotsRecord(server.base, 200, OLD, clock.time - 9, clock.time - 1))
        while robots:
            assert await allowed(asking, server.base) == {"new"}
            clock.time += 3_601
            del robots[0]


async def test_rules_that_expired_long_ago_are_not_known(kit: MakeKit) -> None:
    clock = VirtualClock()
    async with serve(site(HTML)) as server:
        for days, left in ((20, {"new"}), (40, {"old", "new"})):
            asking = kit(clock, **FAST)
            expired_at = clock.time - days * DAY_S
            await asking.politeness.write_robots(RobotsRecord(server.base, 200, OLD, expired_at - DAY_S, expired_at))
            assert await allowed(asking, server.base) == left


async def test_the_database_keeps_known_rules_through_a_failure(tmp_path: Path) -> None:
    clock = VirtualClock()
    with Store.open(tmp_path / "c.db", clock=clock) as store:
        store.stay_in_loop()
        robots = SqlPoliteness(store.database, settings())
        await robots.write_robots(RobotsRecord("http://a.example", 200, OLD, 0.0, clock.time - 1))
        await robots.write_robots(RobotsRecord("http://b.example", 200, "", clock.time, clock.time + 1))  # tidies
        found = await robots.read_robots("http://a.example")
        assert found is not None and found.body == OLD
