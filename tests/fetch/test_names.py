"""Names are looked up without holding each other up: a slow one fails for itself alone, and late."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from geocrawl.errors import OwnFault
from geocrawl.fetch.names import NameCache
from geocrawl.model import Failure, FailureCode, Page
from geocrawl.resources import lack_of
from geocrawl.settings import Settings
from tests.fetch import slow_names
from tests.support.http_server import answer, serve
from tests.support.loop_time import LoopTime
from tests.support.own_network import available
from tests.support.parts import NAMESPACES

from .conftest import Kit

pytestmark = pytest.mark.machine

MakeKit = Callable[..., Kit]
Row = tuple[Any, ...]
LIMIT_S = 60.0


class SlowResolver:
    """Answers no look-up of `slow*` before `freed` is set, and 127.0.0.1 for all other names; counts look-ups."""

    def __init__(self) -> None:
        self.freed = threading.Event()
        self.asked: list[str] = []

    def getaddrinfo(self, host: str, port: int, *rest: object, **more: object) -> list[Row]:
        self.asked.append(host)
        if host.startswith("slow"):
            self.freed.wait(60)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowResolver]:
    slow = SlowResolver()
    monkeypatch.setattr(socket, "getaddrinfo", slow.getaddrinfo)
    yield slow
    slow.freed.set()


async def test_slow_names_fail_as_dns_and_no_other_host_does(kit: MakeKit, resolver: SlowResolver) -> None:
    """40 slow names are more than the default executor of any machine of a test has threads."""
    async with serve(lambda target, writer: answer(b"<p>map</p>")) as server:
        asking, limits = kit(dns_timeout_s=LIMIT_S), LoopTime()
        slow = [asyncio.create_task(asking.get(f"http://slow{n}.example:{server.port}/")) for n in range(40)]
        await asyncio.sleep(0)
        good = [asyncio.create_task(asking.get(f"http://good{n}.example:{server.port}/")) for n in range(20)]
        assert all(isinstance(got, Page) for got in await asyncio.gather(*good))
        limits.move(LIMIT_S)
        failed = await asyncio.gather(*slow)
    assert {got.code for got in failed if isinstance(got, Failure)} == {FailureCode.DNS}
    assert not any(isinstance(got, Page) for got in failed)
    assert "slow0.example within 60 s" in next(got.detail for got in failed if isinstance(got, Failure))


async def test_waiting_for_a_thread_is_nobodys_failure(resolver: SlowResolver) -> None:
    names, limits = NameCache(LIMIT_S, most_threads=2), LoopTime()
    slow = [asyncio.create_task(names.addresses(f"slow{n}.example")) for n in range(2)]
    waiting = asyncio.create_task(names.addresses("good.example"))
    await asyncio.sleep(0.1)
    assert not waiting.done() and "good.example" not in resolver.asked, "both threads are taken"
    limits.move(LIMIT_S)
    assert await waiting == ((socket.AF_INET, "127.0.0.1"),)
    assert not resolver.freed.is_set() and len(await asyncio.gather(*slow, return_exceptions=True)) == 2


async def soon(names: NameCache, name: str) -> object:
    """Look a name up until its answer is known: on a busy machine a thread is late for so short a limit."""
    while True:
        with suppress(socket.gaierror):
            return await names.addresses(name)


async def test_look_ups_that_hang_leave_threads_to_other_names_within_a_bound(resolver: SlowResolver) -> None:
    names = NameCache(0.05, most_threads=2, most_hanging=6)
    for n in range(6):
        with pytest.raises(socket.gaierror):
            await names.addresses(f"slow{n}.example")
    assert await soon(names, "good.example") == ((socket.AF_INET, "127.0.0.1"),)
    for n in range(6, 10):
        with pytest.raises(socket.gaierror):
            await asyncio.wait_for(names.addresses(f"slow{n}.example"), LIMIT_S)
    with pytest.raises(socket.gaierror, match="6 other look-ups hang"):
        await asyncio.wait_for(names.addresses("better.example"), LIMIT_S)
    assert len([name for name in resolver.asked if name.startswith("slow")]) == 6 + 2, "threads have a bound"
    resolver.freed.set()
    for n in range(8):
        await soon(names, f"slow{n}.example")
    assert await soon(names, "better.example") == ((socket.AF_INET, "127.0.0.1"),)
    assert (names._hanging, names._free_threads._value) == (0, 2)


async def test_an_answer_that_came_too_late_serves_the_next_request(resolver: SlowResolver) -> None:
    names = NameCache(0.05)
    with pytest.raises(socket.gaierror, match=r"slow\.example within 0\.05 s"):
        await names.addresses("slow.example")
    resolver.freed.set()
    found = await soon(names, "slow.example")
    assert found == await soon(names, "slow.example") == ((socket.AF_INET, "127.0.0.1"),)
    assert resolver.asked == ["slow.example"]


async def test_one_look_up_serves_all_who_ask_meanwhile(resolver: SlowResolver) -> None:
    names = NameCache(30.0)
    asking = [asyncio.create_task(names.addresses("slow.example")) for _ in range(5)]
    await asyncio.sleep(0)
    resolver.freed.set()
    await asyncio.gather(*asking)
    assert len(resolver.asked) == 1


async def test_a_name_that_was_not_found_is_looked_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Row] = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))]

    def look_up(*_: object, **__: object) -> list[Row]:
        if failures:
            raise failures.pop()
        return answers

    failures = [socket.gaierror(socket.EAI_NONAME, "not known")]
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    names = NameCache(30.0)
    with pytest.raises(socket.gaierror, match="not known"):
        await names.addresses("new.example")
    assert await names.addresses("new.example")


async def test_a_name_that_does_not_exist_is_told_with_the_systems_words() -> None:
    with pytest.raises(socket.gaierror):
        await NameCache(10.0).addresses("no-such-host.invalid")


async def test_a_thread_that_cannot_be_started_is_no_failure_of_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError, match="new thread") as got:
        await NameCache(1.0, most_threads=1).addresses("a.example")
    assert lack_of(got.value)


async def test_a_proxy_that_is_not_found_is_a_fault_of_ours(kit: MakeKit, resolver: SlowResolver) -> None:
    with pytest.raises(OwnFault, match=r"http://slow-proxy.example:3128 does not answer"):
        await kit(proxy="http://slow-proxy.example:3128", dns_timeout_s=0.05).get("http://a.example/")


_ABANDON = """
import asyncio, socket, sys, time
from geocrawl.fetch.names import NameCache
socket.getaddrinfo = lambda *_, **__: time.sleep(600)
async def main():
    try:
        await NameCache(0.05).addresses("slow.example")
    except socket.gaierror as error:
        print("failed", flush=True)
asyncio.run(main())
"""


def test_a_process_that_ends_does_not_wait_for_abandoned_look_ups() -> None:
    done = subprocess.run([sys.executable, "-c", _ABANDON], capture_output=True, text=True, timeout=300, check=True)
    assert done.stdout == "failed\n"


@pytest.mark.skipif(not available(), reason=NAMESPACES.reason)
def test_with_a_real_name_server_that_never_answers_for_some() -> None:
    found = slow_names.measure(slow=40, good=20)
    assert found["good"] == {"ok": 20}
    assert found["slow"] == {"dns": 40}


def test_the_limit_is_a_setting() -> None:
    assert Settings().dns_timeout_s == 10.0
