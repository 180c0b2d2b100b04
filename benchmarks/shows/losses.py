"""What a crawl that drops zero-priority links loses, and where: its database beside that of one that keeps them."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from geocrawl.store.keys import page_key
from geocrawl.urls import read_url

_VALID = "SELECT kind, key, id FROM endpoint WHERE status = 'valid'"
_PAGES = "SELECT page FROM evidence WHERE endpoint_id = ? AND page != '' ORDER BY id"
_PAGE = "SELECT id, found_on, anchor, relevance FROM url WHERE key = ?"
_BY_ID = "SELECT address, relevance, found_on, anchor FROM url WHERE id = ?"
_VISITED = "SELECT 1 FROM url WHERE key = ? AND state = 'visited'"
_MEANING = {0: "on a page without the topic", 1: "on a page near the topic", 2: "on a page about the topic"}
EXAMPLES = 5


def measure(kept: Path, dropped: Path) -> dict[str, Any]:
    """Valid endpoints that only the first catalogue has, by the link at which the way to them ends in the second crawl.

    `kept` and `dropped` are the databases. Of an endpoint named by several pages, the first way seen counts.
    """
    with closing(sqlite3.connect(kept)) as keeping, closing(sqlite3.connect(dropped)) as dropping:
        there = {(kind, key) for kind, key, _ in dropping.execute(_VALID)}
        lost = [row for row in keeping.execute(_VALID).fetchall() if (row[0], row[1]) not in there]
        ends = [_end_of_way(keeping, dropping, endpoint_id) for _, _, endpoint_id in lost]
    found = [end for end in ends if end is not None]
    return {
        "lost": len(lost),
        "way_ends": dict(Counter(_MEANING[end["relevance"]] for end in found).most_common()),
        "otherwise": len(ends) - len(found),
        "examples": found[:EXAMPLES],
    }


def _end_of_way(keeping: sqlite3.Connection, dropping: sqlite3.Connection, endpoint_id: int) -> dict[str, Any] | None:
    """The last page on the way that both crawls visited, and the link there that one of them dropped."""
    for (page,) in keeping.execute(_PAGES, (endpoint_id,)):
        row = keeping.execute(_PAGE, (_key(page),)).fetchone()
        if row is None or dropping.execute(_VISITED, (_key(page),)).fetchone():
            continue
        _, found_on, anchor, _ = row
        passed: set[int] = set()  # the best links to two pages may stand on each other
        while found_on is not None and found_on not in passed:
            passed.add(found_on)
            address, relevance, before, next_anchor = keeping.execute(_BY_ID, (found_on,)).fetchone()
            if dropping.execute(_VISITED, (_key(address),)).fetchone():
                return {"page": address, "relevance": relevance or 0, "link": page, "anchor": anchor}
            page, found_on, anchor = address, before, next_anchor
    return None


def _key(address: str) -> int:
    url = read_url(address)
    return page_key(url.identity) if url else 0
