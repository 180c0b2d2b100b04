"""Whether two endpoints are one service, by what they say of themselves and how their addresses differ.

The same document at two addresses of one site is evidence when there is enough in it to tell services apart; a title
never is, and neither is a document of few items or of the data that map servers are delivered with: many servers have
the same. Where addresses differ only in their spelling (`www.`, the case of a path), less is asked for.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from geocrawl.model import Service
from geocrawl.urls import site_of, spelling_differences

TELLING_ITEMS = 3
"""Named items below which a document says too little to tell one service from another."""
_SAMPLE_DATA = ("topp:", "tiger:", "sf:", "nurc:", "cite:", "cgf:", "spearfish", "tike:", "ne:")
"""Beginnings of names in the data that GeoServer is delivered with."""
_SAYS_NOTHING = re.compile(r"\A(?:layer|default|test|group|map)?[ _-]?[0-9]*\Z", re.IGNORECASE)

SIGNALS = ("person", "document", "host", "path", "port", "node", "layers")
"""Why two endpoints are one service, the strongest first."""


@dataclass(frozen=True, slots=True)
class Description:
    """What an endpoint said of itself when it was last valid, as far as it tells services apart."""

    endpoint_id: int
    key: str
    kind: str
    family: str
    fingerprint: str
    """Of the whole description without addresses (`Service.fingerprint`)."""
    items: str
    """Hash of the provider and the names of the items."""
    telling: int
    """Named items that can tell services apart."""
    calls_itself: str
    """Host of the online resource that it names; ''."""
    provider: str


@dataclass(frozen=True, slots=True)
class Likeness:
    """Why two endpoints are one service."""

    signal: str
    """One of `SIGNALS`."""
    detail: str
    """A sentence for people."""


def items_hash(service: Service) -> str:
    """16 hexadecimal digits over the provider and the names of all items, in any order; '' without items."""
    names = sorted({layer.name for layer in service.layers if layer.name})
    text = json.dumps([service.provider, names], ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:16] if names else ""


def telling_items(service: Service) -> int:
    """How many named items there are that few other services have."""
    found = {(layer.name, layer.title) for layer in service.layers if layer.name and _tells(layer.name, layer.title)}
    return len(found)


def host_of(address: str) -> str:
    """Host of an address that a document names, lower case; '' when it has none."""
    try:
        return (urlsplit(address.strip()).hostname or "").lower()
    except ValueError:
        return ""


def likeness(one: Description, other: Description) -> Likeness | None:
    """Why these two are one service; None when nothing says so. The same for both orders."""
    if one.kind != other.kind:
        return None
    same_document = bool(one.fingerprint) and one.fingerprint == other.fingerprint
    is_telling = min(one.telling, other.telling) >= TELLING_ITEMS
    if one.family == other.family:
        return _in_family(one, other, same_document, is_telling)
    if not (same_document and is_telling):
        return None
    if _one_place(one, other):
        return Likeness("document", f"the same document with {one.telling} items of its own, on one site")
    if one.calls_itself and one.calls_itself == other.calls_itself in (_host(one), _host(other)):
        return Likeness("document", f"the same document with {one.telling} items; both say they are {one.calls_itself}")
    return None


def _in_family(one: Description, other: Description, same_document: bool, is_telling: bool) -> Likeness | None:
    """The addresses differ in their spelling only. Nodes and ports may be other servers, so they must say more."""
    differ = spelling_differences(one.key, other.key)
    may_be_others = bool({"node", "port"} & set(differ))
    named = " and ".join(differ)
    signal = differ[-1] if differ else "path"
    if same_document and (is_telling or not may_be_others):
        return Likeness(signal, f"the same document, and the addresses differ in {named} only")
    if is_telling and one.items and one.items == other.items:
        least = min(one.telling, other.telling)
        return Likeness("layers", f"the same {least} items and provider, and the addresses differ in {named} only")
    return None


def _one_place(one: Description, other: Description) -> bool:
    """One host; or hosts of one site, when the provider is named."""
    host, host_2 = _host(one), _host(other)
    return host == host_2 or (bool(one.provider) and site_of(host) == site_of(host_2))


def _host(description: Description) -> str:
    authority = description.key.partition("/")[0]
    host, colon, port = authority.rpartition(":")
    return host.strip("[]") if colon and not port.endswith("]") else authority.strip("[]")


def _tells(name: str, title: str) -> bool:
    if name.lower().startswith(_SAMPLE_DATA):
        return False
    return not (_SAYS_NOTHING.match(name.strip()) and _SAYS_NOTHING.match(title.strip()))
