"""What a strategy has learnt, or cannot learn, ends no crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from geocrawl.app import wiring
from geocrawl.crawler.learning import load
from geocrawl.demo import DemoWeb
from geocrawl.model import Feedback
from geocrawl.priority.registry import make_strategy
from geocrawl.priority.strategies.breadth_first import BreadthFirst
from geocrawl.store.database.sqlite.connection import SqliteConnection
from tests.support.crawls import Watcher, crawl, settings_for

LEARNING = ("adaptive", "fusion", "bayes", "hits", "ipagerank")
BROKEN = (b"nonsense", b"{}\n", b'{"format": "geocrawl-fusion 0", "arrays": []}\n', b"\x00\xff" * 100)


class Unlearning(BreadthFirst):
    """Breadth-first, but raises on feedback and has a state that nobody can read."""

    learns = True

    def learn(self, feedback: Feedback) -> None:
        raise ZeroDivisionError(f"a defect in feedback {feedback.number}")

    def dump(self) -> bytes:
        raise MemoryError("no dump")


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize("state", BROKEN, ids=repr)
def test_a_strategy_that_cannot_restore_a_dump_is_as_it_was_before(name: str, state: bytes) -> None:
    strategy = make_strategy(name, {})
    before = strategy.dump()
    with pytest.raises(Exception, match=r".*"):
        load(strategy, state)
    assert strategy.dump() == before


@pytest.mark.parametrize("state", BROKEN[:2], ids=repr)
def test_a_damaged_state_is_set_aside_and_the_crawl_goes_on(tmp_path: Path, state: bytes) -> None:
    path = tmp_path / "c.db"
    with DemoWeb() as web:
        settings = settings_for(web, strategy="adaptive", dump_every=5, workers=1)
        crawl(settings_for(web, strategy="adaptive", dump_every=5, workers=1, max_pages=20), path, web.seeds)
        connection = SqliteConnection.open(path)
        assert connection.execute("UPDATE meta SET value = ? WHERE name = 'strategy:state'", (state,)).rowcount == 1
        report, watcher = crawl(settings, path, web.seeds)
        assert report.summary.stopped in ("done", "resting") and report.summary.pages > 20
    notes = "\n".join(watcher.notes)
    assert "What adaptive learnt cannot be restored and was set aside" in notes
    kept = connection.execute("SELECT value FROM meta WHERE name = 'strategy:set-aside'").fetchone()
    assert kept == (state,)
    assert connection.execute("SELECT 1 FROM meta WHERE name = 'strategy:state'").fetchone(), "learnt again"
    connection.close()


def test_a_visit_that_cannot_be_learnt_from_is_told_once_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "make_strategy", lambda *_: Unlearning({}))
    told: list[str] = []
    monkeypatch.setattr(Watcher, "noted", lambda self, text: told.append(text))
    with DemoWeb() as web:
        report, _ = crawl(settings_for(web, dump_every=5), tmp_path / "c.db", web.seeds)
    assert report.summary.stopped in ("done", "resting") and report.summary.pages > 20
    assert next(text for text in told if "could not learn" in text).startswith("bfs could not learn from a visit")
    assert sum("could not learn" in text for text in told) == 1
