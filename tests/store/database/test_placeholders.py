"""The placeholders of a statement that was written as text, for PostgreSQL."""

from __future__ import annotations

import pytest

from geocrawl.store.database.postgres.connection import numbered


@pytest.mark.parametrize(
    ("statement", "text", "names"),
    [
        ("SELECT ?, ?", "SELECT $1, $2", (0, 1)),
        ("SELECT ?2, ?1, ?2", "SELECT $1, $2, $1", (1, 0)),
        ("SELECT :b, :a WHERE 1 < :b", "SELECT $1, $2 WHERE 1 < $1", ("b", "a")),
        ("SELECT 'a ? :b', x::int WHERE y = ?", "SELECT 'a ? :b', x::int WHERE y = $1", (0,)),
    ],
)
def test_values_reach_their_placeholders(statement: str, text: str, names: tuple[int | str, ...]) -> None:
    assert numbered(statement) == (text, names)
