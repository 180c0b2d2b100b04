"""Turn the SQL that pycsw makes of a filter into SQL that SQLite answers fast, and that can ask nothing else.

pycsw puts coordinates into its SQL as text, tests boxes by a function called for each row, and finds words by scanning
all texts. Here its SQL is read token by token: a box becomes a comparison of numbers, words become a question to the
full-text index, columns and operators pass, and anything else is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence

Spellings = Callable[[str], Sequence[str]]
"""Text without spaces → its spellings in the full-text index."""

SEARCHED = "title keywords layers abstract provider"
"""Columns of `search_text` that are published; the texts of links and the full addresses are not."""
_TOKEN = re.compile(
    r"\s*(?:query_spatial\(wkt_geometry,'(?P<shape>[^']*)','(?P<relation>[a-z]+)','[^']*'\)\s*=\s*'(?P<truth>true|false)'"
    r"|(?P<text>(?:(?:lower|upper|trim|ltrim|rtrim)\(anytext\)|anytext)\s+like\s+%s)"
    r"|(?P<value>%s)|(?P<word>[a-z_]+)|(?P<sign>!=|<=|>=|[()=<>]))"
)
_WORDS = {"and", "or", "not", "is", "null", "like", "between", "length", "lower", "ltrim", "rtrim", "trim", "upper"}
_SHAPE = re.compile(r"(?:POLYGON|POINT|LINESTRING)\s*\(+[-+0-9.eE, ]+\)+")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
_MOST_WORDS = 30

_TOUCHES = (
    "north >= {1} AND south <= {3} AND "
    "CASE WHEN west <= east THEN east >= {0} AND west <= {2} ELSE east >= {0} OR west <= {2} END"
)
_RELATIONS = {
    "bbox": _TOUCHES,
    "intersects": _TOUCHES,
    "disjoint": f"NOT ({_TOUCHES})",
    "within": "west <= east AND west >= {0} AND south >= {1} AND east <= {2} AND north <= {3}",
    "contains": "south <= {1} AND north >= {3} AND "
    "CASE WHEN west <= east THEN west <= {0} AND east >= {2} ELSE west <= {0} OR east >= {2} END",
    "equals": "west = {0} AND south = {1} AND east = {2} AND north = {3}",
}
"""Relation of a record's extent to the asked box; a record whose west is greater than its east crosses 180°."""


def rewritten(
    where: str, values: Sequence[object], columns: Collection[str], spellings: Spellings
) -> tuple[str, list[object]]:
    """Return the condition and its parameters. Raises ValueError for what is no condition on `columns`."""
    parts, arguments, given = list[str](), list[object](), iter(values)
    for token in _tokens(where):
        kind = token.lastgroup
        if kind == "truth":
            parts.append(_box_condition(token["shape"], token["relation"], token["truth"] == "true"))
        elif kind == "text":
            query = text_query(str(next(given)), spellings)
            parts.append("id IN (SELECT rowid FROM search_text WHERE search_text MATCH ?)" if query else "1")
            arguments += [query] if query else []
        elif kind == "value":
            parts.append("?")
            arguments.append(next(given))
        elif kind == "sign" or token["word"] in columns or token["word"] in _WORDS:
            parts.append(token[0].strip())
        else:
            raise ValueError(f"no such column: {token['word']}")
    return " ".join(parts), arguments


def text_query(pattern: str, spellings: Spellings) -> str:
    """Return what to ask the full-text index for a LIKE pattern: all its words, each the beginning of one; '' for a
    pattern that everything fulfils."""
    pieces = pattern.replace("%", " ").split()[:_MOST_WORDS]
    found = [" OR ".join(f'"{spelling}"*' for spelling in spellings(piece) if spelling) for piece in pieces]
    if pieces and not any(found):
        return '""'  # signs alone: nothing has them
    words = " AND ".join(f"({each})" for each in found if each)
    return f"{{{SEARCHED}}} : ({words})" if words else ""


def _tokens(where: str) -> Iterator[re.Match[str]]:
    where, at = where.strip(), 0
    while at < len(where):
        token = _TOKEN.match(where, at)
        if token is None:
            raise ValueError("a filter of a form that is not supported")
        yield token
        at = token.end()


def _box_condition(shape: str, relation: str, truth: bool) -> str:
    if _SHAPE.fullmatch(shape) is None or relation not in _RELATIONS:
        raise ValueError(f"{relation}: supported are boxes and {', '.join(sorted(_RELATIONS))}")
    numbers = [float(each) for each in _NUMBER.findall(shape)]
    longitudes, latitudes = numbers[0::2], numbers[1::2]
    box = (min(longitudes), min(latitudes), max(longitudes), max(latitudes))
    condition = _RELATIONS[relation].format(*(f"{each:.6f}" for each in box))
    return f"(coalesce(west IS NOT NULL AND {condition}, 0) = {int(truth)})"
