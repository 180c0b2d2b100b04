"""The translation of statements from SQLite's SQL to PostgreSQL's."""

from __future__ import annotations

import pytest

from geocrawl.store.engine.postgres.dialect import translated


@pytest.mark.parametrize(
    ("statement", "values", "text", "bound"),
    [
        ("SELECT ?, ?", (1, 2), "SELECT $1, $2", (1, 2)),
        ("SELECT ?2, ?1, ?2", ("a", "b"), "SELECT $1, $2, $1", ["b", "a"]),
        ("SELECT :b, :a WHERE 1 < :b", {"a": 1, "b": 2}, "SELECT $1, $2 WHERE 1 < $1", [2, 1]),
        ("SELECT 'a ? :b', x::int WHERE y = ?", (5,), "SELECT 'a ? :b', x::int WHERE y = $1", (5,)),
        ("SELECT x LIMIT ?2 OFFSET ?1", (0, 7), "SELECT x LIMIT 7 OFFSET 0", []),
        ("SELECT x WHERE y = ? LIMIT ?", ("z", -1), "SELECT x WHERE y = $1 LIMIT ALL", ["z"]),
        ("SELECT (SELECT a LIMIT ?2 + 1), ?1", (1, 2), "SELECT (SELECT a LIMIT 2 + 1), $1", [1]),
    ],
)
def test_values_reach_their_placeholders(statement: str, values: object, text: str, bound: object) -> None:
    translation = translated(statement)
    assert translation.text(values) == text  # type: ignore[arg-type]
    assert translation.bound(values) == bound  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("sqlite", "postgres"),
    [
        ("a IS NOT 'valid'", "a IS DISTINCT FROM 'valid'"),
        ("a IS NOT NULL AND b IS NULL", "a IS NOT NULL AND b IS NULL"),
        ("a IS ?", "a IS NOT DISTINCT FROM $1"),
        (
            "id IN (SELECT CAST(value AS BIGINT) FROM json_each(?1))",
            "id = ANY (CAST((SELECT CAST(translate($1, '[]', '{}') AS bigint[])) AS bigint[]))",
        ),
        ("a LIKE '%x'", "a ILIKE '%x'"),
        ("host h CROSS JOIN url u ON u.id = h.id", "host h JOIN url u ON u.id = h.id"),
        ("url INDEXED BY url_seed WHERE", "url  WHERE"),
        ("d.value ->> '$.code'", "json_extract(d.value, '$.code')"),
        ("ORDER BY status = 'valid' DESC, id", "ORDER BY status = 'valid' DESC NULLS LAST, id"),
        ("min(CAST((a - ?) / ? AS INTEGER), ?)", "min(CAST(trunc((a - $1) / $2) AS BIGINT), $3)"),
    ],
)
def test_syntax_of_sqlite_becomes_that_of_postgresql(sqlite: str, postgres: str) -> None:
    assert translated(sqlite).parts == (postgres,)
