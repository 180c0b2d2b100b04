"""One schema: the tables say it, the migrations come to it, and what is written from the tables is current."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable
from sqlmodel import SQLModel

from geocrawl.store import schema
from geocrawl.store.engine.database import Database
from geocrawl.store.engine.migrations import REVISIONS
from geocrawl.store.engine.sqlite.opening import upgrade
from geocrawl.store.schema.layout import schema_sql
from geocrawl.store.schema.reference import with_tables
from tests.support.places import ROOT
from tests.support.samples import sampled
from tests.support.world import ManualClock


def test_the_file_that_lays_out_a_new_database_is_written_from_the_tables() -> None:
    written = Path(schema.__file__).with_name("schema.sql").read_text(encoding="utf-8")
    assert written == schema_sql(), "run: make schema"


def test_the_tables_in_the_documentation_are_current() -> None:
    page = (ROOT / "docs" / "database.md").read_text(encoding="utf-8")
    assert page == with_tables(page), "run: make schema"


def test_every_table_of_the_schema_is_described() -> None:
    assert {model.__tablename__ for model in schema.MODELS} == set(schema.METADATA.tables)
    assert schema.METADATA is SQLModel.metadata
    assert [model.__name__ for model in schema.MODELS if not model.__doc__] == []


def test_a_new_database_is_laid_out_as_the_migrations_would(tmp_path: Path) -> None:
    Database.open(tmp_path / "new.db", create=True, clock=ManualClock()).close()
    upgrade(tmp_path / "migrated.db")
    with sqlite3.connect(tmp_path / "new.db") as new, sqlite3.connect(tmp_path / "migrated.db") as migrated:
        tables = names(new)
        assert tables == names(migrated) and len(tables) > 25
        for table in tables:
            assert shape(new, table) == shape(migrated, table), table
        assert views(new) == views(migrated) and len(views(new)) == 3
        versions = [each.execute("SELECT version_num FROM alembic_version").fetchall() for each in (new, migrated)]
        assert versions == [[(REVISIONS[-1],)]] * 2


def test_alembic_finds_no_drift_between_the_tables_and_the_migrations(tmp_path: Path) -> None:
    path = tmp_path / "migrated.db"
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
def test_alembic_finds_a_migrated_database_that_differs(tmp_path: Path, change: str) -> None:
    path = tmp_path / "migrated.db"
    upgrade(path)
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    assert "New upgrade operations detected" in alembic(path, "check").stdout


def test_hashes_are_declared_as_64_bits() -> None:
    hashes = {
        table.name: [column.name for column in table.columns if str(column.type) == "BIGINT"]
        for table in schema.METADATA.tables.values()
    }
    assert {table: columns for table, columns in hashes.items() if columns} == {
        "url": ["key", "digest"],
        "pattern": ["key"],
        "alike": ["key"],
        "query_group": ["key"],
    }
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    elsewhere = str(CreateTable(schema.METADATA.tables["url"]).compile(dialect=dialect))
    assert "key BIGINT NOT NULL" in elsewhere and "digest BIGINT" in elsewhere


def alembic(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "alembic", "-x", f"db={path}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def names(connection: sqlite3.Connection) -> list[str]:
    """Tables in order of name."""
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]


def views(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Views with their statements, white space folded."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'view' ORDER BY name")
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
