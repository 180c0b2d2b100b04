"""Several workers in virtual time: hosts answer in their own times, one request at once, and every run is the same."""

from __future__ import annotations

import asyncio
import itertools
import time
from pathlib import Path

import pytest

from geocrawl.lab.contest.run import Job, run
from geocrawl.lab.made_worlds.folder import make
from geocrawl.lab.recorded_worlds.answer_times import TimedTransport, answer_s
from geocrawl.lab.recorded_worlds.virtual_time import VirtualClock


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("worlds") / "mixed"
    make("mixed", 200, 5, folder)
    return folder


def test_sleepers_wake_in_the_order_of_their_times_and_no_time_passes() -> None:
    clock, woken = VirtualClock(), list[tuple[str, float]]()

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((name, clock.monotonic()))

    async def all_of_them() -> None:
        await asyncio.gather(sleeper("year", 3e7), sleeper("moment", 0.1), sleeper("hour", 3600.0))

    began, before = time.monotonic(), clock.now()
    with asyncio.Runner(loop_factory=clock.new_loop) as runner:
        runner.run(all_of_them())
    assert [name for name, _ in woken] == ["moment", "hour", "year"]
    assert [at for _, at in woken] == pytest.approx([0.1, 3600.0, 3e7])
    assert clock.now() - before == pytest.approx(3e7)
    assert time.monotonic() - began < 3600, "the longest of them is a year"


def test_a_time_limit_ends_by_virtual_time() -> None:
    clock = VirtualClock()

    async def limited() -> None:
        async with asyncio.timeout(30):
            await clock.sleep(31)

    with asyncio.Runner(loop_factory=clock.new_loop) as runner, pytest.raises(TimeoutError):
        runner.run(limited())
    assert clock.monotonic() == pytest.approx(30)


def test_an_address_is_answered_in_the_same_time_always_and_hosts_differ() -> None:
    assert answer_s("a.example", "http://a.example/", 100) == answer_s("a.example", "http://a.example/", 100)
    times = [answer_s(f"{n}.example", f"http://{n}.example/", 0) for n in range(200)]
    assert 0.025 <= min(times) < 0.1
    assert 1.5 < max(times) <= 3.0


def test_workers_ask_a_host_for_one_thing_at_once_and_leave_the_delay_between(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, list[tuple[float, float]]] = {}
    answered = TimedTransport.handle_async_request

    async def noted(self: TimedTransport, request):  # type: ignore[no-untyped-def]
        began, host = self._clock.monotonic(), self.find(request)[0].split("/")[2]
        response = await answered(self, request)
        asked.setdefault(host, []).append((began, self._clock.monotonic()))
        return response

    monkeypatch.setattr(TimedTransport, "handle_async_request", noted)
    result = run(Job(mixed, "bfs", 120, workers=5, delay_s=1.0))
    assert result.score.pages > 100
    for times in asked.values():
        for (_, ended), (began, _) in itertools.pairwise(times):
            assert began - ended > 0.999
    every = sorted(span for times in asked.values() for span in times)
    assert any(began < ended for (_, ended), (began, _) in itertools.pairwise(every)), "hosts side by side"


def test_five_workers_crawl_the_same_way_each_time_and_faster_than_one(mixed: Path) -> None:
    one = run(Job(mixed, "bfs", 1000, delay_s=1.0))
    five, again = (run(Job(mixed, "bfs", 1000, workers=5, delay_s=1.0)) for _ in range(2))
    assert (five.visited, five.wall_s) == (again.visited, again.wall_s)
    assert five.wall_s < one.wall_s
    assert set(five.visited) == set(one.visited)
    assert five.score.found == one.score.found
