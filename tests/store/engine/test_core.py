"""Statements of SQLAlchemy Core as a connection runs them: compiled once, with values bound by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Select, bindparam, insert, literal, select, update

from geocrawl.store import Store
from geocrawl.store.engine import core
from geocrawl.store.engine.connection import Connection
from geocrawl.store.engine.core import Compiler
from geocrawl.store.schema.tables import METADATA
from tests.support.world import ManualClock

META = METADATA.tables["meta"]
NAMED = select(META.c.value).where(META.c.name == bindparam("wanted"))
ROWS = select(META.c.name, META.c.value).where(META.c.name.like("test:%")).order_by(META.c.name)


@pytest.fixture
def connection(engine_url: str) -> Iterator[Connection]:
    """A new database of each engine."""
    with Store.open(engine_url, clock=ManualClock()) as store:
        yield store.database.connection


def rows(connection: Connection) -> list[tuple[str, bytes]]:
    return [(name, bytes(value)) for name, value in connection.run(ROWS)]


def test_an_insert_writes_the_columns_that_its_values_name_in_whatever_order(connection: Connection) -> None:
    connection.run(insert(META), {"name": "test:a", "value": b"1"})
    connection.run(insert(META), {"value": b"2", "name": "test:b"})
    assert rows(connection) == [("test:a", b"1"), ("test:b", b"2")]


def test_an_update_writes_the_columns_that_its_values_name(connection: Connection) -> None:
    connection.run(insert(META), {"name": "test:a", "value": b"1"})
    changed = connection.run(update(META).where(META.c.name == bindparam("which")), {"which": "test:a", "value": b"2"})
    assert changed.rowcount == 1
    assert rows(connection) == [("test:a", b"2")]


@pytest.mark.parametrize(
    "chosen",
    [
        lambda: NAMED,
        lambda: select(META.c.value).where(META.c.name == "test:b"),
        lambda: select(META.c.value).where(META.c.name.in_(["test:b", "test:none"])),
        lambda: NAMED.where(META.c.value != b"1", META.c.name == bindparam("wanted")),
    ],
    ids=["a value", "a constant", "a list of constants", "constants and one value twice"],
)
def test_values_and_constants_stand_in_the_places_of_their_names(
    connection: Connection, chosen: Callable[[], Select[tuple[bytes]]]
) -> None:
    connection.run(insert(META), {"name": "test:a", "value": b"1"})
    connection.run(insert(META), {"name": "test:b", "value": b"2"})
    assert [bytes(row[0]) for row in connection.run(chosen(), {"wanted": "test:b"})] == [b"2"]


def test_a_value_takes_the_place_of_a_constant_of_its_name(connection: Connection) -> None:
    limited = select(literal(1)).where(META.c.name.like("test:%")).limit(bindparam("most", 1))
    connection.run(insert(META), {"name": "test:a", "value": b"1"})
    connection.run(insert(META), {"name": "test:b", "value": b"2"})
    assert len(connection.run(limited).fetchall()) == 1
    assert len(connection.run(limited, {"most": 2}).fetchall()) == 2


def test_a_value_that_is_not_given_is_no_null(connection: Connection) -> None:
    with pytest.raises(KeyError, match="wanted"):
        connection.run(NAMED, {})


def test_a_statement_of_values_cannot_become_sql(connection: Connection) -> None:
    hostile = "x' OR '1'='1"
    connection.run(insert(META), {"name": "test:a", "value": b"1"})
    assert connection.run(NAMED, {"wanted": hostile}).fetchall() == []


def test_a_statement_is_compiled_once_for_the_same_names() -> None:
    compiler = Compiler()
    first = compiler.compiled(NAMED, {"wanted": "a"})
    assert compiler.compiled(NAMED, {"wanted": "b"}) is first
    table = insert(META)
    both = compiler.compiled(table, {"name": "a", "value": b""})
    assert compiler.compiled(table, {"name": "a"})[0] != both[0]


def test_the_texts_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "_MOST_KEPT", 10)
    compiler = Compiler()
    for number in range(50):
        text, binder = compiler.compiled(select(literal(number)), {})
        assert binder({}) == (number,), text
    assert len(compiler._compiled) <= 10
