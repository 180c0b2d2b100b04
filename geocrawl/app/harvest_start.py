"""Where a harvest begins: the first pages of records of the catalogue that a person names.

Known by its address are a CSW, CKAN's action API, an ArcGIS portal and a GeoNetwork; anything else is read as a page,
which leads on to its records when it turns out to be a catalogue (STAC, OGC API Records, DCAT, an ArcGIS folder, a page
of a CKAN), and is probed as well.
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
"""Parameters that choose among records; all others say how they are given."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What to ask first."""

    pages: tuple[Url, ...]
    kind: Kind | None = None
    """What the address is asked as besides; one of which nothing is known may be an OGC API that has records."""
    since: bool = False
    """Whether the catalogue is asked only for what was changed since a day."""

    @property
    def counted(self) -> bool:
        """Whether these are pages of records that are named by their number."""
        return any(records_page(page) is not None and "?" in page.address for page in self.pages)

    def holds(self, page: Url) -> bool:
        """Whether a page of records is one of this catalogue, asked for the same choice of records."""
        if not self.counted:
            return True
        return any(_choice(page) == _choice(first) for first in self.pages)


def beginning(url: Url, candidate: Candidate | None, *, since: str = "") -> Beginning:
    """The first pages of the catalogue at `url`; `candidate`: the service that its address names, if any.

    `since` (YYYY-MM-DD): only what was changed on that day or later, where the catalogue's interface can tell.
    """
    place, _, query = url.address.partition("?")
    if records_page(url) is not None and query and not since:
        return Beginning((url,))
    if candidate is not None and candidate.endpoint.kind is Kind.CSW:
        return Beginning((get_records_url(url, since=since),), Kind.CSW, since=bool(since))
    if found := _GEONETWORK.match(place):
        csw = read_url(f"{found['root']}/srv/eng/csw")
        return Beginning((get_records_url(csw or url, since=since),), since=bool(since))
    for pattern, search in ((_CKAN, ckan_search_url), (_PORTAL, arcgis_search_url)):
        found = pattern.match(place)
        first = search(found["root"], since=since) if found else None
        if first is not None:
            return Beginning((first,), since=bool(since))
    return Beginning((url,), candidate.endpoint.kind if candidate is not None else Kind.OGCAPI)


def _choice(url: Url) -> tuple[str, frozenset[tuple[str, str]]]:
    """Where a catalogue is asked, and which of its records."""
    named = {(name.lower(), value) for name, value in query_parameters(url)}
    return url.address.partition("?")[0], frozenset(pair for pair in named if pair[0] in _FILTERS)
