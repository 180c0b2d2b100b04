"""Read what led to services: which links, and from which start pages."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import func, select, union

from geocrawl.store.database.connection import Connection
from geocrawl.store.database.schema.tables import ENDPOINT, EVIDENCE, SEED, URL

_IS_VALID = ENDPOINT.c.status == "valid"

# --------------------------------------------------------------------------- links

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
    for anchor, title, led in connection.execute(_FINDS):
        if anchor or title:
            yield anchor, title, bool(led)


# --------------------------------------------------------------------------- start pages

_PAGE = URL.alias("page")
_IS_PROBE = URL.c.purpose == "probe"
# Start pages; and the probes of those that are a service's address themselves.
_START = union(
    select(_PAGE.c.id, SEED.c.address)
    .select_from(SEED.join(_PAGE, _PAGE.c.address == SEED.c.address))
    .with_hint(_PAGE, "INDEXED BY url_seed", "sqlite")
    .where(_PAGE.c.depth == 0, _PAGE.c.purpose == "page"),
    select(URL.c.id, SEED.c.address)
    .select_from(
        SEED.join(EVIDENCE, EVIDENCE.c.link == SEED.c.address).join(URL, URL.c.endpoint_id == EVIDENCE.c.endpoint_id)
    )
    .where(EVIDENCE.c.signal == "given", _IS_PROBE),
).cte("start")
_PROBE_OF_SERVICE = (
    select(func.coalesce(ENDPOINT.c.service_id, -ENDPOINT.c.id).label("service"), URL.c.id.label("url"))
    .select_from(ENDPOINT.join(URL, URL.c.endpoint_id == ENDPOINT.c.id))
    .where(_IS_VALID, _IS_PROBE)
    .cte("way", recursive=True)
)
# Its rows differ from each other, so that a way in a circle ends.
_WAY = _PROBE_OF_SERVICE.union(
    select(_PROBE_OF_SERVICE.c.service, _PARENT.c.found_on)
    .join_from(_PROBE_OF_SERVICE, _PARENT, _PARENT.c.id == _PROBE_OF_SERVICE.c.url)
    .where(_PARENT.c.found_on.is_not(None), _PARENT.c.id.not_in(select(_START.c.id)))
)
_BY_SEED = (
    select(_START.c.address, func.count(_WAY.c.service.distinct()))
    .join_from(_WAY, _START, _START.c.id == _WAY.c.url)
    .group_by(_START.c.address)
)


def services_by_seed(connection: Connection) -> dict[str, int]:
    """Return how many valid services each start page led to, by its address; start pages without any are left out.

    A service belongs to the start page at the beginning of the way by which each of its endpoints was found: the page
    of the best link to the endpoint, the page with the best link to that page when it was visited, and so on.
    """
    return dict(connection.execute(_BY_SEED).fetchall())
