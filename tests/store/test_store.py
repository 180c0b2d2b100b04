"""The store's front door: a URL in, the parts out."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from geocrawl.errors import DatabaseFault, RefusedValue, UsageError
from geocrawl.model import RobotsRecord
from geocrawl.settings import Settings
from geocrawl.store.store import Store
from tests.support.world import SEED_RANK, ManualClock, url


@pytest.mark.parametrize("form", ["sqlite:///{path}", "{path}"])
def test_a_file_is_named_by_a_url_or_by_its_path(tmp_path: Path, form: str) -> None:
    path = tmp_path / "a folder" / "c.db"
    Store.open(form.format(path=path), clock=ManualClock()).close()
    assert path.is_file()
    with Store.open(path, clock=ManualClock(), create=False) as store:
        assert store.database.path == path


@pytest.mark.parametrize("given", ["mysql://ada:hunter2@db/x", "mysql://x", "sqlite://c.db"])
def test_another_engine_is_refused_with_what_is_supported(given: str) -> None:
    with pytest.raises(UsageError, match=r"sqlite:///path|three slashes") as caught:
        Store.open(given, clock=ManualClock())
    assert "hunter2" not in str(caught.value)


def test_a_database_in_memory_is_whole_and_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open("sqlite://", clock=ManualClock()) as one, Store.open("sqlite://", clock=ManualClock()) as other:
        frontier = one.frontier(Settings(), one.catalog())
        assert frontier.add_seeds([url("a.example/")], SEED_RANK) == 1
        asyncio.run(one.politeness(Settings()).write_robots(RobotsRecord("http://a.example", 200, "", 1.0, 2.0)))
        assert asyncio.run(one.politeness(Settings()).read_robots("http://a.example")) is not None
        assert list(other.frontier(Settings(), other.catalog()).seeds()) == []
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_not_there_is_not_made_unless_wanted(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    with pytest.raises(DatabaseFault, match="no such database"):
        Store.open(path, clock=ManualClock(), create=False)
    with pytest.raises(DatabaseFault, match="no such database"):
        Store.join(path, clock=ManualClock())
    assert not path.exists()


def test_a_text_that_is_no_unicode_is_refused_with_one_line(engine_url: str) -> None:
    with Store.open(engine_url, clock=ManualClock()) as store:
        connection = store.database.connection
        with pytest.raises(RefusedValue, match="cannot hold a text whose characters are not all Unicode"):
            connection.execute("SELECT ?", ("a\udcffb",))
        assert connection.execute("SELECT 1").fetchone() == (1,)
