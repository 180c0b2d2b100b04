"""Read answers of a catalogue service (CSW 2.0.2, 3.0): its records as links, and the request for the next page.

Some servers would cause endless loops: after the last page nextRecord is 0, as the standard requires (OGC 07-006r1,
table 66), or 1, or the start of the same page, or larger than the last record's number. So a next page is requested
only when it begins after the current page and before the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from lxml import etree

from geocrawl.formats.elements import child, children, local_name, namespace_of
from geocrawl.model import Url
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import read_record, records_in
from geocrawl.page.rdf import MAX_CHARS, read_rdf_xml
from geocrawl.urls import RECORDS, get_records_url, query_parameters, records_start, records_url, with_parameters

ISO_19139 = "http://www.isotc211.org/2005/gmd"
SIGNAL = "csw-record"
ANSWERS = frozenset({"GetRecordsResponse", "GetRecordByIdResponse"})
_CATALOGUE = "www.opengis.net/cat/csw/"
_MAX_GRAPHS = 1_000
"""Most RDF records read of one answer: a page has ten to a hundred, and even an empty graph takes 0.1 ms."""
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}RDF"


def read_answer(root: etree._Element, url: Url) -> list[RawLink]:
    """Return the links of a GetRecords or GetRecordById answer: those of its records, then the next page."""
    links = [found for record in records_in(root) for found in read_record(record, SIGNAL)]
    results = child(root, "SearchResults")
    for each in _graphs(results):
        links += read_rdf_xml(each, url)
    following = _next_page(results, url, has_links=bool(links)) if results is not None else None
    return [*links, RawLink(following.address, RECORDS)] if following is not None else links


def _graphs(results: etree._Element | None) -> Iterator[etree._Element]:
    """Yield the RDF records (outputSchema DCAT), in total at most as long as one RDF document may be."""
    chars = 0
    graphs = (each for each in children(results) if _RDF in str(each.tag))
    for each in islice(graphs, _MAX_GRAPHS):
        chars += len(etree.tostring(each))
        if chars > MAX_CHARS:
            return
        yield each


def read_capabilities(root: etree._Element, url: Url) -> list[RawLink]:
    """Return a link to a catalogue's first page of records, from its capabilities; [] for other documents."""
    if local_name(root) != "Capabilities" or _CATALOGUE not in namespace_of(root):
        return []
    return [RawLink(get_records_url(url, version=root.get("version", "2.0.2")).address, RECORDS)]


def _next_page(results: etree._Element, url: Url, *, has_links: bool) -> Url | None:
    """Return the request for the next page of records; None after the last page.

    When the records name no address at all (`has_links` is false), which Dublin Core often omits, the same page in ISO
    19139 is requested first.
    """
    start = records_start(url)
    if start is None:
        return None
    present = sum(1 for _ in children(results))
    returned = _number(results.get("numberOfRecordsReturned"), present)
    matched = _number(results.get("numberOfRecordsMatched"), None)
    if not present or not returned:
        return None
    if not has_links and start == 0 and not _asks_for_iso(url):
        return with_parameters(url, {"outputSchema": ISO_19139, "typeNames": "gmd:MD_Metadata", **_ISO_NAMESPACE})
    following = (_number(results.get("nextRecord"), start + returned + 1) or 0) - 1
    if following <= start or (matched is not None and following >= matched):
        return None
    return records_url(url, following, rows=returned)


_ISO_NAMESPACE = {"NAMESPACE": f"xmlns(gmd={ISO_19139})"}


def _asks_for_iso(url: Url) -> bool:
    return any(name.lower() == "outputschema" and value == ISO_19139 for name, value in query_parameters(url))


def _number(text: str | None, default: int | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 12 else default
