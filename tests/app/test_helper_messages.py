"""Messages between the processes of a crawl arrive whole, however long they are, on either event loop."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from contextlib import suppress

import pytest

from geocrawl.app.helper_messages import Channel, Noted, Reporter, listen

NOTES = 40
LONG = "x" * 300_000
"""More than a socket's buffer holds."""


def loops() -> list[Callable[[], asyncio.AbstractEventLoop]]:
    found: list[Callable[[], asyncio.AbstractEventLoop]] = [asyncio.new_event_loop]
    with suppress(ImportError):
        import uvloop

        found.append(uvloop.new_event_loop)
    return found


def tell(channel: Channel, new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    """Send long messages from a running loop that listens on the same channel, as a helper does."""

    async def send() -> None:
        listen(channel, lambda: None)
        reporter = Reporter(channel)
        for number in range(NOTES):
            reporter.send(Noted(f"{number} {LONG}"))
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(send())


@pytest.mark.parametrize("new_loop", loops())
def test_long_messages_arrive_whole(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=tell, args=(theirs, new_loop))
    process.start()
    theirs.close()
    heard: list[str] = []

    async def hear_all() -> None:
        ended = asyncio.get_running_loop().create_future()

        def hear() -> None:
            try:
                heard.extend(note.text for note in ours.recv())
            except EOFError:
                asyncio.get_running_loop().remove_reader(ours.fileno())
                ended.set_result(None)

        listen(ours, hear)
        await ended

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(hear_all())
    process.join()
    ours.close()
    assert process.exitcode == 0
    assert heard == [f"{number} {LONG}" for number in range(NOTES)]
