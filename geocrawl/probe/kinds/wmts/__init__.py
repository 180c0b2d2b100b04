"""Probe the OGC Web Map Tile Service (WMTS), version 1.0.0."""

from geocrawl.probe.kinds.wmts.content import check_content, preview
from geocrawl.probe.kinds.wmts.probe import KIND, interview

__all__ = ["KIND", "check_content", "interview", "preview"]
