"""Probe the OGC Web Map Service (WMS), versions 1.0.0 to 1.3.0."""

from geocrawl.probe.kinds.wms.content import check_content, preview
from geocrawl.probe.kinds.wms.declaration import KIND
from geocrawl.probe.kinds.wms.probe import interview

__all__ = ["KIND", "check_content", "interview", "preview"]
