"""Attribute services to start pages: each belongs to the start page that is the fewest links away.

The page on which a URL was found (`url.found_on`) is no help: a better link that is read later replaces the first one,
which can form circles. So the links of all visited pages are walked from all start pages at once, breadth first. That
reads each page's links once and needs about 100 bytes of memory a URL.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence

from geocrawl.store.engine.connection import Connection
from geocrawl.store.frontier import statements as sql
from geocrawl.store.frontier.outlinks import unpack_outlinks

_BATCH = 1000

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


def services_by_seed(connection: Connection) -> dict[str, int]:
    """Return how many valid services each start page led to, by its address; start pages without any are left out.

    An endpoint that several pages name counts for the page with the best link to it.
    """
    starts: list[tuple[int, str]] = connection.execute(_START).fetchall()
    owners = _owners(connection, [url_id for url_id, _ in starts])
    services = defaultdict[str, set[int]](set)
    for url_id, service in connection.execute(_SERVICES):
        if owner := owners.get(url_id):
            services[starts[owner - 1][1]].add(service)
    return {address: len(found) for address, found in services.items()}


def _owners(connection: Connection, starts: list[int]) -> dict[int, int]:
    """Return for each URL the number (from 1) of the start page that is the fewest links away; URLs that no start page
    leads to are left out."""
    named = defaultdict[int, list[int]](list)
    for url_id, found_on in connection.execute(_NAMED):
        named[found_on].append(url_id)
    owners = {url_id: number for number, url_id in enumerate(starts, 1)}
    level = list(owners)
    while level:
        following = []
        for sources in _batched(level):
            links = _links(connection, sources)
            for source in sources:
                for target in (*links.get(source, ()), *named.get(source, ())):
                    if target not in owners:
                        owners[target] = owners[source]
                        following.append(target)
        level = following
    return owners


def _batched(ids: list[int]) -> Iterator[list[int]]:
    """Yield ids in batches, so that few pages' links are in memory at once."""
    for begin in range(0, len(ids), _BATCH):
        yield ids[begin : begin + _BATCH]


def _links(connection: Connection, url_ids: list[int]) -> dict[int, Sequence[int]]:
    rows = connection.execute(sql.READ_OUTLINKS, (json.dumps(url_ids),)).fetchall()
    return {url_id: [target for part in unpack_outlinks(blob) for target in part] for url_id, blob in rows}
