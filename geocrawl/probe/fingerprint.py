"""Tell by a hash when two services say the same of themselves."""

from __future__ import annotations

import hashlib
import json

from geocrawl.model import Service


def fingerprint(service: Service) -> str:
    """Return 32 hexadecimal digits over what a service describes: kind, title, abstract, layers' names and titles.

    No address is in them, so they are the same at two addresses of one service.
    """
    layers = [(layer.name, layer.title) for layer in service.layers]
    text = json.dumps([service.kind, service.title, service.abstract, layers], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
