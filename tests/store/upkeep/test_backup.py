"""Backups and restores: whatever goes wrong and whatever name is given, nothing that was in the catalogue is lost."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from geocrawl.app import maintenance
from geocrawl.errors import DatabaseFault, EnvironmentFault, UsageError
from geocrawl.files import SIDE_FILES, part_of
from geocrawl.model import Kind, Service
from geocrawl.settings import Settings
from geocrawl.store.store import Store
from geocrawl.store.upkeep import backup
from geocrawl.store.upkeep.backup import back_up, restore
from geocrawl.store.upkeep.daemon_lock import ask_to_pause
from geocrawl.store.upkeep.forget import forget
from geocrawl.store.upkeep.promises import CarriedOver, read_promises
from tests.support.world import World, candidate, verdict

NOW = 1_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    add_page(tmp_path / "c.db", "a.example/")
    return tmp_path / "c.db"


def add_page(path: Path, address: str) -> None:
    world = World(path)
    world.seed(address)
    world.database.close()


def pages(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        return int(connection.execute("SELECT count(*) FROM url").fetchone()[0])


@pytest.mark.parametrize("suffix", ["", *SIDE_FILES])
@pytest.mark.parametrize("link", ["none", "symbolic", "folder"])
def test_a_backup_replaces_neither_the_catalogue_nor_its_side_files(path: Path, suffix: str, link: str) -> None:
    world = World(path)  # the side files are there
    target = path.with_name(path.name + suffix)
    if link == "symbolic":
        target = path.with_name("link")
        target.symlink_to(path.name + suffix)
    elif link == "folder":
        path.with_name("folder").symlink_to(".")
        target = path.parent / "folder" / ".." / path.parent.name / (path.name + suffix)
    with pytest.raises(UsageError):
        back_up(path, target)
    world.seed("b.example/")
    world.database.close()
    assert pages(path) == 2


def test_a_backup_does_not_replace_a_hard_link_or_another_catalogue(path: Path, tmp_path: Path) -> None:
    (tmp_path / "hard.db").hardlink_to(path)
    add_page(tmp_path / "other.db", "b.example/")
    for name in ("hard.db", "other.db"):
        with pytest.raises(UsageError):
            back_up(path, tmp_path / name)
    assert (pages(path), pages(tmp_path / "other.db")) == (1, 1)


def test_a_backup_replaces_a_backup_but_not_one_with_a_log_beside_it(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.db"
    assert back_up(path, target) == back_up(path, target)
    (tmp_path / "b.db-journal").write_bytes(b"of another program")
    with pytest.raises(UsageError, match="in use"):
        back_up(path, target)


def test_the_name_of_a_part_is_no_other_databases(path: Path, tmp_path: Path) -> None:
    add_page(tmp_path / "b.db.part", "b.example/")
    back_up(tmp_path / "b.db.part", tmp_path / "b.db")
    assert (pages(tmp_path / "b.db.part"), pages(tmp_path / "b.db")) == (1, 1)
    back_up(path, tmp_path / "copy.db")
    (tmp_path / "copy.db").rename(tmp_path / "c.db.part")
    restore(tmp_path / "c.db.part", path, NOW)
    assert (tmp_path / "c.db.part").exists()


def test_only_its_owner_reads_a_backup_and_a_restore_keeps_the_rights(path: Path, tmp_path: Path) -> None:
    back_up(path, tmp_path / "b.db")
    assert (tmp_path / "b.db").stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    restore(tmp_path / "b.db", path, NOW)
    assert path.stat().st_mode & 0o777 == 0o640


def test_each_restore_keeps_the_former_catalogue_whole(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "b.db"
    back_up(path, copy)
    kept = []
    for number in range(3):
        world = World(path)
        world.seed(*(f"h{number}.example/{n}" for n in range(10)))
        log = path.with_name(path.name + "-wal").read_bytes()
        world.database.close()
        path.with_name(path.name + "-wal").write_bytes(log)  # as a killed process leaves it
        kept.append(restore(copy, path, NOW))
    assert len(set(kept)) == 3 and all(each is not None and pages(each) == 11 for each in kept)
    assert pages(path) == 1


def test_a_restore_that_was_stopped_between_two_names_leaves_a_catalogue_that_can_be_used(
    path: Path, tmp_path: Path
) -> None:
    back_up(path, tmp_path / "b.db")
    add_page(path, "b.example/")
    half = tmp_path / f"{path.name}.before-restore"
    half.hardlink_to(path)  # what a restore does before the copy takes the place
    add_page(path, "c.example/")
    kept = restore(tmp_path / "b.db", path, NOW)
    assert kept == half and (pages(kept), pages(path)) == (3, 1)
    assert path.stat().st_nlink == kept.stat().st_nlink == 1
    half.with_name("other.db").hardlink_to(path)
    with pytest.raises(DatabaseFault, match="2 names"):
        add_page(path, "d.example/")


def test_a_kept_catalogue_can_be_restored_and_stays(path: Path, tmp_path: Path) -> None:
    back_up(path, tmp_path / "b.db")
    add_page(path, "b.example/")
    first = restore(tmp_path / "b.db", path, NOW)
    assert first is not None
    second = restore(first, path, NOW)
    assert second is not None and (pages(path), pages(first), pages(second)) == (2, 2, 1)


@pytest.mark.parametrize("way", ["itself", "symbolic", "hard"])
def test_the_catalogue_is_not_restored_from_itself(path: Path, tmp_path: Path, way: str) -> None:
    source = path
    if way != "itself":
        source = tmp_path / "other.db"
        source.symlink_to(path) if way == "symbolic" else source.hardlink_to(path)
    with pytest.raises(UsageError, match="itself"):
        restore(source, path, NOW)
    assert pages(path) == 1


def test_a_restore_that_fails_leaves_the_catalogue_in_its_place(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    back_up(path, tmp_path / "b.db")
    add_page(path, "b.example/")

    def full(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes()[:5000])
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(backup, "_copy_file", full)
    with pytest.raises(EnvironmentFault, match="No space left"):
        restore(tmp_path / "b.db", path, NOW)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["b.db", "c.db"] and pages(path) == 2


@pytest.mark.parametrize("who", ["crawl", "lease", "reader", "writer"])
def test_nothing_is_restored_while_somebody_works_on_the_catalogue(path: Path, tmp_path: Path, who: str) -> None:
    back_up(path, tmp_path / "b.db")
    other = sqlite3.connect(path, isolation_level=None)
    now = NOW
    if who in ("crawl", "lease"):
        beat = json.dumps({"at": NOW}).encode()
        other.execute("INSERT INTO meta (name, value) VALUES ('worker:elsewhere:7', ?)", (beat,))
    if who == "crawl":
        other.execute("INSERT INTO run (started_at, owner, strategy, settings) VALUES (0, 'elsewhere:7', 'bfs', '')")
    elif who == "lease":
        other.execute("UPDATE host SET lease_until = ?, lease_owner = 'elsewhere:7'", (NOW + 60,))
    elif who == "reader":
        other.execute("SELECT count(*) FROM url").fetchone()
    else:
        other.execute("BEGIN IMMEDIATE")
    if who in ("crawl", "lease"):
        other.close()
    with pytest.raises(EnvironmentFault):
        restore(tmp_path / "b.db", path, now)
    other.close()
    assert not list(tmp_path.glob("*.before-restore*")) and pages(path) == 1


def test_a_backup_of_a_damaged_catalogue_names_the_catalogue_not_the_copy_that_was_not_kept(
    path: Path, tmp_path: Path
) -> None:
    content = bytearray(path.read_bytes())
    content[-8:] = b"\xff" * 8  # the last page of a table or an index
    content[-4096:-4000] = b"\xff" * 96
    path.write_bytes(content)
    with pytest.raises(DatabaseFault) as error:
        back_up(path, tmp_path / "copy.db")
    assert f"{path}: is damaged" in str(error.value)
    assert "copy.db" not in str(error.value)
    assert not (tmp_path / "copy.db").exists()


def test_a_damaged_catalogue_can_be_replaced_and_is_kept_with_its_log(path: Path, tmp_path: Path) -> None:
    back_up(path, tmp_path / "b.db")
    path.write_bytes(b"damaged")
    path.with_name("c.db-wal").write_bytes(b"log")
    kept = restore(tmp_path / "b.db", path, NOW)
    assert kept is not None and kept.read_bytes() == b"damaged"
    assert (tmp_path / "c.db.before-restore-wal").read_bytes() == b"log" and pages(path) == 1
    assert not part_of(path).exists()


@pytest.mark.parametrize("suffix", SIDE_FILES)
def test_nothing_is_restored_in_the_place_of_a_side_file(path: Path, tmp_path: Path, suffix: str) -> None:
    back_up(path, tmp_path / "b.db")
    with pytest.raises(UsageError):
        restore(tmp_path / "b.db", path.with_name(path.name + suffix), NOW)


def test_two_backups_to_one_file_at_once_leave_a_whole_one(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "b.db"
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for _ in range(3):
                    back_up(path, target)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    assert pages(target) == 1 and not list(tmp_path.glob(".*.part*"))


def test_what_a_killed_backup_left_goes_with_the_next(path: Path, tmp_path: Path) -> None:
    for name in (".b.db.1.part", ".b.db.1.part-journal"):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (0, 0))
    back_up(path, tmp_path / "b.db")
    assert not list(tmp_path.glob(".*.part*"))


def test_nothing_is_restored_while_a_process_elsewhere_works(path: Path, tmp_path: Path) -> None:
    back_up(path, tmp_path / "b.db")
    with sqlite3.connect(path) as other:
        other.execute("UPDATE host SET lease_until = ?, lease_owner = 'elsewhere:77'", (NOW + 60,))
        fact = ("worker:elsewhere:77", json.dumps({"at": NOW}).encode())
        other.execute("INSERT INTO meta (name, value) VALUES (?, ?)", fact)
    other.close()
    with pytest.raises(EnvironmentFault, match="process 77 on elsewhere"):
        restore(tmp_path / "b.db", path, NOW)
    assert restore(tmp_path / "b.db", path, NOW + 61) is not None


# --------------------------------------------------------------------------- what was promised since


def test_a_restored_backup_keeps_what_was_promised_since(tmp_path: Path) -> None:
    place, copy = tmp_path / "c.db", tmp_path / "b.db"
    world = World(place)
    world.seed("a.example/", "www.leave-me.example/")
    services = [candidate(f"maps{n}.example/wms?service=WMS") for n in range(2)]
    world.settle(world.lease(), candidates=[(each, None) for each in services])
    for title in ("Water", "Soil"):
        world.settle(world.lease(), verdict=verdict(service=Service(Kind.WMS, "1.3.0", title)))
    quarantine = "INSERT INTO site (name, hosts, held_at, held_for, released) VALUES (?, 3, 7.0, 'wms', ?)"
    with world.database.transaction:
        world.database.connection.execute(quarantine, ("released.example", 0))
    world.database.close()
    back_up(place, copy)

    world = World(place)
    forget(world.database, "leave-me.example", "asked by letter", 9.0)
    numbers = [row[0] for row in world.database.connection.execute("SELECT id FROM endpoint ORDER BY id").fetchall()]
    world.store.catalog().decide((numbers[0], numbers[1]), same=True, at=8.0)
    with world.database.transaction:
        world.database.connection.execute(quarantine, ("held.example", 0))
        world.database.connection.execute("UPDATE site SET released = 1 WHERE name = 'released.example'")
    ask_to_pause(world.database, pause=True)
    promised = read_promises(world.database.connection)
    world.database.close()

    for carried in (CarriedOver(1, 2, 1), CarriedOver(0, 0, 0)):
        assert maintenance.restore(Settings(), copy, place).carried_over == carried
        copy = tmp_path / "b2.db"
        back_up(place, copy)
        with Store.open_readonly(place) as connection:
            assert read_promises(connection) == promised
            assert not connection.execute("SELECT 1 FROM url WHERE address LIKE '%leave-me%'").fetchall()
            assert connection.execute("SELECT count(*) FROM service").fetchone()[0] == 1


def test_a_backup_replaces_a_damaged_catalogue_and_says_what_is_lost_with_it(path: Path, tmp_path: Path) -> None:
    back_up(path, tmp_path / "b.db")
    path.write_bytes(path.read_bytes()[:100] + os.urandom(20_000))
    done = maintenance.restore(Settings(), tmp_path / "b.db", path)
    assert "damaged" in done.unread and done.kept is not None and pages(path) == 1
