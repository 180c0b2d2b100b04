"""Which links of a finished crawl led to services: what `geocrawl train bayes --db` learns from."""

from __future__ import annotations

from collections.abc import Iterator

from geocrawl.store.engine.connection import Connection

_FINDS = """
WITH page AS (
    SELECT DISTINCT u.found_on AS id FROM url u JOIN endpoint e ON e.id = u.endpoint_id
    WHERE u.purpose = 'probe' AND e.status = 'valid' AND u.found_on IS NOT NULL),
led AS (SELECT id FROM page UNION SELECT u.found_on FROM url u JOIN page ON page.id = u.id WHERE u.found_on IS NOT NULL)
SELECT coalesce(u.anchor, ''), coalesce(parent.title, ''), u.id IN (SELECT id FROM led)
FROM url u JOIN url parent ON parent.id = u.found_on
WHERE u.purpose = 'page' AND u.state = 'visited' ORDER BY u.id"""


def link_finds(connection: Connection) -> Iterator[tuple[str, str, bool]]:
    """(anchor, title of the page it stands on, whether it led to a valid service) of every page visited but seeds.

    A link led there when the service stands on its page or on one that was found there (a hop or two). The database
    keeps no context of a link, so the title of its page is the nearest thing to it. In the order of first sight.
    """
    for anchor, title, led in connection.execute(_FINDS):
        if anchor or title:
            yield anchor, title, bool(led)
