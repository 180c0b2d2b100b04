"""Visitors cannot stop the page: threads, connections and the daemon's hosts are bounded, whatever they send."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import ExitStack, suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from geocrawl.demo import DemoWeb
from geocrawl.fetch.clock import SystemClock
from geocrawl.fetch.guests import VISITOR
from geocrawl.filters import MOST_VALUES
from geocrawl.settings import Settings, SiteSettings
from geocrawl.store import Store
from geocrawl.store.catalogue.search.engine import SearchEngine
from geocrawl.web import connections
from geocrawl.web.answers import CLIENT, MAX_WAITING, MAX_WAITING_OF_CLIENT, Problem, Turns, Workers
from geocrawl.web.guard import Guard
from geocrawl.web.options import MAX_AT_ONCE_OF_CLIENT
from geocrawl.web.preview import REQUESTS_PER_DAY, Previews, preview_settings
from geocrawl.web.preview_exchanges import Relay, picture
from geocrawl.web.rates import Rates
from geocrawl.web.reader import Finder
from tests.support.crawls import url
from tests.support.loop_time import LoopTime
from tests.web.conftest import Serve, served
from tests.web.test_preview import hosts

__all__ = ["hosts"]
ITEMS = "/collections/services/items"


# --------------------------------------------------------------------------- queries


def _providers(count: int) -> str:
    return ",".join(f"p{number}" for number in range(count))


def test_the_values_of_all_conditions_are_bounded_together(client: TestClient) -> None:
    few = {"q": f"provider:{_providers(20)} provider:{_providers(20)} -country:de", "provider": ["p1", "p1", "p2"]}
    assert client.get(ITEMS, params=few).status_code == 200, "one that is named twice counts once"
    for many in (
        {"provider": [f"p{number}" for number in range(MOST_VALUES + 1)]},
        {"q": " ".join(f"provider:{','.join(f'{letter}{n}' for n in range(15))}" for letter in "abc")},
        {"q": " ".join(f"-format:f{number}" for number in range(MOST_VALUES + 1))},
        {"q": f"provider:{_providers(20)}", "format": [f"f{number}" for number in range(MOST_VALUES)]},
    ):
        answer = client.get(ITEMS, params=many)
        assert answer.status_code == 400 and "values together" in answer.json()["detail"], answer.text[:200]


def test_a_search_ends_when_its_visitor_has_left(crawled: Path, demo_web: DemoWeb, monkeypatch: object) -> None:
    """The engine is held between two steps until the visitor is gone; it must not go on from there."""
    assert isinstance(monkeypatch, pytest.MonkeyPatch)
    begun, left, ended = threading.Event(), threading.Event(), list[str]()
    search = SearchEngine.search

    def held(self: SearchEngine, text: str = "", *given: object, check: Callable[[], None], **named: object) -> object:
        def checked() -> None:
            if "held" in text:
                begun.set()
                left.wait(60)
                for _ in range(600):
                    try:
                        check()
                    except TimeoutError:
                        ended.append("".join(text))
                        raise
                    time.sleep(0.05)
            check()

        return search(self, text, *given, check=checked, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(SearchEngine, "search", held)
    monkeypatch.setattr("geocrawl.web.reader.SEARCH_S", 1e9)
    with served(crawled, demo_web) as address:
        port = int(address.rpartition(":")[2])
        visitor = socket.create_connection(("127.0.0.1", port))
        visitor.sendall(f"GET {ITEMS}?q=held HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert begun.wait(60)
        visitor.close()
        left.set()
        assert httpx.get(f"{address}{ITEMS}?q=water", timeout=120).status_code == 200
    assert ended == ["held"]


# --------------------------------------------------------------------------- threads


def asked_by(client: str, workers: Workers, work: Callable[[], object]) -> asyncio.Task[object]:
    """Return a client's question to the workers, under way."""
    return _as_client(client, partial(workers.run, work))


def _as_client(client: str, ask: Callable[[], Coroutine[Any, Any, Any]]) -> asyncio.Task[Any]:
    context = copy_context()
    context.run(CLIENT.set, client)
    return asyncio.get_running_loop().create_task(ask(), context=context)


async def test_so_many_questions_wait_for_a_thread_and_further_ones_are_told_when_to_come_again() -> None:
    workers, gate, order = Workers(1, "test"), threading.Event(), list[str]()
    first = asked_by("a", workers, gate.wait)
    await asyncio.sleep(0)
    half = MAX_WAITING_OF_CLIENT + 1
    waiting = [asked_by("a", workers, partial(order.append, f"a{number}")) for number in range(half - 1)]
    await asyncio.sleep(0)
    with pytest.raises(Problem, match="too many requests wait"):
        await asked_by("a", workers, lambda: None)
    waiting += [asked_by("b", workers, partial(order.append, f"b{number}")) for number in range(MAX_WAITING - half)]
    await asyncio.sleep(0)
    with pytest.raises(Problem, match="too many requests wait") as raised:
        await asked_by("c", workers, lambda: None)
    assert raised.value.status == 503 and raised.value.headers["Retry-After"]
    gate.set()
    await asyncio.gather(first, *waiting)
    assert [each for each in order if each[0] == "a"] == [f"a{number}" for number in range(half - 1)], "as they came"
    assert order[:4] == ["a0", "b0", "a1", "b1"], "who asks for much waits for himself"
    assert await workers.run(lambda: "answered") == "answered"
    workers.close()


async def test_one_client_has_one_thread_of_all_workers() -> None:
    turns, gate, begun = Turns(), threading.Event(), list[str]()
    reading, drawing = Workers(4, "test", turns), Workers(2, "test", turns)

    def work(name: str) -> None:
        begun.append(name)
        gate.wait()

    dear = [asked_by("a", each, partial(work, "dear")) for each in (reading, drawing) * 4]
    await asyncio.sleep(0)
    for each in (reading, drawing):
        assert await asked_by("b", each, lambda: "answered") == "answered"
    assert begun == ["dear"]
    for task in dear[5:]:
        task.cancel()
    gate.set()
    await asyncio.gather(*dear, return_exceptions=True)
    assert len(begun) == 5, "one after the other, in both"
    assert await asked_by("a", drawing, lambda: "answered") == "answered", "who left holds no thread"
    reading.close()
    drawing.close()


async def test_a_costly_search_leaves_the_search_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(tmp_path / "c.db", clock=SystemClock()):
        pass
    gate, begun, loop, search = threading.Event(), asyncio.Event(), asyncio.get_running_loop(), SearchEngine.search

    def held(self: SearchEngine, *given: Any, **named: Any) -> Any:
        loop.call_soon_threadsafe(begun.set)
        gate.wait()
        return search(self, *given, **named)

    monkeypatch.setattr(SearchEngine, "search", held)
    finder = Finder(tmp_path / "c.db")
    dear = [_as_client("a", finder.whole) for _ in range(9)]
    await begun.wait()
    assert await _as_client("b", partial(finder.topics, 5)) == []
    gate.set()
    assert all(found.total == 0 for found in await asyncio.gather(*dear))
    finder.close()


async def test_a_thread_is_given_back_by_who_left() -> None:
    workers, gate = Workers(1, "test"), threading.Event()
    first = asyncio.create_task(workers.run(gate.wait))
    await asyncio.sleep(0)
    gone = [asyncio.create_task(workers.run(lambda: None)) for _ in range(5)]
    await asyncio.sleep(0)
    for each in gone:
        each.cancel()
    first.cancel()
    await asyncio.gather(first, *gone, return_exceptions=True)
    gate.set()
    assert await workers.run(lambda: "answered") == "answered"
    workers.close()


def test_costly_requests_count_more_than_once() -> None:
    rates = Rates(600)
    client = rates.client("192.0.2.1", 0.0)
    client.left -= 1_000
    assert rates.wait_s(rates.client("192.0.2.1", 0.0)) > 0, "a preview that was requested"
    assert rates.wait_s(rates.client("192.0.2.1", 30.0)) == 0, "a debt has a bound"
    assert rates.wait_s(rates.client("192.0.2.2", 0.0)) == 0


async def _codes(guard: Guard, address: str) -> list[int]:
    """Return the statuses of the answers that a client of the guard is sent."""
    codes = list[int]()

    async def receive() -> Message:
        return await asyncio.Event().wait()  # type: ignore[return-value]  # never

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            codes.append(message["status"])

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": [(b"host", b"localhost")]}
    await guard({**scope, "client": (address, 1)}, receive, send)
    return codes


@pytest.mark.parametrize("has_begun", [False, True])
async def test_an_answer_that_takes_too_long_is_a_503_while_none_has_begun(has_begun: bool) -> None:
    loop_time = LoopTime()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        if has_begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        await loop_time.hang(100)

    assert await _codes(Guard(endless, requests_per_minute=0, hosts=()), "192.0.2.1") == [200 if has_begun else 503]


async def test_a_client_that_reads_slowly_holds_some_places_and_not_all() -> None:
    begun, gate, codes = asyncio.Semaphore(0), asyncio.Event(), list[int]()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        begun.release()
        await gate.wait()
        await Response("done")(scope, receive, send)

    guard = Guard(slow, requests_per_minute=0, hosts=())

    async def ask(address: str) -> None:
        codes.extend(await _codes(guard, address))

    many = [asyncio.create_task(ask("192.0.2.1")) for _ in range(MAX_AT_ONCE_OF_CLIENT + 5)]
    for _ in range(MAX_AT_ONCE_OF_CLIENT):
        await begun.acquire()
    await asyncio.sleep(0)
    assert codes == [503] * 5
    other = asyncio.create_task(ask("192.0.2.2"))
    await begun.acquire()
    gate.set()
    await asyncio.gather(other, *many)
    assert codes.count(200) == MAX_AT_ONCE_OF_CLIENT + 1


def test_a_trusted_proxy_says_who_its_visitors_are(crawled: Path, demo_web: DemoWeb) -> None:
    with served(crawled, demo_web, requests_per_minute=6) as address, httpx.Client(base_url=address) as client:

        def codes(visitor: str) -> list[int]:
            headers = {"X-Forwarded-For": visitor}
            return [client.get("/conformance", headers=headers).status_code for _ in range(30)]

        assert 429 in codes("198.51.100.1")
        assert codes("198.51.100.2")[0] == 200
        assert codes("198.51.100.2, 198.51.100.3")[0] == 200, "the last one is the proxy's word"
        assert codes("198.51.100.9, 198.51.100.1").count(200) < 20, "the first one is the visitor's own"
    with (
        served(crawled, demo_web, requests_per_minute=6, trusted_proxies=()) as address,
        httpx.Client(base_url=address) as client,
    ):
        found = [
            client.get("/conformance", headers={"X-Forwarded-For": f"198.51.100.{n}"}).status_code for n in range(40)
        ]
        assert 429 in found, "nobody's word is taken"


# --------------------------------------------------------------------------- connections


@pytest.mark.parametrize("beginning", [b"", b"GET / HTTP/1.1\r\nX-A: b\r\n"])
def test_half_open_connections_make_room_for_new_ones(
    crawled: Path, demo_web: DemoWeb, beginning: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 50)
    with served(crawled, demo_web) as address, ExitStack() as stack:
        port, opened = int(address.rpartition(":")[2]), []
        for number in range(70):
            each = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            opened.append(each)
            each.sendall(beginning)
            if number % 10 == 0:
                assert httpx.get(f"{address}/conformance", timeout=60).status_code == 200
        assert httpx.get(f"{address}/conformance", timeout=60).status_code == 200
        opened[0].settimeout(60)
        with suppress(ConnectionResetError):
            assert opened[0].recv(1) == b"", "the oldest one made room"


# --------------------------------------------------------------------------- the daemon's hosts


def _host(catalogue: Path) -> tuple[float, ...]:
    with sqlite3.connect(catalogue) as reader:
        row: tuple[float, ...] = reader.execute(
            "SELECT asked, errors, next_at, lease_until FROM host WHERE name = 'good.example'"
        ).fetchone()
    return row


def test_previews_have_a_share_of_their_own() -> None:
    assert preview_settings(Settings()).requests_per_host_per_day == REQUESTS_PER_DAY
    sites = {"a.example": SiteSettings(requests_per_day=100), "b.example": SiteSettings(user="u", password="p")}
    own = preview_settings(Settings(requests_per_host_per_day=30, sites=sites))
    assert [own.requests_per_day_of(host) for host in ("a.example", "b.example", "c.example")] == [10, 3, 3]


async def test_previews_spend_nothing_of_the_daemons_day(hosts: tuple[str, list[str]], catalogue: Path) -> None:
    proxy, asked = hosts
    previews = Previews(Settings(proxy=proxy, delay_s=0.0, requests_per_host_per_day=40), catalogue, Workers(1, "test"))
    found = list[Relay | Problem]()
    for number in range(6):
        address = url(f"http://good.example/wms?n={number}")
        try:
            found.append(await previews.relay(partial(picture, address)))
        except Problem as problem:
            found.append(problem)
    await previews.close()
    drawn = [each for each in found if isinstance(each, Relay)]
    assert len(drawn) == 3 and len(asked) == 4, "a tenth of 40, robots.txt among them"
    assert all("used up" in str(each) for each in found[3:])
    requests, errors, *_ = _host(catalogue)
    assert (requests, errors) == (0, 0)


@pytest.mark.parametrize("status", [429, 503])
async def test_how_a_host_answers_visitors_does_not_put_it_to_rest(catalogue: Path, status: int) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).split()[1].decode())
        code = 404 if asked[-1].endswith("robots.txt") else status
        writer.write(f"HTTP/1.1 {code} X\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    asked = list[str]()
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    proxy = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    previews = Previews(Settings(proxy=proxy, delay_s=0.5), catalogue, Workers(1, "test"))
    for number in range(3):
        with pytest.raises(Problem) as raised:
            await previews.relay(partial(picture, url(f"http://good.example/wms?n={number}")))
        assert raised.value.status == 502
    await previews.close()
    server.close()
    requests, errors, next_at, lease_until = _host(catalogue)
    assert (requests, errors, lease_until) == (0, 0, 0)
    assert next_at - time.time() < 60, "the daemon asks after its delay"
    with sqlite3.connect(catalogue) as reader:
        (unread,) = reader.execute("SELECT count(*) FROM robots WHERE body IS NULL").fetchone()
    assert unread == 0, "a robots.txt that visitors could not read decides nothing about the host"


async def test_a_probe_that_is_due_goes_first(hosts: tuple[str, list[str]], catalogue: Path) -> None:
    proxy, _ = hosts
    free_at = time.time()
    with sqlite3.connect(catalogue) as writer:
        writer.execute("INSERT INTO host (name, next_at) VALUES ('good.example', ?)", (free_at,))
    previews = Previews(Settings(proxy=proxy, delay_s=0.0), catalogue, Workers(1, "test"))
    drawn = await previews.relay(lambda: picture(url("http://good.example/wms")))
    assert drawn.media_type == "image/png"
    assert time.time() - free_at >= VISITOR.yields_s > 1.0, "workers look every second"
    await previews.close()


def test_a_locked_catalogue_stops_no_page_and_nothing_is_asked_unshared(
    serve: Serve, catalogue: Path, demo_web: DemoWeb
) -> None:
    with sqlite3.connect(catalogue) as reader:
        number, layer = reader.execute(
            "SELECT s.id, l.position FROM service s JOIN layer l ON l.service_id = s.id "
            "JOIN endpoint e ON e.id = s.best_id "
            "WHERE s.kind = 'wms' AND e.level = 'delivers' AND l.name <> '' ORDER BY s.id LIMIT 1"
        ).fetchone()
    client, before = serve(catalogue), len(demo_web.requests)
    wanted = {"layer": layer, "bbox": "108,24,115,31"}
    writer = sqlite3.connect(catalogue, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    answers = [client.get(f"{ITEMS}/{number}/preview", params=wanted) for _ in range(3)]
    writer.execute("ROLLBACK")
    writer.close()
    assert [each.status_code for each in answers] == [503] * 3 and answers[0].headers["retry-after"]
    assert demo_web.requests[before:] == []
    assert client.get(f"{ITEMS}/{number}/preview", params=wanted).status_code == 200, "it is shared again"
