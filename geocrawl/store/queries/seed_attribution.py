"""What start pages led to: a page or service belongs to the start page that is the fewest links away.

Where something was found says little of that: a better link that is read later takes the place of the first one, also
in a circle. So the links of all that was read are walked from all start pages at once, breadth first. That reads each
page's links once, and holds some bytes for each page and more for each endpoint.
"""

from __future__ import annotations

import sqlite3
from array import array
from collections import defaultdict, deque
from collections.abc import Iterator

from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.links import unpack_links

# Start pages; and the probes of those that are a service's address themselves.
_START = """
SELECT u.id, s.address FROM seed s JOIN url u INDEXED BY url_seed ON u.address = s.address
WHERE u.depth = 0 AND u.purpose = 'page'
UNION
SELECT u.id, s.address FROM seed s JOIN evidence v ON v.link = s.address JOIN url u ON u.endpoint_id = v.endpoint_id
WHERE v.signal = 'given' AND u.purpose = 'probe' ORDER BY 1"""
# Endpoints, with the page or the other endpoint that names them.
_NAMED = """
SELECT u.id, u.found_on FROM endpoint e JOIN url u ON u.endpoint_id = e.id
WHERE u.purpose = 'probe' AND u.found_on IS NOT NULL"""
_SERVICES = """
SELECT u.id, coalesce(e.service_id, -e.id) FROM endpoint e JOIN url u ON u.endpoint_id = e.id
WHERE e.status = 'valid' AND u.purpose = 'probe'"""


def services_by_seed(connection: sqlite3.Connection) -> dict[str, int]:
    """How many services that are valid now each start page led to, by its address; those without any are left out.

    An endpoint that several pages name counts where the best of their links stands.
    """
    starts: list[tuple[int, str]] = connection.execute(_START).fetchall()
    owners = _owners(connection, [url_id for url_id, _ in starts])
    services = defaultdict[str, set[int]](set)
    for url_id, service in connection.execute(_SERVICES):
        if owner := owners[url_id]:
            services[starts[owner - 1][1]].add(service)
    return {address: len(found) for address, found in services.items()}


def _owners(connection: sqlite3.Connection, starts: list[int]) -> array[int]:
    """For each row of `url` the number (from 1) of the start that is the fewest links away; 0: none leads there."""
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM url").fetchone()
    named = defaultdict[int, list[int]](list)
    for url_id, found_on in connection.execute(_NAMED):
        named[found_on].append(url_id)
    owners = array("l", bytes((last + 1) * array("l").itemsize))
    for number, url_id in enumerate(starts, 1):
        owners[url_id] = number
    todo = deque(starts)
    while todo:
        source = todo.popleft()
        for target in (*_links(connection, source), *named.get(source, ())):
            if target <= last and not owners[target]:
                owners[target] = owners[source]
                todo.append(target)
    return owners


def _links(connection: sqlite3.Connection, url_id: int) -> Iterator[int]:
    row = connection.execute(sql.READ_OUTLINKS, (url_id,)).fetchone()
    return map(abs, unpack_links(row[0])) if row else iter(())
