"""Read map contexts: Web Map Context documents (OGC 05-005) and OWS Context in Atom (OGC 12-084r2)."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from geocrawl.formats.elements import XLINK_HREF, child, first, first_text, local_name
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link
from geocrawl.page.protocols import kind_of_protocol


def read_web_map_context(root: etree._Element) -> Iterator[RawLink]:
    """Yield the servers of a ViewContext's layers (OGC 05-005, 7.5.1), with each layer's title as anchor."""
    for layer in root.iter("{*}Layer"):
        server = child(layer, "Server")
        resource = first(server, "OnlineResource") if server is not None else None
        href = (resource.get(XLINK_HREF) or resource.get("href") or "") if resource is not None else ""
        if server is None or not href:
            continue
        service = server.get("service") or ""
        names = [first_text(child(layer, "Title")), server.get("title") or "", service]
        abstract = first_text(child(layer, "Abstract"))
        yield link(href, "wmc", names=names, descriptions=[abstract], kind=kind_of_protocol(service))


def read_ows_context(root: etree._Element) -> Iterator[RawLink]:
    """Yield the operations of an Atom feed's offerings (OGC 12-084r2, 6.7); an offering's code names the kind."""
    for offering in root.iter("{*}offering"):
        entry = next((above for above in offering.iterancestors() if local_name(above) == "entry"), offering)
        kind = kind_of_protocol(offering.get("code") or "")
        for operation in offering.iter("{*}operation"):
            if (operation.get("method") or "GET").upper() == "GET" and (href := operation.get("href")):
                names = [first_text(child(entry, "title")), operation.get("code") or ""]
                descriptions = [first_text(child(entry, "publisher")), first_text(child(entry, "content"))]
                yield link(href, "owc", names=names, descriptions=descriptions, kind=kind)
