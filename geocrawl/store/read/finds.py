"""Read which links of a finished crawl led to services: what `geocrawl train bayes --db` learns from."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import func, select, union

from geocrawl.store.engine.connection import Connection
from geocrawl.store.schema.tables import ENDPOINT, URL

_PROBED = URL.alias("probed")
_ON_PAGE = (
    select(_PROBED.c.found_on.label("id"))
    .distinct()
    .select_from(_PROBED.join(ENDPOINT, ENDPOINT.c.id == _PROBED.c.endpoint_id))
    .where(_PROBED.c.purpose == "probe", ENDPOINT.c.status == "valid", _PROBED.c.found_on.is_not(None))
    .cte("page_with_a_service")
)
_NAMING = URL.alias("naming")
_LED = union(
    select(_ON_PAGE.c.id),
    select(_NAMING.c.found_on)
    .select_from(_NAMING.join(_ON_PAGE, _ON_PAGE.c.id == _NAMING.c.id))
    .where(_NAMING.c.found_on.is_not(None)),
).cte("led")
_PARENT = URL.alias("parent")
_FINDS = (
    select(func.coalesce(URL.c.anchor, ""), func.coalesce(_PARENT.c.title, ""), URL.c.id.in_(select(_LED.c.id)))
    .select_from(URL.join(_PARENT, _PARENT.c.id == URL.c.found_on))
    .where(URL.c.purpose == "page", URL.c.state == "visited")
    .order_by(URL.c.id)
)


def link_finds(connection: Connection) -> Iterator[tuple[str, str, bool]]:
    """Yield (anchor, title of the page with the link, whether the link led to a valid service) for the best link to
    every visited page but seeds, in the order in which the pages were first seen.

    A link led to a service when its target, or a page that was found there (a hop or two), names the service. The
    database stores no context of a link; the title of its page is the nearest substitute.
    """
    for anchor, title, led in connection.run(_FINDS):
        if anchor or title:
            yield anchor, title, bool(led)
