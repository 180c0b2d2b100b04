"""Two crawls on one database: one of them learns, the other follows its order."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from geocrawl.app.crawl import run_crawl
from geocrawl.demo import DemoWeb
from geocrawl.errors import UsageError
from geocrawl.store.database.database import Database, open_readonly
from geocrawl.store.database.life import LEARNER
from tests.support.crawls import url
from tests.support.killed_crawl import Watcher, settings_for
from tests.support.lives import beat, end
from tests.support.world import ManualClock

OTHER = "elsewhere 0123abcd:7"


@pytest.fixture
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


def crawl(web: DemoWeb, path: Path, strategy: str, seeds: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    """Pages read, and the notes."""
    watcher = Watcher(lambda moment: None)
    report = run_crawl(settings_for(web.proxy_url, strategy), path, [url(seed) for seed in seeds], observer=watcher)
    return report.summary.pages, list(report.notes)


def learnt(path: Path) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """The dump and the lessons since, as they stand."""
    with open_readonly(path) as connection:
        meta = connection.execute("SELECT name, value FROM meta WHERE name LIKE 'strategy%' ORDER BY name").fetchall()
        return meta, connection.execute("SELECT * FROM lesson ORDER BY number").fetchall()


def begun_elsewhere(path: Path, owner: str, strategy: str) -> None:
    """Write down that the crawl of another process is under way, and learns."""
    database = Database.open(path, create=False, clock=ManualClock())
    with database.transaction:
        database.connection.execute(
            "INSERT INTO run (started_at, owner, strategy, settings) VALUES (1000, ?, ?, '{}')", (owner, strategy)
        )
        database.write_meta(LEARNER, owner)
    beat(database, owner, time.time())
    database.close()


def ended_elsewhere(path: Path, owner: str) -> None:
    """Write down that the other process has ended."""
    database = Database.open(path, create=False, clock=ManualClock())
    end(database, owner)
    database.close()


def test_a_second_crawl_follows_the_order_and_leaves_its_lessons_to_the_first(web: DemoWeb, tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    crawl(web, path, "ipagerank", tuple(web.seeds))
    facts, lessons = learnt(path)
    assert lessons
    begun_elsewhere(path, OTHER, "ipagerank")
    facts += [(LEARNER, OTHER.encode())]
    pages, notes = crawl(web, path, "ipagerank")
    assert pages > 0
    after = learnt(path)
    assert sorted(after[0]) == sorted(facts), "the learner alone writes what was learnt"
    assert after[1][: len(lessons)] == lessons and len(after[1]) > len(lessons)
    assert any("process 7" in note and "Another one learns" in note for note in notes)
    ended_elsewhere(path, OTHER)
    assert not any("Another one learns" in note for note in crawl(web, path, "ipagerank")[1])
    assert learnt(path)[0] != after[0]


def test_another_strategy_waits_until_the_crawl_under_way_has_ended(web: DemoWeb, tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    crawl(web, path, "ipagerank", tuple(web.seeds))
    begun_elsewhere(path, OTHER, "ipagerank")
    before = learnt(path)
    with pytest.raises(UsageError, match=r"process 7 .*strategy ipagerank.*let it end"):
        crawl(web, path, "gws")
    assert learnt(path) == before
    ended_elsewhere(path, OTHER)
    assert any("gws instead of ipagerank" in note for note in crawl(web, path, "gws")[1])


def test_the_open_run_of_another_process_counts_while_it_lives(web: DemoWeb, tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    crawl(web, path, "gws", tuple(web.seeds))
    begun_elsewhere(path, OTHER, "gws")
    with pytest.raises(UsageError, match="process 7 on elsewhere"):
        crawl(web, path, "bfs")
    ended_elsewhere(path, OTHER)
    assert crawl(web, path, "bfs")[0] > 0
