"""Match endpoints: decide from their descriptions and addresses whether two of them are one service.

The same document at two addresses of one site is evidence when it names enough distinctive items. A title is no
evidence, and neither is a document of few items, or of the sample data that map servers are shipped with: many servers
have the same. Where addresses differ only in their spelling (`www.`, the case of a path), less evidence is needed.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from geocrawl.model import Service
from geocrawl.urls import site_of, spelling_differences, spelling_group

DISTINCTIVE_ITEMS = 3
"""A document with fewer distinctive items is not enough to distinguish one service from another."""
_SAMPLE_DATA = ("topp:", "tiger:", "sf:", "nurc:", "cite:", "cgf:", "spearfish", "tike:", "ne:")
"""Beginnings of layer names in the sample data that GeoServer and other servers are shipped with."""
_GENERIC_NAME = re.compile(r"\A(?:layer|default|test|group|map)?[ _-]?[0-9]*\Z", re.IGNORECASE)

SIGNALS = ("person", "document", "host", "path", "port", "node", "layers")
"""Why two endpoints are one service, the strongest first."""


@dataclass(frozen=True, slots=True)
class Description:
    """A row of the table `description`: an endpoint's description of itself when it was last valid, for matching."""

    endpoint_id: int
    key: str
    kind: str
    family: str
    """`urls.spelling_group` of the key: addresses of one family may be spellings of one address."""
    fingerprint: str
    """Hash of the whole description without addresses (`Service.fingerprint`)."""
    items: str
    """Hash of the provider and the names of the items."""
    telling: int
    """How many of the items are distinctive (`_is_distinctive`)."""
    calls_itself: str
    """Host of the online resource that the document names; '' for none."""
    provider: str


@dataclass(frozen=True, slots=True)
class Match:
    """Why two endpoints are one service."""

    signal: str
    """One of `SIGNALS`."""
    detail: str
    """A sentence for people."""


def describe(endpoint_id: int, key: str, service: Service) -> Description:
    """Return the row of an endpoint that describes `service`."""
    return Description(
        endpoint_id=endpoint_id,
        key=key,
        kind=str(service.kind),
        family=spelling_group(key),
        fingerprint=service.fingerprint,
        items=_items_hash(service),
        telling=_count_distinctive(service),
        calls_itself=_host_of(service.online_resource),
        provider=service.provider.strip(),
    )


def _items_hash(service: Service) -> str:
    """Return 16 hexadecimal digits over the provider and the names of all items, in any order; '' without items."""
    names = sorted({layer.name for layer in service.layers if layer.name})
    text = json.dumps([service.provider, names], ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16] if names else ""


def _count_distinctive(service: Service) -> int:
    layers = {(layer.name, layer.title) for layer in service.layers if layer.name}
    return sum(_is_distinctive(name, title) for name, title in layers)


def _host_of(address: str) -> str:
    """Return the host of an address that a document names, in lower case; '' when it has none."""
    try:
        return (urlsplit(address.strip()).hostname or "").lower()
    except ValueError:
        return ""


def match(one: Description, other: Description) -> Match | None:
    """Return the signal by which two endpoints are one service; None without one. Their order does not matter."""
    if one.kind != other.kind:
        return None
    same_document = bool(one.fingerprint) and one.fingerprint == other.fingerprint
    says_enough = min(one.telling, other.telling) >= DISTINCTIVE_ITEMS
    if one.family == other.family:
        return _match_in_family(one, other, same_document, says_enough)
    if not (same_document and says_enough):
        return None
    if _same_place(one, other):
        return Match("document", f"the same document with {one.telling} items of its own, on one site")
    if one.calls_itself and one.calls_itself == other.calls_itself in (_host(one), _host(other)):
        return Match("document", f"the same document with {one.telling} items; both say they are {one.calls_itself}")
    return None


def _match_in_family(one: Description, other: Description, same_document: bool, says_enough: bool) -> Match | None:
    """Match two addresses that differ in their spelling only. Another node or port may be another server, so more of
    its document has to agree."""
    differ = spelling_differences(one.key, other.key)
    may_be_others = bool({"node", "port"} & set(differ))
    named = " and ".join(differ)
    signal = differ[-1] if differ else "path"
    if same_document and (says_enough or not may_be_others):
        return Match(signal, f"the same document, and the addresses differ in {named} only")
    if says_enough and one.items and one.items == other.items:
        least = min(one.telling, other.telling)
        return Match("layers", f"the same {least} items and provider, and the addresses differ in {named} only")
    return None


def _same_place(one: Description, other: Description) -> bool:
    """Return whether both are on one host, or on hosts of one site by a provider that is named."""
    one_host, other_host = _host(one), _host(other)
    return one_host == other_host or (bool(one.provider) and site_of(one_host) == site_of(other_host))


def _host(description: Description) -> str:
    authority = description.key.partition("/")[0]
    host, colon, port = authority.rpartition(":")
    return host.strip("[]") if colon and not port.endswith("]") else authority.strip("[]")


def _is_distinctive(name: str, title: str) -> bool:
    """Return whether few other services have an item of this name."""
    if name.lower().startswith(_SAMPLE_DATA):
        return False
    return not (_GENERIC_NAME.match(name.strip()) and _GENERIC_NAME.match(title.strip()))
