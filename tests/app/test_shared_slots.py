"""The limit on pages that processes share: exact whatever they do at the same time, and free when one is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing.synchronize import Event

from geocrawl.app.helpers import share_of
from geocrawl.app.shared_slots import SlotTable
from geocrawl.settings import Settings

FORK = multiprocessing.get_context("fork")


def take_all(table: SlotTable, process: int) -> None:
    """Take slots two at a time until none is left; every third page is not answered."""
    slots, number = table.of(process), 0
    while slots.any_left() or slots.may_come_back():
        taken = slots.take(2)
        for _ in range(taken):
            number += 1
            slots.end(answered=number % 3 > 0)
        slots.give_back(slots.take(1))


def test_processes_that_take_slots_at_the_same_time_answer_exactly_as_many_pages_as_there_are() -> None:
    table = SlotTable(4, 2_000)
    processes = [FORK.Process(target=take_all, args=(table, number)) for number in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0, 0]
    with table.locked() as numbers:
        assert sum(numbers[::2]) == 2_000 and sum(numbers[1::2]) == 0
    table.close()


def sit_on(table: SlotTable, locked: Event) -> None:
    """Take two slots, then keep the lock for ever."""
    assert table.of(1).take(2) == 2
    with table.locked():
        locked.set()
        signal.pause()


def test_a_process_that_is_killed_with_the_lock_gives_it_up_and_its_slots_are_given_back() -> None:
    table, locked = SlotTable(2, 3), FORK.Event()
    process = FORK.Process(target=sit_on, args=(table, locked))
    process.start()
    locked.wait()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    slots = table.of(0)
    assert slots.take(5) == 1 and not slots.any_left() and slots.may_come_back()
    assert table.forget(1) == 2
    assert slots.any_left() and not slots.may_come_back() and slots.take(5) == 2
    table.close()


def test_the_processes_share_the_visits_at_a_time_and_each_may_read_in_a_process() -> None:
    settings = Settings(workers=7, processes=3, reading_processes=2)
    shares = [share_of(settings, number) for number in range(3)]
    assert [each.workers for each in shares] == [3, 2, 2]
    assert [each.reading_processes for each in shares] == [1, 1, 1]
    assert share_of(Settings(workers=2, processes=2, reading_processes=0), 1).reading_processes == 0
