"""A recipient that hangs, drips, refuses or is gone delays no other one, nor the end of a process; people are told."""

from __future__ import annotations

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
from tests.support.receivers import Hook, serving, webhook
from tests.support.world import World, candidate, verdict

LIMIT_S = 60.0


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
        self.lines: list[tuple[str, Any]] = []

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
            self.lines.append((event, values.get("watch")))

        report = await WatchRound(settings, self.store, self.clock, log).send(again=True)
        return report.messages, report.failures

    def told(self) -> str:
        """Return what `check` says of watches."""
        status = read_status(self.database.connection, self.clock.now())
        (finding,) = (
            each for each in check_status(status, self.store.path, self.clock.now()) if each.subject == "watches"
        )
        return finding.sentence if finding.severity else ""


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watched:
    monkeypatch.setattr(notices, "_DELIVERY_S", 0.5)
    monkeypatch.setattr(notices, "_WEBHOOK_TIMEOUT_S", 0.5)
    return Watched(tmp_path / "c.db")


async def test_bad_recipients_delay_no_good_one(watched: Watched, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with dripping() as (mail, visitors), webhook() as hangs, webhook() as gone, webhook() as good:
        hangs.pause_s, gone.status = 1.0, 410
        bad = ("mail:a@b.example", hangs.address, gone.address, f"file:{tmp_path}/pipe", "http://127.0.0.1:9/")
        watched.watch(*bad, good.address, f"file:{tmp_path}/told")
        watched.die()
        messages, failures = await watched.send(mail_server=mail)
        assert messages == 2 and len(good.received) == 1 and (tmp_path / "told").read_text().count("died") == 1
        said = dict(line.removeprefix("watch ").split(":", 1) for line in failures)
        assert "within 0.5 s" in said["1"] and "within 0.5 s" in said["2"] and "cannot be reached" in said["5"]
        assert "410 (the recipient gave the address up)" in said["3"] and "it is a pipe" in said["4"]
        arrived = [number for event, number in watched.lines if event == "notices delivered"]
        assert sorted(arrived) == [6, 7] and watched.lines.index(("notices delivered", 7)) < watched.lines.index(
            ("notices not delivered", 1)
        ), "while the mail server dripped"
        assert "watch 3" in watched.told() and "410" in watched.told() and "watch 6" not in watched.told()
        messages, failures = await watched.send(mail_server=mail)
        assert messages == 0 and "still hangs in the attempt before" in next(f for f in failures if "watch 1:" in f)
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


SEND_IN_A_MOMENT = """
import asyncio, sys
from geocrawl import notices
from geocrawl.app.watches import WatchRound
from geocrawl.fetch.clock import SystemClock
from geocrawl.settings import Settings
from geocrawl.store import Store

notices._DELIVERY_S = 0.5
with Store.open(sys.argv[1], clock=SystemClock()) as store:
    settings = Settings(mail_security="none", mail_server=sys.argv[2])
    print(asyncio.run(WatchRound(settings, store, SystemClock(), lambda event, **values: None).send()).failures)
"""


def test_a_process_ends_though_a_mail_server_drips(watched: Watched) -> None:
    watched.watch("mail:a@b.example")
    watched.die()
    watched.store.close()
    with dripping() as (mail, visitors):
        command = (sys.executable, "-c", SEND_IN_A_MOMENT, str(watched.store.path), mail)
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        assert ended.returncode == 0 and "did not take the message" in ended.stdout and visitors, ended.stderr
