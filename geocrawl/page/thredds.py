"""Read catalogues of THREDDS (InvCatalog 1.0): the services of their data sets, and the catalogues within.

The address of a data set is its service's base and its own urlPath (THREDDS Client Catalog Specification, "Constructing
Access URLs"); the service is named by the data set or inherited from those around it. A folder may have thousands of
data sets of one kind (a file for each hour), so of more than `MOST_SETS` a sample is read, and each of its links says
of how many.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from lxml import etree

from geocrawl.formats.xml import XLINK_HREF, child, children, first_text, namespace_of
from geocrawl.page.content import MAX_HREF_CHARS, RawLink
from geocrawl.page.metadata import link
from geocrawl.urls import RECORDS

SIGNAL = "thredds"
MOST_SETS = 50
"""Most data sets of one folder whose services are asked; the sample is spread evenly."""
_NAMESPACE = "unidata.ucar.edu/namespaces/thredds"
_KINDS = {"wms": "wms", "wcs": "wcs"}
"""Service type in lower case → kind. The other types (OPENDAP, HTTPServer, NetcdfSubset) are no services of maps."""
_MOST_CATALOGUES = 1_000
"""Most catalogues within one that are read."""
_T = TypeVar("_T")


def is_thredds(root: etree._Element) -> bool:
    """Return whether a root element is that of a THREDDS catalogue."""
    return _NAMESPACE in namespace_of(root)


def read_thredds(root: etree._Element) -> Iterator[RawLink]:
    """Yield links to the catalogues within, then to the WMS and WCS of the data sets."""
    for inner in islice(root.iter("{*}catalogRef"), _MOST_CATALOGUES):
        title = inner.get(XLINK_HREF.replace("href", "title")) or inner.get("name") or ""
        yield RawLink(_escaped(inner.get(XLINK_HREF) or ""), RECORDS, title[:300])
    services = dict(_services(root))
    folders: dict[etree._Element, list[tuple[etree._Element, list[tuple[str, str]]]]] = defaultdict(list)
    for dataset in root.iter("{*}dataset"):
        above = dataset.getparent()
        if above is not None and (found := list(_addresses(dataset, services))):
            folders[above].append((dataset, found))
    for folder, datasets in folders.items():
        sample = _sample(datasets)
        told = f"{len(sample)} of {len(datasets):,} data sets" if len(sample) < len(datasets) else ""
        for dataset, found in sample:
            for kind, href in found:
                names = [dataset.get("name") or "", folder.get("name") or "", told]
                yield link(
                    href, SIGNAL, names=names, descriptions=[first_text(child(dataset, "documentation"))], kind=kind
                )


def _services(root: etree._Element) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each service's name with the kinds and bases of maps that it, or those compounded in it, have."""
    for service in root.iter("{*}service"):
        parts = (service, *service.iterdescendants("{*}service"))
        kinds = ((_KINDS.get((part.get("serviceType") or "").lower()), part.get("base") or "") for part in parts)
        yield service.get("name") or "", [(kind, base) for kind, base in kinds if kind is not None]


def _addresses(dataset: etree._Element, services: Mapping[str, list[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    """Yield kind and address of each map service of a data set: by its own path, or by `access` elements."""
    ways = [(dataset.get("urlPath") or "", _service_of(dataset))]
    ways += [(each.get("urlPath") or "", each.get("serviceName") or "") for each in children(dataset, "access")]
    for path, name in ways:
        for kind, base in services.get(name, ()) if path and len(path) < MAX_HREF_CHARS else ():
            yield kind, _escaped(base + path)


def _service_of(dataset: etree._Element) -> str:
    """Return the name of a data set's service, which metadata marked as inherited hand down."""
    own = child(dataset, "serviceName")
    own = child(dataset, "metadata", "serviceName") if own is None else own
    if own is not None or dataset.get("serviceName"):
        return first_text(own) or dataset.get("serviceName") or ""
    for above in dataset.iterancestors():
        for metadata in children(above, "metadata"):
            if metadata.get("inherited") == "true" and (name := first_text(child(metadata, "serviceName"))):
                return name
    return ""


def _sample(items: Sequence[_T]) -> list[_T]:
    step = max(len(items) / MOST_SETS, 1.0)
    return [items[int(number * step)] for number in range(min(len(items), MOST_SETS))]


def _escaped(address: str) -> str:
    return address.strip().replace(" ", "%20")
