"""Compute a hash that is equal for two services with the same description."""

from __future__ import annotations

import hashlib
import json

from geocrawl.model import Service


def fingerprint(service: Service) -> str:
    """Return a hash, 32 hexadecimal digits, of a service's kind, title, abstract, and names and titles of layers.

    The hash includes no address, so it is the same at two addresses of one service.
    """
    layers = [(layer.name, layer.title) for layer in service.layers]
    text = json.dumps([service.kind, service.title, service.abstract, layers], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
