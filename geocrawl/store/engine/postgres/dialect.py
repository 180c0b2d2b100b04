"""Translate statements from SQLite's SQL, in which the store is written, to PostgreSQL's.

The statements keep to what both engines understand, so little is left: placeholders, names of comparisons, hints for
SQLite's planner. PostgreSQL is taught the functions that it lacks (`max(a, b)`, `json_each` …) when the tables are
made (`store/engine/postgres/layout.py`). A text is translated once and remembered.

`LIKE` becomes `ILIKE`, since SQLite's does not heed case. A number in LIMIT or OFFSET is written into the text: with a
placeholder PostgreSQL plans for all rows (17 ms in the place of 0.3).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SYNTAX: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # A list of numbers: an array is looked up by an index, whatever the planner knows of the table. Without SELECT
        # the text is made an array again for each row, and the planner, which sees its length, reads the whole table.
        (
            r"\bIN \(SELECT CAST\(value AS BIGINT\) FROM json_each\((\?\d*|:\w+)\)\)",
            r"= ANY (CAST((SELECT CAST(translate(\1, '[]', '{}') AS bigint[])) AS bigint[]))",
        ),
        (r"/\* (FOR UPDATE SKIP LOCKED) \*/", r"\1"),  # SQLite has one lock for all rows
        (r"\bNOT INDEXED\b", ""),
        (r"\bINDEXED BY \w+", ""),
        (r"\bCROSS JOIN (?=[\w.]+(?: \w+)? ON\b)", "JOIN "),  # in SQLite the order of rows to keep to, with a condition
        (r"\bIS NOT (?!NULL\b|DISTINCT\b)", "IS DISTINCT FROM "),
        (r"\bIS (?!NULL\b|NOT\b|DISTINCT\b)", "IS NOT DISTINCT FROM "),
        (r"\bLIKE\b", "ILIKE"),
        (r"\btemp\.", ""),
        (r"\bINTEGER PRIMARY KEY\b", "BIGINT PRIMARY KEY"),
        (r"\bREAL\b", "DOUBLE PRECISION"),
        (r"\bCAST\(([^?]*\?.*?) AS INTEGER\)", r"CAST(trunc(\1) AS BIGINT)"),  # SQLite's cuts off, PostgreSQL's rounds
        (r"\bjson_group_array\((.*?)\) FROM", r"CAST(coalesce(json_agg(\1), '[]') AS text) FROM"),
        (r"([\w.]+) ->> '(\$[^']*)'", r"json_extract(\1, '\2')"),
        (r"\b(avg|sum|min|max)\(([^()]+ = '[^()]+')\)", r"\1(CAST(\2 AS integer))"),
        (r"(= (?:'\w+'|\?)) DESC\b", r"\1 DESC NULLS LAST"),  # where SQLite has them
        (r"\bdatetime\((\S+), 'unixepoch'\)", r"to_char(to_timestamp(\1) AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')"),
        (
            r"\bstrftime\('%Y-%m-%dT%H:%M:%SZ', (.+?), 'unixepoch'\)",
            r"to_char(to_timestamp(floor(\1)) AT TIME ZONE 'UTC', 'YYYY-MM-DD" + '"T"HH24:MI:SS"Z"' + "')",
        ),
    )
)
_TOKEN = re.compile(
    r"""'(?:[^']|'')*'|"[^"]*"|(?P<limit>\b(?:LIMIT|OFFSET)\s+)?(?P<mark>\?\d*|(?<![:\w]):[a-z_]\w*)""", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Translation:
    """A statement in PostgreSQL's SQL, with `$1` and so on for its values."""

    parts: tuple[str, ...]
    """Texts before, between and after the numbers of LIMIT and OFFSET."""
    limits: tuple[int | str, ...]
    """Position or name, among the given values, of each number of LIMIT and OFFSET."""
    order: tuple[int | str, ...]
    """Position or name, among the given values, of the value for each placeholder."""
    is_plain: bool
    """Whether the given values are those of the placeholders, in their order."""

    def text(self, values: Sequence[Any] | Mapping[str, Any]) -> str:
        """Return the text for these values."""
        if not self.limits:
            return self.parts[0]
        numbers = [_number(values[each]) for each in self.limits]  # type: ignore[index]
        return "".join(piece for pair in zip(self.parts, (*numbers, ""), strict=True) for piece in pair)

    def bound(self, values: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any]:
        """Return the values of the placeholders, in their order."""
        if self.is_plain and not isinstance(values, Mapping):
            return values
        return [values[each] for each in self.order]  # type: ignore[index]


def translated(statement: str) -> Translation:
    """Return a statement of the store in PostgreSQL's SQL."""
    for pattern, replacement in _SYNTAX:
        statement = pattern.sub(replacement, statement)
    parts, limits, numbers, text, position, end = list[str](), list[int | str](), dict[int | str, int](), "", 0, 0
    for token in _TOKEN.finditer(statement):
        mark = token["mark"]
        if not mark:
            continue
        text += statement[end : token.start()]
        end = token.end()
        name: int | str = mark[1:] if mark[0] == ":" else int(mark[1:]) - 1 if mark[1:] else position
        position += mark == "?"
        if token["limit"]:
            parts.append(text + token["limit"])
            limits.append(name)
            text = ""
        else:
            text += f"${numbers.setdefault(name, len(numbers) + 1)}"
    parts.append(text + statement[end:])
    order = tuple(numbers)
    return Translation(tuple(parts), tuple(limits), order, not limits and order == tuple(range(len(order))))


def _number(value: Any) -> str:
    """Return a number of LIMIT as SQL; in SQLite a negative one is no limit."""
    number = int(value)
    return "ALL" if number < 0 else str(number)
