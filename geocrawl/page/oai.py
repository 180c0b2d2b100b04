"""Read OAI-PMH 2.0: from a repository's name to its formats, to the records in the best one, and on by tokens.

Of the formats the richest about services is asked: ISO 19139, ISO 19115-3, DCAT in RDF, else Dublin Core, which every
repository has (4.1). A resumption token is the only argument of the request for the next page (3.5.1); an empty one
marks the last page. Parameters that belong to the server (`mode=oaipmh`) stay.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from lxml import etree

from geocrawl.formats.xml import child, children, first_text, local_name
from geocrawl.model import Url
from geocrawl.page.content import MAX_HREF_CHARS, RawLink, of_records
from geocrawl.page.metadata import read_record, records_in
from geocrawl.page.rdf import read_rdf_xml
from geocrawl.urls import RECORDS, oai_url, query_parameters

_BEST = ("isotc211.org/2005/gmd", "iso19139", "19115", "dcat", "oai_dc")
"""Parts of a format's prefix or namespace, the best format first."""
_MOST_GRAPHS = 1_000
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}RDF"


def read_oai(root: etree._Element, url: Url) -> Iterator[RawLink]:
    """Yield the links of an answer's records, then the next request."""
    yield from of_records(read_record(record, "metadata") for record in records_in(root))
    for graph in islice(root.iter(_RDF), _MOST_GRAPHS):
        yield from read_rdf_xml(graph, url)
    following = _following(root, url)
    if following is not None:
        yield RawLink(following.address, RECORDS, rel="next")


EXCEPTION = "exception"
"""`Document.fault` of an error in place of records."""


def refuses_records(root: etree._Element, url: Url) -> bool:
    """Return whether an answer to ListRecords is an error (3.6), such as that of a token that has expired, and not
    that nothing has changed."""
    error = child(root, "error") if local_name(root).lower() == "oai-pmh" else None
    asks = {value.lower() for name, value in query_parameters(url) if name.lower() == "verb"}
    return error is not None and error.get("code") != "noRecordsMatch" and "listrecords" in asks


def _following(root: etree._Element, url: Url) -> Url | None:
    """Return the request that leads on: to formats, records, or the next page of records; None after the last one."""
    asks = {name.lower() for name, _ in query_parameters(url)}
    error = child(root, "error")
    is_bare = error is not None and error.get("code") == "badVerb" and "verb" not in asks
    if is_bare or child(root, "Identify") is not None:
        return oai_url(url, verb="ListMetadataFormats")
    if (formats := child(root, "ListMetadataFormats")) is not None:
        prefix = _best(formats)
        return oai_url(url, verb="ListRecords", metadataPrefix=prefix) if prefix else None
    token = first_text(child(root, "ListRecords", "resumptionToken"), MAX_HREF_CHARS)
    return oai_url(url, verb="ListRecords", resumptionToken=token) if token else None


def _best(formats: etree._Element) -> str:
    named = {
        first_text(child(each, "metadataPrefix")): first_text(child(each, "metadataNamespace")).lower()
        for each in children(formats, "metadataFormat")
    }
    for sign in _BEST:
        for prefix, namespace in named.items():
            if prefix and (sign in namespace or sign in prefix.lower()):
                return prefix
    return ""
