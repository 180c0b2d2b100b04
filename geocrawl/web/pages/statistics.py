"""Show how the crawl goes (progress, queue, errors), and the whole catalogue in numbers (kinds, software, survival)."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.app.findings import queue_of, status_at
from geocrawl.model import State
from geocrawl.model.kinds import short_name
from geocrawl.query.places import country_name
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.web.answers import wanted_language
from geocrawl.web.charts import growth_curve, software_curves, survival_curve
from geocrawl.web.site import page, site_of
from geocrawl.web.texts import Words

_TIMES = 120
_MOST_QUEUE_BARS = 12


async def operations(request: Request) -> Response:
    """Return the page."""
    status, growth = await site_of(request).reader.read(
        lambda catalogue: (status_at(catalogue.place), catalogue.growth(_TIMES))
    )
    words = Words(wanted_language(request))
    values = {
        "status": status,
        "tiles": [
            ("services", words.number(status.services)),
            ("layers", words.number(status.layers)),
            ("alive", words.number(status.health.get("alive", 0))),
            ("visited", words.number(status.frontier.states.get(State.VISITED, 0))),
            ("waiting", words.number(sum(status.frontier.waiting_by_tier.values()))),
            ("hosts", words.number(status.frontier.hosts)),
            ("size", f"{status.size.used_bytes / 2**20:,.1f} MiB"),
        ],
        "harvest": growth_curve(growth, words("harvest-curve")),
        "queue": queue_of(status.frontier, {}),
        "states": [(words(f"state-{name}"), count) for name, count in status.frontier.states.items() if count],
        "reasons": list(status.reasons.items())[:_MOST_QUEUE_BARS],
        "refused": list(status.refused.items())[:_MOST_QUEUE_BARS],
    }
    return page(request, "operations.html", values)


# --------------------------------------------------------------------------- the whole catalogue

_MOST_BARS = 15


async def statistics(request: Request) -> Response:
    """Return the page."""
    site = site_of(request)
    read = site.reader.read
    kinds, counts, survival, software = await asyncio.gather(  # each looks through all services
        read(Catalogue.kind_counts),
        read(Catalogue.statistics),
        read(Catalogue.survival),
        read(lambda catalogue: catalogue.software_growth(_TIMES)),
    )
    facets = (await site.finder.whole()).facets
    words = Words(wanted_language(request))
    at_the_end = software.counts if software else ()
    values = {
        "kind_counts": kinds,
        "kinds": [(short_name(each.kind), each.services) for each in kinds],
        "countries": [
            (country_name(each.value, words.language), each.count) for each in facets.get("country", ())[:_MOST_BARS]
        ],
        "software": [(name or words("software-unknown"), count) for name, count in at_the_end][:_MOST_BARS],
        "software_versions": [(f"{name} {version}", count) for name, version, count in counts.software_versions][
            :_MOST_BARS
        ],
        "software_curves": software_curves(software, words("software-over-time"), words("software-unknown")),
        "versions": [(f"{short_name(kind)} {version}".strip(), count) for kind, version, count in counts.versions][
            :_MOST_BARS
        ],
        "deviations": list(counts.deviations)[:_MOST_BARS],
        "health": [(words(f"health-{each.value}"), each.count) for each in facets.get("health", ())],
        "survival": survival,
        "survival_curve": survival_curve(survival, words("survival"), lambda days: f"{days} {words('days')}"),
        "growth_curve": growth_curve(software.of_all if software else None, words("growth")),
    }
    return page(request, "statistics.html", values)
