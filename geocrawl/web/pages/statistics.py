"""Show the whole catalogue in numbers: kinds, countries, software, versions, survival."""

from __future__ import annotations

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from geocrawl.charts.svg import curve, curves, steps
from geocrawl.store import Connection
from geocrawl.store.read.history import Survival, read_survival
from geocrawl.store.read.statistics import (
    Growth,
    KindCount,
    SoftwareGrowth,
    Statistics,
    kind_counts,
    read_growth,
    read_software_growth,
    read_statistics,
)
from geocrawl.web.negotiation import wanted_language
from geocrawl.web.pages.operations import growth_curve
from geocrawl.web.site import page, site_of
from geocrawl.web.wording import Words
from geocrawl.wording import day_of

_MOST_BARS = 15
_PARTS = 120


async def statistics(request: Request) -> Response:
    """Return the page."""

    def question(
        connection: Connection,
    ) -> tuple[list[KindCount], Statistics, Survival, Growth | None, SoftwareGrowth | None]:
        growth = read_growth(connection, _PARTS), read_software_growth(connection, _PARTS)
        return kind_counts(connection), read_statistics(connection), read_survival(connection), *growth

    site = site_of(request)
    kinds, counts, survival, growth, software = await site.reader.read(question)
    facets = (await site.finder.whole()).facets
    words = Words(wanted_language(request))
    values = {
        "kind_counts": kinds,
        "kinds": [(each.kind.upper(), each.services) for each in kinds],
        "countries": [(each.label or each.value, each.count) for each in facets.get("country", ())][:_MOST_BARS],
        "software": [(name or words("software-unknown"), count) for name, count in counts.software][:_MOST_BARS],
        "software_versions": [(f"{name} {version}", count) for name, version, count in counts.software_versions][
            :_MOST_BARS
        ],
        "software_curves": _software_curves(software, words),
        "versions": [(f"{kind.upper()} {version}".strip(), count) for kind, version, count in counts.versions][
            :_MOST_BARS
        ],
        "deviations": list(counts.deviations)[:_MOST_BARS],
        "health": [(words(f"health-{name}"), count) for name, count in counts.health],
        "survival": survival,
        "survival_curve": _survival_curve(survival, words),
        "growth_curve": growth_curve(growth, words("growth")),
    }
    return page(request, "statistics.html", values)


def _software_curves(growth: SoftwareGrowth | None, words: Words) -> Markup:
    """Return a curve of known services over time for each server software, the commonest ones."""
    named = [(name or words("software-unknown"), counts) for name, counts in growth.known] if growth else []
    ends = (day_of(growth.start), day_of(growth.end)) if growth else ("", "")
    most = f"{max(named[0][1]):,}" if named else ""
    return curves(named, words("software-over-time"), x_labels=ends, most_label=most)


def _survival_curve(survival: Survival, words: Words) -> Markup:
    """Return the curve as steps, to the day on which the longest watched endpoint was last probed."""
    end = max(survival.observed_days, survival.curve[-1][0], 1.0)
    labels = ("0", f"{end:.0f} {words('days')}")
    return curve(steps(survival.curve, end), words("survival"), x_labels=labels, most=1.0, most_label="100%")
