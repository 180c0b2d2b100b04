"""A daemon that reads its configuration again, in this process."""

from __future__ import annotations

import os
import signal
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from geocrawl.app import wiring
from geocrawl.app.session import Session
from geocrawl.daemon.start import run_daemon
from geocrawl.model import FrontierStats
from geocrawl.settings import Settings
from tests.support.crawls import Watcher


class Display(Watcher):
    """An observer that shows the counts of the queue."""

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        self.stats = stats


def test_nothing_is_left_of_the_former_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, make, display = list[tuple[Any, Any]](), wiring.make_session, Display()
    left, shown = list[list[bool]](), list[bool]()

    def remembered(*values: Any, **options: Any) -> Session:
        session = make(*values, **options)
        made.append((weakref.ref(session.frontier), weakref.ref(session.stats)))
        return session

    def log(event: str, **values: object) -> None:
        if event == "started":
            os.kill(os.getpid(), signal.SIGHUP)
        if event == "configuration read again":
            left.append([frontier() is not None for frontier, _ in made])
            shown.append(display.stats() is made[-1][1]()())
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(wiring, "make_session", remembered)
    run_daemon(Settings(), tmp_path / "c.db", reread=Settings, observer=display, log=log)
    assert left == [[False, True]] and shown == [True]
