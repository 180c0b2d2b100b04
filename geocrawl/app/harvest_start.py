"""Find where a harvest starts: the first pages of records of the catalogue that a person names.

A CSW, CKAN's action API, an ArcGIS portal and a GeoNetwork are recognised by their address. Any other address is probed
and read as a page, which leads on to its records if it is a catalogue (STAC, OGC API Records, DCAT, an ArcGIS folder, a
page of a CKAN).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from geocrawl.model import Candidate, Kind, Url
from geocrawl.urls import (
    arcgis_search_url,
    ckan_search_url,
    get_records_url,
    query_parameters,
    read_url,
    records_page,
)

_CKAN = re.compile(r"(?P<root>.*?)/api/(?:\d/)?action(?:/|\Z)", re.I)
_PORTAL = re.compile(r"(?P<root>.*?)/sharing(?:/rest)?(?:/|\Z)", re.I)
_GEONETWORK = re.compile(r"(?P<root>.*?)/srv(?:/|\Z)", re.I)

_FILTERS = frozenset({"constraint", "fq", "q", "datefrom", "any", "map"})
"""Query parameters that select records; all others select the format."""


@dataclass(frozen=True, slots=True)
class HarvestStart:
    """The addresses with which a harvest of one catalogue starts."""

    pages: tuple[Url, ...]
    kind: Kind | None = None
    """What kind of service the catalogue's address is probed as; None: not at all."""
    since: bool = False
    """Whether the pages ask only for records changed since a day."""

    @property
    def is_counted(self) -> bool:
        """Return whether the addresses of these pages of records contain a number from which the next address is
        computed."""
        return any(records_page(page) is not None and "?" in page.address for page in self.pages)

    def holds(self, page: Url) -> bool:
        """Return whether a page of records belongs to this catalogue and to the same selection of records."""
        if not self.is_counted:
            return True
        return any(_choice(page) == _choice(first) for first in self.pages)


def find_start(url: Url, candidate: Candidate | None, *, since: str = "") -> HarvestStart:
    """Return the first pages of the catalogue at `url`; `candidate`: the service that its address names, if any.

    `since` (YYYY-MM-DD): request only records changed on that day or later, where the catalogue's interface can filter.
    """
    place, _, query = url.address.partition("?")
    if records_page(url) is not None and query and not since:
        return HarvestStart((url,))
    if candidate is not None and candidate.endpoint.kind is Kind.CSW:
        return HarvestStart((get_records_url(url, since=since),), Kind.CSW, since=bool(since))
    if found := _GEONETWORK.match(place):
        csw = read_url(f"{found['root']}/srv/eng/csw")
        return HarvestStart((get_records_url(csw or url, since=since),), since=bool(since))
    for pattern, search in ((_CKAN, ckan_search_url), (_PORTAL, arcgis_search_url)):
        found = pattern.match(place)
        first = search(found["root"], since=since) if found else None
        if first is not None:
            return HarvestStart((first,), since=bool(since))
    # Nothing else is known of the address: it may be an OGC API that has records.
    return HarvestStart((url,), candidate.endpoint.kind if candidate is not None else Kind.OGCAPI)


def _choice(url: Url) -> tuple[str, frozenset[tuple[str, str]]]:
    """Return a catalogue's address, and the parameters that select records."""
    named = {(name.lower(), value) for name, value in query_parameters(url)}
    return url.address.partition("?")[0], frozenset(pair for pair in named if pair[0] in _FILTERS)
