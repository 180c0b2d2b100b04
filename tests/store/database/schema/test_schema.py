"""One schema: the tables say it, the migrations come to it, and the documentation of the tables is current."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

from geocrawl.store.database.database import Database
from geocrawl.store.database.migrations import REVISIONS
from geocrawl.store.database.schema.models import METADATA, MODELS
from scripts import schema_page, statement_tables
from tests.store.database.test_upgrade import old_file
from tests.support.places import ROOT
from tests.support.samples import sampled
from tests.support.world import ManualClock


def test_the_tables_in_the_documentation_are_current() -> None:
    page = (ROOT / "docs" / "database.md").read_text(encoding="utf-8")
    assert page == schema_page.with_tables(page), "run: make schema"


def test_the_tables_for_statements_are_current() -> None:
    module = statement_tables.MODULE.read_text(encoding="utf-8")
    assert module == statement_tables.with_tables(module), "run: make schema"


def test_every_table_of_the_schema_is_described() -> None:
    assert {model.__tablename__ for model in MODELS} == set(METADATA.tables)
    assert [model.__name__ for model in MODELS if not model.__doc__] == []


@pytest.fixture
def upgraded(tmp_path: Path) -> Path:
    """A database of the schema 0028, brought up to date."""
    path = Path(old_file(tmp_path))
    Database.open(path, create=False, clock=ManualClock()).close()
    return path


def test_a_new_database_is_laid_out_as_an_upgraded_one(upgraded: Path, tmp_path: Path) -> None:
    Database.open(tmp_path / "new.db", create=True, clock=ManualClock()).close()
    with closing(sqlite3.connect(tmp_path / "new.db")) as new, closing(sqlite3.connect(upgraded)) as migrated:
        tables = names(new)
        assert tables == names(migrated) and len(tables) > 25
        for table in tables:
            assert shape(new, table) == shape(migrated, table), table
        for kind in ("view", "trigger"):
            assert statements(new, kind) == statements(migrated, kind)
        versions = [each.execute("SELECT version_num FROM alembic_version").fetchall() for each in (new, migrated)]
        assert versions == [[(REVISIONS[-1],)]] * 2


def test_alembic_finds_no_drift_between_the_tables_and_the_migrations(tmp_path: Path) -> None:
    path = Path(old_file(tmp_path))
    assert alembic(path, "upgrade", "head").returncode == 0
    agreed = alembic(path, "check")
    assert (agreed.returncode, agreed.stdout.strip()) == (0, "No new upgrade operations detected.")


@pytest.mark.parametrize(
    "change",
    sampled(
        [
            "ALTER TABLE endpoint ADD COLUMN forgotten INTEGER",
            "DROP INDEX endpoint_due",
            "ALTER TABLE endpoint RENAME COLUMN cors TO allowed_origin",
        ],
        "DROP INDEX endpoint_due",
    ),
)
def test_alembic_finds_a_migrated_database_that_differs(upgraded: Path, change: str) -> None:
    with closing(sqlite3.connect(upgraded)) as connection, connection:
        connection.execute(change)
    assert "New upgrade operations detected" in alembic(upgraded, "check").stdout


def test_hashes_are_declared_as_64_bits() -> None:
    hashes = {
        table.name: [column.name for column in table.columns if str(column.type) == "BIGINT"]
        for table in METADATA.tables.values()
    }
    assert {table: columns for table, columns in hashes.items() if columns} == {
        "endpoint": ["server"],
        "url": ["key", "digest"],
        "pattern": ["key"],
        "alike": ["key"],
        "query_group": ["key"],
        "source": ["key"],
        "source_list": ["key", "next_key", "digest"],
        "source_record": ["key"],
    }
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    elsewhere = str(CreateTable(METADATA.tables["url"]).compile(dialect=dialect))
    assert "key BIGINT NOT NULL" in elsewhere and "digest BIGINT" in elsewhere


def alembic(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "alembic", "-x", f"db={path}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def names(connection: sqlite3.Connection) -> list[str]:
    """Tables in order of name, without what ANALYZE wrote."""
    listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [name for (name,) in listed if not name.startswith("sqlite_stat")]


def statements(connection: sqlite3.Connection, kind: str) -> list[tuple[str, str]]:
    """Views or triggers with their statements, white space folded."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = ? ORDER BY name", (kind,))
    return [(name, "".join(sql.split())) for name, sql in rows]


def shape(connection: sqlite3.Connection, table: str) -> dict[str, object]:
    """Everything that SQLite knows of a table but the spelling of its statement."""
    indexes = connection.execute(f"PRAGMA index_list({table})").fetchall()
    return {
        "columns (name, type, NOT NULL, default, place in the key)": [
            row[1:6] for row in connection.execute(f"PRAGMA table_xinfo({table})")
        ],
        "kind, without rowid": connection.execute(f"SELECT type, wr FROM pragma_table_list('{table}')").fetchall(),
        "references": sorted(row[2:] for row in connection.execute(f"PRAGMA foreign_key_list({table})")),
        "unique": sorted(
            [row[2] for row in connection.execute(f"PRAGMA index_info({name})")]
            for _, name, _, origin, _ in indexes
            if origin == "u"
        ),
        "indexes, in the order of their making": connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ? "
            "ORDER BY rowid",
            (table,),
        ).fetchall(),
    }
