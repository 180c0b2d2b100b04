"""Addresses: reading them as browsers do, telling when two are one, and which are not worth a visit.

Everything here is pure and goes by the URL alone, never by the order in which URLs arrive, so a crawl run to its end
gives the same catalogue in whatever order it ran. `reading` makes the two texts of a `Url`, with `hosts` for the part
before the path; `endpoints` frees a service's address of the parameters of one request; `stop` and `traps` say which
addresses are refused. Lists of names stand as data in `geocrawl/data`, never in code.
"""

from geocrawl.urls.endpoints import capabilities_url, endpoint_address, endpoint_key, query_parameters, request_url
from geocrawl.urls.hosts import site_of
from geocrawl.urls.reading import read_url
from geocrawl.urls.stop import StopRules
from geocrawl.urls.traps import TrapGuard, query_group

__all__ = [
    "StopRules",
    "TrapGuard",
    "capabilities_url",
    "endpoint_address",
    "endpoint_key",
    "query_group",
    "query_parameters",
    "read_url",
    "request_url",
    "site_of",
]
