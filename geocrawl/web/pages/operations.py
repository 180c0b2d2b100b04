"""Show how the crawl goes: progress, harvest, queue, hosts, errors, what is next."""

from __future__ import annotations

import time
from collections.abc import Sequence

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from geocrawl.charts.svg import curve
from geocrawl.model import State
from geocrawl.priority.registry import tier_names
from geocrawl.store import Connection
from geocrawl.store.read.statistics import Growth, read_growth
from geocrawl.store.read.status import CatalogStatus, read_status
from geocrawl.web.negotiation import wanted_language
from geocrawl.web.site import page, site_of
from geocrawl.web.wording import Words
from geocrawl.wording import day_of

_PARTS = 120
_MOST_BARS = 12


async def operations(request: Request) -> Response:
    """Return the page."""

    def question(connection: Connection) -> tuple[CatalogStatus, Growth | None]:
        return read_status(connection, time.time()), read_growth(connection, _PARTS)

    status, growth = await site_of(request).reader.read(question)
    words = Words(wanted_language(request))
    values = {
        "status": status,
        "tiles": _tiles(status, words),
        "harvest": growth_curve(growth, words("harvest-curve")),
        "tiers": _tiers(status),
        "states": [(words(f"state-{name}"), count) for name, count in status.frontier.states.items() if count],
        "reasons": list(status.reasons.items())[:_MOST_BARS],
        "refused": list(status.refused.items())[:_MOST_BARS],
    }
    return page(request, "maintenance.html", values)


def growth_curve(growth: Growth | None, title: str) -> Markup:
    """Return the curve of known services over time."""
    if growth is None:
        return curve([], title, x_labels=("", ""), most=1, most_label="")
    points = [(float(part), float(count)) for part, count in enumerate((0, *growth.known))]
    ends = (day_of(growth.start), day_of(growth.end))
    return curve(points, title, x_labels=ends, most=growth.known[-1], most_label=f"{growth.known[-1]:,}")


def _tiles(status: CatalogStatus, words: Words) -> Sequence[tuple[str, str]]:
    frontier = status.frontier
    return [
        ("services", words.number(status.services)),
        ("layers", words.number(status.layers)),
        ("alive", words.number(status.health.get("alive", 0))),
        ("visited", words.number(frontier.states.get(State.VISITED, 0))),
        ("waiting", words.number(sum(frontier.waiting_by_tier.values()))),
        ("hosts", words.number(frontier.hosts)),
        ("size", f"{status.size.used_bytes / 2**20:,.1f} MiB"),
    ]


def _tiers(status: CatalogStatus) -> list[tuple[str, int]]:
    names = tier_names(status.strategy or "")
    return [
        (f"{tier} {names.get(tier, '')}".strip(), count) for tier, count in status.frontier.waiting_by_tier.items()
    ][:_MOST_BARS]
