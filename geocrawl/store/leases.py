"""How long a host is held."""

from __future__ import annotations

from geocrawl.model import HostState
from geocrawl.settings import Settings

_REQUESTS_BUT_MAPS = 12
"""Of one turn, at most: robots.txt, redirects, a probe's interview."""


def lease_of_s(host: HostState, settings: Settings) -> float:
    """Seconds for which a host is held: a turn waits the delay before each request, and nobody may come between."""
    pace_s = settings.pace_s(host.name, host.crawl_delay_s)
    return max(settings.lease_s, pace_s * (settings.map_requests + _REQUESTS_BUT_MAPS))
