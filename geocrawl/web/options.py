"""Define the options of `geocrawl serve`, and the limits on requests."""

from __future__ import annotations

from dataclasses import dataclass

from geocrawl.settings import DEFAULT_PROXIES
from geocrawl.urls.database import DatabaseUrl


@dataclass(frozen=True, slots=True)
class Options:
    """The options of `geocrawl serve`."""

    path: DatabaseUrl
    """Where the catalogue is."""
    host: str = "127.0.0.1"
    port: int = 8080
    public_url: str = ""
    """Address under which the public sees the root of the pages, such as https://maps.example.org/catalogue; '' for the
    address that a request names."""
    requests_per_minute: int = 600
    """Most requests of one client, on average; 0: no limit."""
    preview: bool = True
    """Show layers live, by requests to their servers."""
    mail: str = ""
    """Whom harvesters may write to; '' for nobody."""
    trusted_proxies: tuple[str, ...] = DEFAULT_PROXIES
    """Addresses and networks of reverse proxies whose X-Forwarded-For names the client."""
    base_map: str = ""
    """Address of the tiles of the base map, with {z}, {x} and {y}; '' for the shipped one."""
    base_map_credit: str = ""
    """Whom the pages name for the base map."""


MAX_URL_CHARS = 8_000
"""Longest path and query of a request."""
MAX_AT_ONCE = 256
"""Most requests that are answered at a time; further ones get status 503."""
MAX_AT_ONCE_OF_CLIENT = 64
"""Most of one client, so that none that reads slowly takes all places."""
ANSWER_S = 30.0
"""Seconds after which a request without an answer gets status 503."""
IDLE_S = 15
"""Seconds after which a connection without a request, or with an unfinished head of one, is closed."""
