"""A store's thread runs what a loop asks, in order; a cancelled task learns what came of its call."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from geocrawl.errors import PassingFault
from geocrawl.fetch.clock import SystemClock
from geocrawl.store import Store
from geocrawl.store.database import runner
from geocrawl.store.database.runner import StoreThread


@pytest.fixture
def store(engine_url: str) -> Iterator[Store]:
    with Store.open(engine_url, clock=SystemClock()) as opened:
        yield opened


async def test_calls_are_made_one_after_the_other_in_one_thread_that_is_not_the_loop_s(store: Store) -> None:
    made: list[tuple[int, int]] = []

    def call(number: int) -> None:
        made.append((number, threading.get_ident()))
        store.database.set_meta("last", str(number))

    await asyncio.gather(*(store.runner.run(call, number) for number in range(20)))
    assert [number for number, _ in made] == list(range(20))
    assert {thread for _, thread in made} ^ {threading.get_ident()} == {made[0][1], threading.get_ident()}
    assert await store.runner.run(store.database.meta, "last") == "19"


async def test_what_a_call_raises_reaches_who_awaits_it(store: Store) -> None:
    with pytest.raises(ZeroDivisionError):
        await store.runner.run(lambda: 1 / 0)
    assert await store.runner.run(store.database.meta, "none") is None


async def test_the_loop_goes_on_and_a_cancelled_task_learns_the_result_of_its_call(store: Store) -> None:
    may_end, learnt = threading.Event(), list[str]()

    def write() -> str:
        may_end.wait(60)
        store.database.set_meta("a", "b")
        return "written"

    async def ask() -> None:
        learnt.append(await store.runner.run(write))
        await asyncio.sleep(60)
        learnt.append("cancelled too late")

    asking = asyncio.create_task(ask())
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.sleep(0.01)
    assert not asking.done(), "it waits for the end of the call"
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert learnt == ["written"]
    assert store.database.meta("a") == "b"


async def test_a_time_limit_around_a_call_is_one(store: Store) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await store.runner.run(time.sleep, 0.1)
            await asyncio.sleep(60)


LASTS = {
    "sqlite": "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n",
    "postgresql": "SELECT pg_sleep(600)",
}


async def test_a_call_that_lasts_is_cut_off_when_its_task_is_cancelled(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_CUT_OFF_S", 0.1)
    connection = store.connection
    begun, faults = threading.Event(), list[Exception]()

    def ask_for_long() -> None:
        begun.set()
        connection.execute(LASTS[connection.engine]).fetchall()

    async def ask() -> None:
        try:
            await store.runner.run(ask_for_long)
        except PassingFault as fault:
            faults.append(fault)

    asking = asyncio.create_task(ask())
    await asyncio.to_thread(begun.wait, 60)
    behind = asyncio.create_task(store.runner.run(store.database.set_meta, "a", "b"))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait((asking,))
    assert len(faults) == 1
    await behind
    assert store.database.meta("a") == "b", "the connection can be used again"


async def test_a_database_that_gives_no_answer_is_told_once_and_so_is_the_next_answer(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_SLOW_S", 0.05)
    told, is_told, may_end = list[str](), asyncio.Event(), threading.Event()

    def tell(event: str, **values: object) -> None:
        told.append(event)
        is_told.set()

    store.tell_waits(tell)
    asked = [asyncio.create_task(store.runner.run(may_end.wait, 60)) for _ in range(3)]
    await is_told.wait()
    assert str(store.path) in store.runner.waits_for
    await asyncio.sleep(0.1)
    may_end.set()
    await asyncio.gather(*asked)
    assert told == ["waiting for the database", "the database answers again"]
    assert store.runner.waits_for == ""


async def test_no_thread_is_left_when_the_store_is_closed(engine_url: str) -> None:
    with Store.open(engine_url, clock=SystemClock()) as store:
        assert isinstance(store.runner, StoreThread)
        (thread,) = [await store.runner.run(threading.current_thread)]
        assert thread.is_alive()
    assert not thread.is_alive()
