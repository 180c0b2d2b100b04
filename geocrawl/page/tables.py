"""Read the heads of tables: a kind in the head of a column or of a row is that of the addresses in its cells."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from geocrawl.page.naming import kind_in_label, may_be_program

_HEAD_CHARS = 60
_MOST_CELLS = 20_000
"""Most cells and rows of a page that are looked at."""
_ADDRESS = re.compile(r"https?://[^\s<>\"]{1,4000}", re.I)


def kinds_by_heads(root: LexborNode) -> tuple[dict[str, str], dict[str, str]]:
    """Return the kinds of links (the text of href → kind) and of addresses that stand alone in a cell, as the heads of
    their columns and rows name them. Only addresses that may be programs have a kind."""
    links, texts = dict[str, str](), dict[str, str]()
    for cell, kind in _cells_below(root):
        hrefs = [each.attributes.get("href") or "" for each in cell.css("a")]
        for href in hrefs:
            if may_be_program(href):
                links.setdefault(href, kind)
        text = "" if hrefs else cell.text().strip()
        if _ADDRESS.fullmatch(text) and may_be_program(text):
            texts.setdefault(text, kind)
    return links, texts


def _cells_below(root: LexborNode) -> Iterator[tuple[LexborNode, str]]:
    """Yield the cells in rows and columns whose head names a kind, with the kind."""
    left = _MOST_CELLS
    for head in root.css("th"):
        row, text = head.parent, head.text()
        kind = kind_in_label(text) if len(text) <= _HEAD_CHARS else ""
        if not kind or row is None or row.tag != "tr":
            continue
        if left < 0:
            return
        beside = _cells(row)
        left -= len(beside)
        if any(each.tag == "td" for each in beside.values()):
            yield from ((each, kind) for each in beside.values() if each.tag == "td")
            continue
        rows = _rows(row)
        left -= len(rows)
        column = next((place for place, each in beside.items() if each.mem_id == head.mem_id), -1)
        own = next((number for number, each in enumerate(rows) if each.mem_id == row.mem_id), len(rows))
        for below in rows[own + 1 :] if left >= 0 else ():
            cells = _cells(below)
            left -= len(cells)
            if left < 0:
                return
            if (found := cells.get(column)) is not None and found.tag == "td":
                yield found, kind


def _cells(row: LexborNode) -> dict[int, LexborNode]:
    """Return the cells of a row by their column, from 0."""
    cells, column = dict[int, LexborNode](), 0
    for each in row.iter():
        if each.tag in ("td", "th"):
            cells[column] = each
            span = each.attributes.get("colspan") or ""
            column += int(span) if span.isdecimal() and 0 < len(span) < 4 else 1
    return cells


def _rows(row: LexborNode) -> list[LexborNode]:
    """Return all rows of the table of a row."""
    table = row.parent
    while table is not None and table.tag != "table":
        table = table.parent
    return table.css("tr") if table is not None else []
