"""Read web addresses as browsers do, normalise them, and decide which are not worth a visit.

Everything here is pure and decides by the URL alone, never by the order in which URLs arrive, so that a crawl run to
its end gives the same catalogue in any order. `reading` makes the two texts of a `Url`, with `hosts` for the part
before the path; `endpoints` removes the parameters of one request from a service's address, and finds the service that
a layer, an item or a tile belongs to; `stop` says which addresses are refused. Lists of names are data in
`geocrawl/data`, never code.
"""

from geocrawl.urls.endpoints import (
    below,
    capabilities_address,
    capabilities_url,
    document_endpoint,
    endpoint_key,
    query_parameters,
    request_url,
    server_key,
    service_endpoint,
    service_keys,
)
from geocrawl.urls.hosts import is_own_machine, is_private_name, is_registry, site_of
from geocrawl.urls.patterns import (
    display_order,
    folder_patterns,
    pattern_of,
    query_group,
    service_pattern,
    spelling_differences,
    spelling_group,
)
from geocrawl.urls.reading import read_url
from geocrawl.urls.records import (
    RECORDS,
    arcgis_search_url,
    ckan_search_url,
    following_page,
    get_records_url,
    is_oai,
    leads_to_records,
    list_url,
    listing_family,
    listing_url,
    oai_start,
    oai_url,
    records_page,
    records_start,
    records_url,
    with_parameters,
)
from geocrawl.urls.stop import AddressRules, StopRules, is_within_domains

__all__ = [
    "RECORDS",
    "AddressRules",
    "StopRules",
    "arcgis_search_url",
    "below",
    "capabilities_address",
    "capabilities_url",
    "ckan_search_url",
    "display_order",
    "document_endpoint",
    "endpoint_key",
    "folder_patterns",
    "following_page",
    "get_records_url",
    "is_oai",
    "is_own_machine",
    "is_private_name",
    "is_registry",
    "is_within_domains",
    "leads_to_records",
    "list_url",
    "listing_family",
    "listing_url",
    "oai_start",
    "oai_url",
    "pattern_of",
    "query_group",
    "query_parameters",
    "read_url",
    "records_page",
    "records_start",
    "records_url",
    "request_url",
    "server_key",
    "service_endpoint",
    "service_keys",
    "service_pattern",
    "site_of",
    "spelling_differences",
    "spelling_group",
    "with_parameters",
]
