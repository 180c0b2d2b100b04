"""Show the first page: what the catalogue holds, its newest services, news, and a map that leads to services."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.model.search import Results
from geocrawl.web.charts import coverage, map_squares
from geocrawl.web.reader import Finder
from geocrawl.web.site import page, site_of

MOST_NEWS = 12
MOST_COUNTS = {"kind": 20, "country": 12, "provider": 12, "health": 6}
_SQUARE_DEG = 10
"""Side of the squares of the map; each square leads to the services there."""
_MOST_TOPICS = 3


async def overview(request: Request) -> Response:
    """Return the first page: what this catalogue holds, counted in services as the search counts them."""
    site = site_of(request)
    layers, news, watched = await site.reader.read(
        lambda catalogue: (catalogue.layer_count(), catalogue.news(MOST_NEWS), catalogue.watched_count())
    )
    whole = await site.finder.whole()
    counts, _, worldwide = coverage(await site.finder.extents(), _SQUARE_DEG)
    values = {
        # Its link finds those that span most of the world, too; they would darken every square alike.
        "squares": [
            {"x": west, "y": -north, "count": count + worldwide, "shade": shade, "chosen": {"bbox": _box(west, north)}}
            for west, north, count, shade in map_squares(counts)
        ],
        "worldwide": worldwide,
        "services": whole.services,
        "layers": layers,
        "counts": {name: whole.facets.get(name, ())[:most] for name, most in MOST_COUNTS.items()},
        "newest": whole.hits,
        "examples": await _examples(site.finder, whole),
        "news": news,
        "watched": watched,
    }
    return page(request, "landing.html", values)


def _box(west: int, north: int) -> str:
    """Return the extent of a square of the map."""
    return f"{west},{north - _SQUARE_DEG},{west + _SQUARE_DEG},{north}"


async def _examples(finder: Finder, whole: Results) -> list[str]:
    """Return queries that find something in this catalogue: its commonest kind and country, and topics of it."""
    kinds, countries = ([each.value for each in whole.facets.get(name, ())[:1]] for name in ("kind", "country"))
    conditions = [f"{name}:{value}" for name, values in (("kind", kinds), ("country", countries)) for value in values]
    return [*await finder.topics(_MOST_TOPICS), *conditions]
