"""Processes that read answers: results, limits, and what follows when one ends."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from geocrawl.crawler.probe_visit import replayed
from geocrawl.model import Document, Failure, FailureCode, Page
from geocrawl.page.document import PageReader
from geocrawl.ports import Ask
from geocrawl.probe.decoding import read_picture
from geocrawl.probe.registry import probes
from geocrawl.reading import ReadingFault, ReadingLimits, ReadingProcesses
from tests.reading.hostile import PAGES, SERVICES, page
from tests.support.interviews import candidate

MIB = 2**20
ANSWER = page(b"<html><title>t</title>", "text/html")
READER = PageReader(max_scripts=5, headline=True, prose=True, tag_paths=True)


def pool(cpu_s: float = 20.0, memory_mib: int = 1024) -> ReadingProcesses:
    return ReadingProcesses(
        processes=1, in_loop_bytes=0, limits=ReadingLimits(cpu_s, memory_mib * MIB), decode=read_picture
    )


def pid() -> int:
    return os.getpid()


def spin() -> None:
    while True:
        pass


def fill() -> int:
    return len(bytearray(2048 * MIB))


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def broken() -> None:
    raise ValueError("a defect")


async def test_one_process_reads_one_answer_after_the_other() -> None:
    processes = pool()
    first = await processes.run(ANSWER, pid)
    assert first == await processes.run(ANSWER, pid) != os.getpid()


@pytest.mark.parametrize(
    ("think", "code", "told"),
    [
        (spin, FailureCode.READING_TIME, "more than 3 s of CPU time"),
        (fill, FailureCode.READING_MEMORY, "more than 1,073,741,824 bytes"),
        (crash, FailureCode.READING_CRASH, "the process that read it ended"),
    ],
)
async def test_a_reading_that_exceeds_a_limit_is_a_failure_and_the_next_one_goes_on(
    think: Callable[[], Any], code: FailureCode, told: str
) -> None:
    processes = pool(cpu_s=3.0 if think is spin else 60.0)
    await processes.run(ANSWER, pid)
    found = await processes.run(ANSWER, think)
    assert isinstance(found, Failure)
    assert (found.url, found.code, found.status) == (ANSWER.url, code, 200)
    assert told in found.detail and f"{len(ANSWER.body)} bytes came" in found.detail
    assert isinstance(await processes.run(ANSWER, pid), int)


async def test_a_defect_in_a_process_is_raised_here_with_its_traceback() -> None:
    with pytest.raises(ReadingFault, match=r"(?s)in broken.*ValueError: a defect"):
        await pool().run(ANSWER, broken)


async def test_signals_to_the_crawl_leave_its_processes_alone() -> None:
    processes = pool()
    number = await processes.run(ANSWER, pid)
    assert isinstance(number, int)
    os.kill(number, signal.SIGINT)
    os.kill(number, signal.SIGTERM)
    assert await processes.run(ANSWER, pid) == number


def test_processes_end_with_the_loop_even_while_they_read() -> None:
    async def run() -> int:
        processes = pool(cpu_s=60.0)
        number = await processes.run(ANSWER, pid)
        assert isinstance(number, int)
        asyncio.create_task(processes.run(ANSWER, spin))  # noqa: RUF006  # ended with the loop
        await asyncio.sleep(0.2)
        return number

    number = asyncio.run(run())
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


async def test_a_cancelled_reading_ends_its_process() -> None:
    processes = pool(cpu_s=60.0)
    number = await processes.run(ANSWER, pid)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(processes.run(ANSWER, spin), 0.5)
    assert await processes.run(ANSWER, pid) != number


# --------------------------------------------------------------------------- the same results


def read_all(pages: list[Page]) -> list[Document]:
    return [READER.read(each, depth=1) for each in pages]


def judge_all(pages: list[Page]) -> list[object]:
    """Return the first verdict or second question of every kind's probe on each page."""
    return [replayed(partial(probe.interview, candidate(probe.kind)), (each,)) for each in pages for probe in probes()]


@pytest.mark.shared
async def test_recorded_answers_are_read_alike_in_a_process(shared: Path) -> None:
    files = sorted(path for path in (shared / "corpus" / "documents").rglob("*") if path.is_file())
    bodies = [path.read_bytes() for path in files]
    pages = [page(body, "") for body in bodies if len(body) < 100_000]
    assert len(pages) > 300
    processes = pool(cpu_s=600.0)
    assert await processes.run(ANSWER, partial(read_all, pages)) == read_all(pages)
    some = pages[::10]
    assert await processes.run(ANSWER, partial(judge_all, some)) == judge_all(some)


async def test_hostile_answers_are_read_alike_in_a_process() -> None:
    """In one process, one after the other: a start takes longer than most of them."""
    processes = pool()
    number = await processes.run(ANSWER, pid)
    for hostile in (*PAGES, *SERVICES):
        pages = [hostile.page(20_000)]
        assert await processes.run(ANSWER, partial(read_all, pages)) == read_all(pages), hostile.name
        assert await processes.run(ANSWER, partial(judge_all, pages)) == judge_all(pages), hostile.name
    assert await processes.run(ANSWER, pid) == number, "none of them ended the process"


def test_an_interview_is_the_same_when_it_is_begun_again_for_each_answer() -> None:
    for probe in probes():
        begin = partial(probe.interview, candidate(probe.kind))
        generator = begin()
        answers: list[Page] = []
        asked = next(generator)
        while isinstance(asked, Ask):
            assert replayed(begin, tuple(answers)) == asked
            answers.append(ANSWER)
            try:
                asked = generator.send(ANSWER)
            except StopIteration as end:
                assert replayed(begin, tuple(answers)) == end.value
                break
