"""Opening: created, brought up to date, refused with one clear line; killed at any moment, nothing settled is lost."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from geocrawl.errors import DatabaseFault, PassingFault, RefusedValue
from geocrawl.model import RobotsRecord
from geocrawl.settings import Settings
from geocrawl.store.database.database import Database, open_readonly
from geocrawl.store.database.migrations import REVISIONS
from geocrawl.store.database.sqlite import faults
from geocrawl.store.frontier.politeness import SqlPoliteness
from tests.support.invariants import check_invariants
from tests.support.places import ROOT
from tests.support.world import ManualClock, World, link, url


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "crawl.db"


def create(path: Path) -> Database:
    return Database.open(path, create=True, clock=ManualClock())


def test_a_database_is_created_with_its_folder_and_opened_again(path: Path) -> None:
    first = create(path)
    first.set_meta("strategy", "gws")
    first.close()
    second = create(path)
    assert second.meta("strategy") == "gws"
    assert second.meta("nothing") is None
    assert second.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("by", ["nothing", "another file"])
def test_a_file_that_is_replaced_while_it_is_open_takes_no_more(path: Path, by: str) -> None:
    first = create(path)
    first.set_meta("strategy", "gws")
    other = path.with_name("other.db")
    create(other).close()
    path.unlink()
    if by == "another file":
        other.rename(path)
    with pytest.raises(DatabaseFault, match="was deleted or replaced") as caught:
        first.set_meta("strategy", "bfs")
    assert not isinstance(caught.value, PassingFault)
    first.close()


def test_opening_one_that_is_up_to_date_imports_no_migrations(path: Path) -> None:
    create(path).close()
    code = f"""
    import sys
    from pathlib import Path
    from geocrawl.fetch.clock import SystemClock
    from geocrawl.store.database.database import Database
    Database.open(Path({str(path)!r}), create=True, clock=SystemClock())
    print([m for m in ("alembic",) if m in sys.modules])
    """
    assert run(code).strip() == "[]"


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"this is no database at all, it is a text" * 100, "not a SQLite database"), (None, "no such database")],
)
def test_what_is_no_database_is_refused_with_one_line(path: Path, content: bytes | None, expected: str) -> None:
    path.parent.mkdir()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DatabaseFault, match=expected) as error:
        Database.open(path, create=False, clock=ManualClock())
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    with pytest.raises(DatabaseFault, match=expected), open_readonly(path):
        pass
    assert path.exists() is (content is not None)


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    path.parent.mkdir()
    sqlite3.connect(path).execute("CREATE TABLE cookies (name)").connection.close()
    with pytest.raises(DatabaseFault, match="another program"):
        create(path)


def test_a_database_of_another_program_with_migrations_of_its_own_is_not_called_a_newer_one(path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES ('ae1027a6acf')")
        connection.execute("CREATE TABLE service (id INTEGER PRIMARY KEY)")
    connection.close()
    with pytest.raises(DatabaseFault, match="another program"):
        create(path)
    with pytest.raises(DatabaseFault, match="another program"), open_readonly(path):
        pass


def test_a_damaged_text_of_the_schema_is_reported_as_damage(path: Path) -> None:
    create(path).close()
    content = bytearray(path.read_bytes())
    # SQLite quotes the damaged name in its error, and Python cannot read that.
    content[content.index(b"viewv_services") + len("view")] = 0x9B
    content[content.index(b"CREATE VIEW v_services")] = 0x9B
    path.write_bytes(content)
    with pytest.raises(DatabaseFault, match=r"is damaged .* `geocrawl restore FILE`"):
        create(path)
    with pytest.raises(DatabaseFault, match=r"is damaged .* `geocrawl restore FILE`"), open_readonly(path):
        pass


@pytest.mark.parametrize(("value", "said"), [("a\udcffb", "Unicode"), (2**63, "64 bits")])
def test_a_value_that_no_database_holds_is_refused_with_one_line(path: Path, value: object, said: str) -> None:
    database = create(path)
    with pytest.raises(RefusedValue, match=f"^{path}: cannot hold a .*{said}"):
        database.connection.execute("SELECT ?", (value,))
    assert database.connection.execute("SELECT 1").fetchone() == (1,)


def test_a_database_newer_than_the_program_is_refused(path: Path) -> None:
    create(path).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(DatabaseFault, match=f"newer geocrawl \\(schema 9999, this one knows {REVISIONS[-1]}"):
        create(path)
    with pytest.raises(DatabaseFault, match="newer geocrawl"), open_readonly(path):
        pass


def test_a_folder_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseFault, match="--db"):
        create(tmp_path / "file" / "crawl.db")
    with pytest.raises(DatabaseFault, match="--db"):
        create(tmp_path)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("geocrawl.store.database.connection.BUSY_S", 0.1)
    monkeypatch.setattr(faults, "BUSY_S", 0.1)
    yield


@pytest.mark.usefixtures("impatient")
def test_a_locked_database_names_who_holds_it(path: Path) -> None:
    holder = World(path)
    holder.store.start_run("gws", holder.settings)
    other = create(path)
    with (
        holder.database.transaction,
        pytest.raises(DatabaseFault, match=r"process 1 on test \(a crawl started"),
    ):
        other.set_meta("a", "b")
    other.set_meta("a", "b")


def test_a_full_disk_is_one_line_and_loses_nothing_that_was_settled(path: Path) -> None:
    world = World(path)
    world.seed("a.example/")
    lease = world.lease()
    pages = world.database.connection.execute("PRAGMA page_count").fetchone()[0]
    world.database.connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(DatabaseFault, match="disk is full"):
        world.settle(lease, *[link(f"a.example/{'x' * 500}{n}") for n in range(1000)])
    world.database.connection.execute("PRAGMA max_page_count = 1000000")
    assert not world.frontier.known(url(f"a.example/{'x' * 500}0"))
    assert world.settle(lease, link("a.example/1"), link("a.example/2")).new_links == 2
    assert sorted([world.visit(), world.visit()]) == ["http://a.example/1", "http://a.example/2"]


async def test_robots_answers_are_kept(path: Path) -> None:
    robots = SqlPoliteness(create(path), Settings())
    assert await robots.read_robots("http://a.example") is None
    for record in (
        RobotsRecord("http://a.example", 200, "Disallow: /", 1.0, 2.0),
        RobotsRecord("http://a.example", None, None, 3.0, 4.0),
    ):
        await robots.write_robots(record)
        assert await robots.read_robots("http://a.example") == record


CRAWL = """
    import sys, time
    from pathlib import Path
    sys.path.insert(0, {root!r})
    from tests.support.world import World, link
    world = World(Path({path!r}))
    world.clock.time = time.time()
    world.seed("a.example/0")
    number = 0
    while True:
        lease = world.frontier.lease()
        if lease is None:
            time.sleep(0.001)
            world.clock.time = time.time()
            continue
        number += 1
        name = lease.entry.url.address.rsplit("/", 1)[1]
        world.settle(lease, *[link(f"h{{n}}.example/{{name}}{{n}}") for n in range(3)], next_at=time.time() + {delay})
        print(lease.host.name, lease.entry.url.address, flush=True)
        if number == {visits}:
            break
    """


def test_a_process_killed_at_any_moment_loses_no_settled_visit(path: Path) -> None:
    code = textwrap.dedent(CRAWL.format(root=str(ROOT), path=str(path), delay=0, visits=-1))
    for round_ in range(4):
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        settled = [process.stdout.readline().split()[1] for _ in range(20 + 37 * round_)]
        process.send_signal(signal.SIGKILL)
        settled += [line.split()[1] for line in process.stdout.read().splitlines() if line.endswith(tuple("012"))]
        process.wait()
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        visited = {row[0] for row in connection.execute("SELECT address FROM url WHERE state = 'visited'")}
        assert set(settled[:-1]) <= visited
        check_invariants(connection)
        connection.execute("UPDATE host SET lease_until = 1 WHERE lease_until > 0")  # so that nobody has to wait
        connection.commit()
        connection.close()


def test_processes_on_one_database_share_the_work_and_never_a_host(path: Path) -> None:
    World(path).database.close()
    code = textwrap.dedent(CRAWL.format(root=str(ROOT), path=str(path), delay=0, visits=60))
    processes = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    visits = [line.split()[1] for process in processes for line in process.communicate()[0].splitlines()]
    assert all(process.returncode == 0 for process in processes)
    assert len(visits) == len(set(visits)) == 120
    connection = sqlite3.connect(path)
    check_invariants(connection)


def test_two_connections_never_hold_one_host(path: Path) -> None:
    first, second = World(path), World(path)
    first.seed("a.example/1", "a.example/2", "b.example/")
    held = [first.frontier.lease(), second.frontier.lease(), first.frontier.lease()]
    assert [lease.host.name if lease else None for lease in held] == ["a.example", "b.example", None]


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
