"""Read lists of data sets after DCAT in plain JSON: `data.json` of Project Open Data, and schema.org's DataCatalog."""

from __future__ import annotations

from collections.abc import Iterator

from geocrawl.formats.json_values import JsonObject, one_or_more, string_of
from geocrawl.model import Url
from geocrawl.page.addresses import address_in
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link
from geocrawl.page.protocols import kind_among

SIGNAL = "dcat"
_ADDRESSES = ("accessURL", "contentUrl", "endpointURL", "downloadURL", "accessUrl", "downloadUrl")
_FORMATS = ("format", "encodingFormat", "mediaType", "conformsTo")
_SHORT_TITLE = 24
"""A distribution's title of at most this many characters counts as the name of a format, if it names a kind."""


def read_datasets(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return links to the distributions of a list of data sets, or of one data set; None for any other document."""
    datasets = one_or_more(data.get("dataset")) or ([data] if "distribution" in data else [])
    if not any("distribution" in each or "landingPage" in each for each in datasets):
        return None
    return [found for dataset in datasets for found in _distributions(dataset)]


def _distributions(dataset: JsonObject) -> Iterator[RawLink]:
    title = string_of(dataset.get("title")) or string_of(dataset.get("name"))
    publisher = string_of(dataset.get("publisher"), "name")
    description = string_of(dataset.get("description"))
    for distribution in one_or_more(dataset.get("distribution")):
        own = string_of(distribution.get("title")) or string_of(distribution.get("name"))
        formats = [string_of(distribution.get(name)) for name in _FORMATS]
        kind = kind_among(*formats, own if len(own) <= _SHORT_TITLE else "")
        descriptions = [publisher, string_of(distribution.get("description")) or description]
        for name in _ADDRESSES:
            if href := address_in(string_of(distribution.get(name))):
                yield link(href, SIGNAL, names=[title, own, formats[0]], descriptions=descriptions, kind=kind)
    if href := address_in(string_of(dataset.get("landingPage"))):
        yield link(href, SIGNAL, names=[title], descriptions=[publisher, description], kind="")
