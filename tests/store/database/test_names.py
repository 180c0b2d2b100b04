"""A database has one name: SQLite would keep two logs for one file that is opened by two."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from geocrawl.errors import DatabaseFault, EnvironmentFault, UsageError
from geocrawl.fetch.clock import SystemClock
from geocrawl.files import SIDE_FILES
from geocrawl.store.store import Store
from geocrawl.store.upkeep.backup import back_up, remove_if_only_of, restore
from tests.support.world import World

NOW = 1_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    world = World(tmp_path / "c.db")
    world.seed("a.example/")
    world.database.close()
    return tmp_path / "c.db"


def seeds(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        return int(connection.execute("SELECT count(*) FROM url").fetchone()[0])


@pytest.mark.parametrize("name", ["c.db", "hard.db"])
def test_a_catalogue_with_two_names_is_written_by_neither_and_no_side_file_is_made(path: Path, name: str) -> None:
    (path.parent / "hard.db").hardlink_to(path)
    opened = path.parent / name
    with pytest.raises(DatabaseFault, match="2 names"):
        Store.open(opened, clock=SystemClock())
    with pytest.raises(DatabaseFault, match="2 names"):
        Store.join(opened, clock=SystemClock())
    assert sorted(each.name for each in path.parent.iterdir()) == ["c.db", "hard.db"]


def test_a_symbolic_link_is_no_second_name(path: Path) -> None:
    (path.parent / "link.db").symlink_to(path)
    one, other = World(path), World(path.parent / "link.db")
    one.seed("b.example/")
    other.seed("c.example/")
    one.database.close()
    other.database.close()
    assert seeds(path) == 3


def test_a_copy_with_two_names_is_read_and_restored(path: Path, tmp_path: Path) -> None:
    """As tools for backups keep unchanged files."""
    back_up(path, tmp_path / "b.db")
    (tmp_path / "snapshot.db").hardlink_to(tmp_path / "b.db")
    with Store.open_readonly(tmp_path / "snapshot.db") as connection:
        assert connection.path == tmp_path / "snapshot.db"
    restore(tmp_path / "snapshot.db", path, NOW)
    assert seeds(path) == 1 and (tmp_path / "snapshot.db").stat().st_nlink == 2 and path.stat().st_nlink == 1


def test_nothing_is_restored_over_a_catalogue_with_two_names(path: Path, tmp_path: Path) -> None:
    back_up(path, tmp_path / "b.db")
    (tmp_path / "hard.db").hardlink_to(path)
    with pytest.raises(DatabaseFault, match="2 names"):
        restore(tmp_path / "b.db", path, NOW)
    assert path.stat().st_nlink == 2


@pytest.mark.parametrize("name", [f"c.db{suffix}" for suffix in SIDE_FILES] + ["c.db-wal/x.db"])
def test_no_database_is_made_where_sqlite_keeps_a_part_of_another(path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"part of the database c\.db"):
        Store.open(path.parent / name, clock=SystemClock())
    assert [each.name for each in path.parent.iterdir()] == ["c.db"]


def test_what_is_no_file_is_no_database(path: Path, tmp_path: Path) -> None:
    back_up(path, tmp_path / "b.db")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(DatabaseFault, match="is not a file"):
            Store.open(tmp_path / name, clock=SystemClock())
        with pytest.raises(DatabaseFault, match="is not a file"):
            restore(tmp_path / "b.db", tmp_path / name, NOW)
    assert (tmp_path / "pipe").is_fifo() and not list(tmp_path.glob("*.before-restore*"))


# --------------------------------------------------------------------------- removing


def test_a_catalogue_of_the_named_hosts_alone_is_removed(path: Path) -> None:
    remove_if_only_of(path, {"a.example", "b.example"}, NOW)
    remove_if_only_of(path, {"a.example"}, NOW)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("what", ["another host", "a seed", "another program", "text", "in use"])
def test_any_other_file_stays(path: Path, what: str) -> None:
    hosts, other = {"a.example"}, sqlite3.connect(path)
    if what == "another host":
        hosts = {"b.example"}
    elif what == "a seed":
        other.execute("INSERT INTO seed VALUES ('s', 'http://s.example/', '', '', '', '', 0)")
    elif what == "another program":
        path.unlink()
        other = sqlite3.connect(path)
        other.execute("CREATE TABLE t (x)")
    elif what == "text":
        path.write_text("a letter")
    else:
        other.execute("SELECT count(*) FROM url").fetchone()
    if what != "in use":
        other.commit()
        other.close()
    before = path.read_bytes()
    with pytest.raises(EnvironmentFault):
        remove_if_only_of(path, hosts, NOW)
    other.close()
    assert path.exists() and (what == "in use" or len(path.read_bytes()) >= len(before))
