"""A recipient that hangs, drips, refuses or is gone delays no other one, nor the end of a process; people are told."""

from __future__ import annotations

import asyncio
import os
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from geocrawl import notices
from geocrawl.app.findings import check_status
from geocrawl.app.watches import WatchRound
from geocrawl.settings import Settings
from geocrawl.store.frontier.status import read_status
from geocrawl.store.upkeep.watches import Watches
from tests.store.upkeep.test_watches import ROADS
from tests.support.loop_time import LoopTime, until
from tests.support.places import ROOT
from tests.support.receivers import Hook, serving, webhook
from tests.support.world import World, candidate, verdict

DELIVERED, NOT = "notices delivered", "notices not delivered"


@contextmanager
def dripping() -> Iterator[tuple[str, list[int]]]:
    """Yield the address of a mail server whose greeting never ends, and a list with an item for each visitor."""
    visitors, over = list[int](), threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            visitors.append(1)
            while not over.wait(0.05):
                self.request.sendall(b"2")

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with serving(server) as port:
        yield f"127.0.0.1:{port}", visitors
        over.set()


class Watched(World):
    """A catalogue with one service, which dies once its watches are there."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.clock.time = time.time()
        self.record(candidate("a.example/wms"), verdict("ok", ROADS), self.clock.now())
        self.watches: Watches = Watches(self.store.database)
        self.lines: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()

    def watch(self, *recipients: str) -> None:
        for recipient in recipients:
            self.watches.add(1, recipient, "key", lambda query: (), self.clock.now())

    def die(self) -> None:
        for _ in range(4):
            self.record(candidate("a.example/wms"), verdict("timeout-read"), self.clock.now())

    async def send(self, **changes: object) -> tuple[int, tuple[str, ...]]:
        """Return how many messages of a round arrived, and what is said of the others."""
        settings = Settings(allow_private=True, mail_security="none", **changes)  # type: ignore[arg-type]

        def log(event: str, **values: object) -> None:
            self.lines.put_nowait((event, values.get("watch")))

        report = await WatchRound(settings, self.store, self.clock, log).send(again=True)
        return report.messages, report.failures

    async def next_lines(self, number: int) -> dict[Any, str]:
        """Return the next lines of the log once they are there: the watch, what is said of it."""
        return {watch: event for event, watch in [await self.lines.get() for _ in range(number)]}

    def told(self) -> str:
        """Return what `check` says of watches."""
        status = read_status(self.database.connection, self.clock.now())
        (finding,) = (
            each for each in check_status(status, self.store.path, self.clock.now()) if each.subject == "watches"
        )
        return finding.sentence if finding.severity else ""


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path / "c.db")


async def test_bad_recipients_delay_no_good_one(watched: Watched, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with dripping() as (mail, visitors), webhook() as hangs, webhook() as gone, webhook() as good:
        hangs.answers.clear()
        gone.status = 410
        bad = ("mail:a@b.example", hangs.address, gone.address, f"file:{tmp_path}/pipe", "http://127.0.0.1:9/")
        watched.watch(*bad, good.address, f"file:{tmp_path}/told")
        watched.die()
        limits = LoopTime(still=True)
        sending = asyncio.create_task(watched.send(mail_server=mail))
        others = {3: NOT, 4: NOT, 5: NOT, 6: DELIVERED, 7: DELIVERED}
        assert await watched.next_lines(5) == others, "while one recipient dripped and one hung"
        await until(lambda: visitors and hangs.received)
        limits.move(notices._WEBHOOK_TIMEOUT_S)
        assert await watched.next_lines(1) == {2: NOT}
        limits.move(notices._DELIVERY_S)
        messages, failures = await sending
        assert messages == 2 and len(good.received) == 1 and (tmp_path / "told").read_text().count("died") == 1
        said = dict(line.removeprefix("watch ").split(":", 1) for line in failures)
        assert "within 30 s" in said["1"] and "within 15 s" in said["2"] and "cannot be reached" in said["5"]
        assert "410 (the recipient gave the address up)" in said["3"] and "it is a pipe" in said["4"]
        assert await watched.next_lines(1) == {1: NOT}
        assert "watch 3" in watched.told() and "410" in watched.told() and "watch 6" not in watched.told()
        hangs.answers.set()
        messages, failures = await watched.send(mail_server=mail)
        assert messages == 1 and "still hangs in the attempt before" in next(f for f in failures if "watch 1:" in f)
        assert len(visitors) == 1, "one thread for a recipient that never ends"


async def test_after_a_failure_the_other_messages_of_a_recipient_are_not_tried(watched: Watched, hook: Hook) -> None:
    hook.status = 500
    watched.record(candidate("b.example/wms"), verdict("ok", ROADS), watched.clock.now())
    watched.watch(hook.address)
    watched.watches.add("roads", hook.address, "key", lambda query: (1,), watched.clock.now())
    watched.die()
    watched.watches.look(lambda query: (1,), watched.clock.now())
    assert len((await watched.send())[1]) == 2 and len(hook.received) == 1
    hook.status = 204
    assert await watched.send() == (2, ()) and len(hook.received) == 3 and watched.told() == ""


async def test_a_watch_whose_file_or_folder_is_gone_is_told(watched: Watched, tmp_path: Path) -> None:
    folder = tmp_path / "told"
    folder.mkdir()
    watched.watch(f"file:{folder}/notices")
    assert watched.told() == "", "nothing was written yet"
    watched.die()
    assert (await watched.send())[0] == 1 and watched.told() == ""
    (folder / "notices").unlink()
    assert watched.told() == f"watch 1: its file {folder}/notices is gone"
    folder.rmdir()
    assert watched.told() == f"watch 1: its file {folder}/notices is gone"


async def test_notices_that_nobody_sends_are_told_after_an_hour(watched: Watched, tmp_path: Path) -> None:
    watched.watch(f"file:{tmp_path}/told")
    watched.die()
    watched.watches.look(lambda query: (), watched.clock.now())
    assert watched.told() == ""
    watched.clock.time += 3_601
    assert "watch 1" in watched.told() and "1 notice since" in watched.told() and "not sent" in watched.told()


SEND_UNTIL_TOLD = """
import asyncio, sys
from geocrawl import notices
from geocrawl.app.watches import WatchRound
from geocrawl.fetch.clock import SystemClock
from geocrawl.settings import Settings
from geocrawl.store import Store
from tests.support.loop_time import LoopTime

async def send(store):
    settings, time = Settings(mail_security="none", mail_server=sys.argv[2]), LoopTime(still=True)
    asyncio.get_running_loop().add_reader(sys.stdin, lambda: sys.stdin.readline() and time.move(notices._DELIVERY_S))
    return await WatchRound(settings, store, SystemClock(), lambda event, **values: None).send()

with Store.open(sys.argv[1], clock=SystemClock()) as store:
    print(asyncio.run(send(store)).failures)
"""


def test_a_process_ends_though_a_mail_server_drips(watched: Watched) -> None:
    watched.watch("mail:a@b.example")
    watched.die()
    watched.store.close()
    with dripping() as (mail, visitors):
        command = (sys.executable, "-c", SEND_UNTIL_TOLD, str(watched.store.path), mail)
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
            while not visitors and process.poll() is None:
                time.sleep(0.01)
            said, _ = process.communicate("the time is over\n")
        assert process.returncode == 0 and "did not take the message" in said
