"""Statements of SQLAlchemy Core as a connection runs them: compiled once, with values bound by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import Integer, Select, Text, bindparam, insert, literal, select, update

from geocrawl.model import State
from geocrawl.store import Store
from geocrawl.store.database import core
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.constructs import (
    greatest,
    in_list,
    json_elements,
    json_list,
    json_member,
    least,
    upsert,
    utc_text,
)
from geocrawl.store.database.core import compiler
from geocrawl.store.database.schema.tables import COUNTER, META, URL
from tests.support.world import ManualClock

NAMED = select(META.c.value).where(META.c.name == bindparam("wanted"))
ROWS = select(META.c.name, META.c.value).where(META.c.name.like("test:%")).order_by(META.c.name)


@pytest.fixture
def connection(engine_url: str) -> Iterator[Connection]:
    """A new database of each engine."""
    with Store.open(engine_url, clock=ManualClock()) as store:
        yield store.database.connection


def rows(connection: Connection) -> list[tuple[str, bytes]]:
    return [(name, bytes(value)) for name, value in connection.execute(ROWS)]


def test_an_insert_writes_the_columns_that_its_values_name_in_whatever_order(connection: Connection) -> None:
    connection.execute(insert(META), {"name": "test:a", "value": b"1"})
    connection.execute(insert(META), {"value": b"2", "name": "test:b"})
    assert rows(connection) == [("test:a", b"1"), ("test:b", b"2")]


def test_an_update_writes_the_columns_that_its_values_name(connection: Connection) -> None:
    connection.execute(insert(META), {"name": "test:a", "value": b"1"})
    changed = connection.execute(
        update(META).where(META.c.name == bindparam("which")), {"which": "test:a", "value": b"2"}
    )
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
    connection.execute(insert(META), {"name": "test:a", "value": b"1"})
    connection.execute(insert(META), {"name": "test:b", "value": b"2"})
    assert [bytes(row[0]) for row in connection.execute(chosen(), {"wanted": "test:b"})] == [b"2"]


def test_a_value_takes_the_place_of_a_constant_of_its_name(connection: Connection) -> None:
    limited = select(literal(1)).where(META.c.name.like("test:%")).limit(bindparam("most", 1))
    connection.execute(insert(META), {"name": "test:a", "value": b"1"})
    connection.execute(insert(META), {"name": "test:b", "value": b"2"})
    assert len(connection.execute(limited).fetchall()) == 1
    assert len(connection.execute(limited, {"most": 2}).fetchall()) == 2


def test_a_value_that_is_not_given_is_no_null(connection: Connection) -> None:
    with pytest.raises(KeyError, match="wanted"):
        connection.execute(NAMED, {})


def test_a_statement_of_values_cannot_become_sql(connection: Connection) -> None:
    hostile = "x' OR '1'='1"
    connection.execute(insert(META), {"name": "test:a", "value": b"1"})
    assert connection.execute(NAMED, {"wanted": hostile}).fetchall() == []


def test_a_statement_is_compiled_once_for_the_same_names() -> None:
    first = compiler("sqlite").prepared(NAMED, {"wanted": "a"})
    assert compiler("sqlite").prepared(NAMED, {"wanted": "b"}) is first
    table = insert(META)
    both = compiler("sqlite").prepared(table, {"name": "a", "value": b""})
    assert compiler("sqlite").prepared(table, {"name": "a"}).parts != both.parts


def test_the_texts_that_are_remembered_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "_MOST_KEPT", 10)
    kept = core.Compiler(core._Sqlite(paramstyle="qmark"))
    for number in range(50):
        prepared = kept.prepared(select(literal(f"No. {number}")), {})
        assert prepared.bind({}) == (f"No. {number}",), prepared.parts
    assert len(kept._prepared) <= 10


def test_numbers_and_words_of_a_statement_stand_in_its_text_and_what_was_typed_does_not() -> None:
    chosen = select(URL.c.id).where(URL.c.state == State.WAITING, URL.c.depth == 0, URL.c.title == "it's")
    for engine in ("sqlite", "postgresql"):
        prepared = compiler(engine).prepared(chosen, {})
        assert "state = 'waiting' AND url.depth = 0" in prepared.parts[0]
        assert prepared.bind({}) == ("it's",)


def test_the_number_of_a_limit_stands_in_the_text_for_postgresql() -> None:
    chosen = select(URL.c.id).where(URL.c.tier >= bindparam("tier")).limit(bindparam("most"))
    prepared = compiler("postgresql").prepared(chosen, {"tier": 1, "most": 7})
    assert " ".join(prepared.text({"most": 7}).split()).endswith("url.tier >= $1 LIMIT 7")
    assert prepared.bind({"tier": 1, "most": 7}) == (1,)


def test_a_hint_and_a_lock_of_rows_reach_the_engine_that_knows_them() -> None:
    chosen = select(URL.c.id).with_hint(URL, "INDEXED BY url_seed", dialect_name="sqlite")
    chosen = chosen.with_for_update(skip_locked=True)
    assert "INDEXED BY url_seed" in compiler("sqlite").prepared(chosen, {}).parts[0]
    assert compiler("postgresql").prepared(chosen, {}).parts[0].endswith("FROM url FOR UPDATE SKIP LOCKED")


def test_expressions_mean_the_same_in_both_engines(connection: Connection) -> None:
    stored = literal(json.dumps({"code": "a\0", "n": 1}), type_=Text)
    element = json_elements(literal('["x", "y"]', type_=Text)).table_valued("value")
    chosen = select(
        greatest(bindparam("one", type_=Integer), 2), least(bindparam("one", type_=Integer), 2),
        utc_text(1_700_000_000.9),
        json_member(stored, "n"), select(json_list(element.c.value)).scalar_subquery(),
        literal("Ab", type_=Text).ilike("aB"), literal(None, type_=Integer).is_distinct_from(1),
    )  # fmt: skip
    (row,) = connection.execute(chosen, {"one": 5}).fetchall()
    assert (row[0], row[1], row[2], str(row[3])) == (5, 2, "2023-11-14T22:13:20Z", "1")
    assert (json.loads(row[4]), bool(row[5]), bool(row[6])) == (["x", "y"], True, True)


def test_a_list_of_values_is_one_value(connection: Connection) -> None:
    connection.executemany(insert(META), [{"name": f"test:{name}", "value": b""} for name in "abc"])
    chosen = select(META.c.name).where(in_list(META.c.name, "wanted")).order_by(META.c.name)
    wanted = ["test:a", "test:c", 'it\'s "odd", {x}']
    assert connection.execute(chosen, {"wanted": wanted}).fetchall() == [("test:a",), ("test:c",)]
    assert connection.execute(chosen, {"wanted": []}).fetchall() == []
    numbers = select(URL.c.id).where(in_list(URL.c.key, "keys"))
    assert connection.execute(numbers, {"keys": [2**62, -(2**62)]}).fetchall() == []


def test_an_upsert_writes_a_row_or_changes_it(connection: Connection) -> None:
    counting = upsert(COUNTER, "name", add=["value"])
    for _ in range(2):
        connection.execute(counting, {"name": "test", "value": 2**40})
    found = connection.execute(select(COUNTER.c.value).where(COUNTER.c.name == "test")).fetchone()
    assert found == (2**41,)
    for value in (b"1", b"2"):
        connection.execute(upsert(META, "name"), {"name": "test:a", "value": value})
    assert rows(connection) == [("test:a", b"2")]
