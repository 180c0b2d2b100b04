"""Addresses: reading them as browsers do, telling when two are one, and which are not worth a visit.

Everything here is pure and goes by the URL alone, never by the order in which URLs arrive, so a crawl run to its end
gives the same catalogue in whatever order it ran. `reading` makes the two texts of a `Url`, with `hosts` for the part
before the path; `endpoints` frees a service's address of the parameters of one request, `services` finds the
service that a layer, an item or a tile lies beneath; `stop` and `traps` say which
addresses are refused. Lists of names stand as data in `geocrawl/data`, never in code.
"""

from geocrawl.urls.catalogues import CKAN_SEARCH, arcgis_search_url, ckan_search_url
from geocrawl.urls.endpoints import capabilities_url, endpoint_address, endpoint_key, query_parameters, request_url
from geocrawl.urls.families import differences, family, plainness
from geocrawl.urls.hosts import is_registry, site_of
from geocrawl.urls.lists import AddressRules, is_beneath
from geocrawl.urls.patterns import pattern_of, service_pattern
from geocrawl.urls.reading import read_url
from geocrawl.urls.records import RECORDS, get_records_url, records_page, records_start, records_url, with_parameters
from geocrawl.urls.services import service_endpoint, service_keys
from geocrawl.urls.stop import StopRules
from geocrawl.urls.traps import TrapGuard, query_group

__all__ = [
    "CKAN_SEARCH",
    "RECORDS",
    "AddressRules",
    "StopRules",
    "TrapGuard",
    "arcgis_search_url",
    "capabilities_url",
    "ckan_search_url",
    "differences",
    "endpoint_address",
    "endpoint_key",
    "family",
    "get_records_url",
    "is_beneath",
    "is_registry",
    "pattern_of",
    "plainness",
    "query_group",
    "query_parameters",
    "read_url",
    "records_page",
    "records_start",
    "records_url",
    "request_url",
    "service_endpoint",
    "service_keys",
    "service_pattern",
    "site_of",
    "with_parameters",
]
