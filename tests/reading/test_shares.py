"""Hosts share the reading processes: whose answers are dear waits for itself, and not the crawl."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from geocrawl.reading import DEAR_S, Shares

DEAR = [f"dear{number}.example" for number in range(6)]


class Crowd:
    """Readings that begin when they have a process, and end when the test says so, in virtual time."""

    def __init__(self, processes: int) -> None:
        self.time = 0.0
        self.begun: list[str] = []
        self._shares = Shares(processes, lambda: self.time)
        self._ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, *names: str) -> Sequence[str]:
        """Let readings ask for a process; their hosts are their names up to a slash. Return which ones have begun."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._read(name))
        await self.settled()
        return self.begun

    async def end(self, *names: str, after_s: float = 0.0) -> Sequence[str]:
        """End readings; return which ones have begun."""
        self.time += after_s
        for name in names:
            self._ends[name].set()
        await self.settled()
        return self.begun

    async def settled(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    async def _read(self, name: str) -> None:
        async with self._shares.share(name.partition("/")[0]):
            self.begun.append(name)
            await self._ends[name].wait()
            self.begun.remove(name)


async def made_dear(crowd: Crowd) -> None:
    """Let six hosts show that their answers are dear."""
    for host in DEAR:
        await crowd.ask(host)
        await crowd.end(host, after_s=7.0)


@pytest.mark.parametrize("processes", [2, 3, 8])
async def test_six_dear_hosts_leave_a_process_to_a_small_page(processes: int) -> None:
    crowd = Crowd(processes)
    await made_dear(crowd)
    assert len(await crowd.ask(*DEAR)) == min(processes - 1, 6)
    for number in range(20):
        assert f"small{number}.example" in await crowd.ask(f"small{number}.example"), "it waits for none of them"
        await crowd.end(f"small{number}.example", after_s=0.1)


async def test_a_host_has_one_process_at_a_time_and_a_queue_of_its_own() -> None:
    crowd = Crowd(3)
    assert await crowd.ask("a.example/1", "a.example/2", "a.example/3") == ["a.example/1"]
    assert await crowd.ask("b.example/1") == ["a.example/1", "b.example/1"]
    assert await crowd.end("a.example/1") == ["b.example/1", "a.example/2"]
    assert await crowd.end("a.example/2") == ["b.example/1", "a.example/3"]


async def test_dear_hosts_take_turns_and_none_waits_for_ever() -> None:
    crowd, order = Crowd(2), []
    await made_dear(crowd)
    await crowd.ask(*DEAR)
    while crowd.begun:
        order += (at_work := list(crowd.begun))
        await crowd.end(*at_work, after_s=7.0)
    assert order == DEAR


async def test_a_host_is_dear_by_its_last_answer() -> None:
    crowd = Crowd(2)
    await made_dear(crowd)
    await crowd.ask(DEAR[0])
    await crowd.end(DEAR[0], after_s=DEAR_S / 2)
    assert await crowd.ask(DEAR[1], DEAR[0]) == [DEAR[1], DEAR[0]]


async def test_one_process_reads_dear_answers_too() -> None:
    crowd = Crowd(1)
    await made_dear(crowd)
    assert await crowd.ask(DEAR[0]) == [DEAR[0]]


async def test_cheap_hosts_use_all_processes_in_their_order() -> None:
    crowd = Crowd(2)
    assert await crowd.ask("a.example", "b.example", "c.example", "d.example") == ["a.example", "b.example"]
    assert await crowd.end("b.example", after_s=0.1) == ["a.example", "c.example"]
    assert await crowd.end("a.example") == ["c.example", "d.example"]


async def test_a_reading_that_is_cancelled_keeps_no_process() -> None:
    crowd = Crowd(1)
    await crowd.ask("a.example", "b.example", "c.example")
    crowd.tasks["b.example"].cancel()
    crowd.tasks["a.example"].cancel()
    await crowd.settled()
    assert "c.example" in crowd.begun
    await crowd.ask("d.example", "e.example")
    await crowd.end("c.example")
    assert crowd.begun[-1] == "d.example"
    crowd._ends["d.example"].set()
    await asyncio.sleep(0)  # its end has given the process to the next one, which does not know it yet
    crowd.tasks["e.example"].cancel()
    await crowd.settled()
    assert "f.example" in await crowd.ask("f.example")
