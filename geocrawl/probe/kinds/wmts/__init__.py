"""Probe the OGC Web Map Tile Service (WMTS), version 1.0.0."""

from geocrawl.probe.kinds.wmts.content import CONTENT_CHECK, PREVIEW
from geocrawl.probe.kinds.wmts.probe import KIND, PROBE

__all__ = ["CONTENT_CHECK", "KIND", "PREVIEW", "PROBE"]
