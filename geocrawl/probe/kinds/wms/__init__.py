"""Probe the OGC Web Map Service (WMS), versions 1.0.0 to 1.3.0."""

from geocrawl.probe.kinds.wms.content import CONTENT_CHECK
from geocrawl.probe.kinds.wms.declaration import KIND
from geocrawl.probe.kinds.wms.preview import PREVIEW
from geocrawl.probe.kinds.wms.probe import PROBE

__all__ = ["CONTENT_CHECK", "KIND", "PREVIEW", "PROBE"]
