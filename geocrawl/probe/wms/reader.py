"""Read an answer to GetCapabilities as a WMS, or classify it by the code of its fault.

An answer is accepted as in the gws paper (Shen et al. 2015): the root is `WMS_Capabilities` or `WMT_MS_Capabilities`
and has `Service` and `Capability`, after tolerant reading. The HTTP status and the Content-Type are noted, not
believed: servers send exceptions with 200 and capabilities with 500.
"""

from __future__ import annotations

from dataclasses import replace

from lxml import etree

from geocrawl.formats.elements import child, local_name, namespace_of
from geocrawl.formats.xml_reader import Cut
from geocrawl.model import Deviation, Page
from geocrawl.probe.answer import Finding, answer_deviations, finding_without_body, rejection
from geocrawl.probe.fingerprint import fingerprint
from geocrawl.probe.ows import wms_service
from geocrawl.probe.ows.addresses import address_deviations
from geocrawl.probe.stream import STREAM_BYTES, Items, read_items
from geocrawl.probe.wms.layers import LayerFound, layer_spec, summed
from geocrawl.sanitize import ending_of

_NAMESPACE = "http://www.opengis.net/wms"
_ROOTS = {"wms_capabilities": "WMS_Capabilities", "wmt_ms_capabilities": "WMT_MS_Capabilities"}


def examine(page: Page, *, above: int = STREAM_BYTES) -> Finding:
    """Classify an answer; a body of more than `above` bytes is streamed. Never raises, whatever the body."""
    if (found := finding_without_body(page)) is not None:
        return found
    read = read_items(page.body, page.headers.get("content-type", ""), layer_spec(), cut=page.cut, above=above)
    root = read.reading.root
    if root is None or local_name(root).lower() not in _ROOTS:
        return rejection(page, read.reading)
    return _capabilities(page, root, read)


def _capabilities(page: Page, root: etree._Element, read: Items[LayerFound]) -> Finding:
    reading = read.reading
    if reading.cut is Cut.INSIDE:
        return Finding("truncated", ending_of(page.body), deviations=reading.deviations)
    missing = [part for part in ("Service", "Capability") if child(root, part) is None]
    if missing:
        return Finding("not-capabilities", f"{local_name(root)} without {' and '.join(missing)}")
    deviations = (
        *answer_deviations(page),
        *reading.deviations,
        *_root_deviations(root),
        *address_deviations(root, page.final),
    )
    layers, of_layers = summed(read.items)
    if reading.cut is Cut.OVER_LIMIT and not layers:
        return Finding("over-limit", "the limit was reached before the first layer", deviations=reading.deviations)
    service = replace(wms_service.read_service(root), version=wms_service.read_version(root) or _usual_version(root))
    service = replace(service, layers=layers)
    service = replace(service, fingerprint=fingerprint(service))
    return Finding("ok", "", service, (*deviations, *of_layers))


def _usual_version(root: etree._Element) -> str:
    return "1.3.0" if local_name(root).lower() == "wms_capabilities" else "1.1.1"


def _root_deviations(root: etree._Element) -> list[Deviation]:
    """Return departures in name, version and namespace (WMS 1.3.0, 7.2.4.1 and annex E; 1.1.1, annex A)."""
    found = []
    name, version = local_name(root), wms_service.read_version(root)
    if name != _ROOTS[name.lower()]:
        found.append(Deviation("root-case", name))
    if not version:
        found.append(Deviation("no-version", f"taken for {_usual_version(root)}"))
    if version and (name.lower() == "wms_capabilities") != version.startswith("1.3"):
        found.append(Deviation("root-name", f"{name} for version {version}"))
    expected = _NAMESPACE if (version or _usual_version(root)).startswith("1.3") else None
    namespace = namespace_of(root) or None
    if namespace != expected:
        code = "namespace-missing" if namespace is None else "namespace-wrong"
        found.append(Deviation(code, f"{namespace or 'none'} instead of {expected or 'none'}"))
    return found
