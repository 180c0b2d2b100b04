"""Find out from its text where a capabilities document was cut off.

The tree cannot tell: a recovering parser closes every element that was left open.
"""

from __future__ import annotations

import re
from enum import Enum, auto

_MARKUP = re.compile(
    r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<(/?)(?:[\w.-]+:)?(Layer|Capability)\b(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*?(/?)>",
    re.DOTALL,
)
_ROOT = re.compile(
    r"<((?:[\w.-]{1,40}:)?(?:(?:WMS_|WMT_MS_|WFS_|WCS_)?Capabilities|TileMapService|TileMap))(?=[\s/>])", re.IGNORECASE
)
_SECTION = (
    r"(?:[\w.-]{1,40}:)?(?:FeatureTypeList|Contents|ContentMetadata|ProcessOfferings|TileMaps|TileSets)(?=[\s/>])"
)
"""Sections with content items: of WFS, OWS Common, WCS 1.0, WPS 1.0 and TMS."""
_CONTENTS = re.compile(f"<{_SECTION}")
_CONTENTS_END = re.compile(f"(?:</{_SECTION})|(?:<{_SECTION}[^<>]{{0,200}}/>)")
_OPERATIONS_END = re.compile(r"</(?:[\w.-]{1,40}:)?OperationsMetadata(?=[\s>])")
_CUT_LAYER = re.compile(r"<(?:[\w.-]+:)?(?:L(?:a(?:y(?:e(?:r\b[^>]*)?)?)?)?)?\Z")
_TAIL_CHARS = 2_000


class Cut(Enum):
    """The place where a document was cut off."""

    NOT = auto()
    AFTER_ITEMS = auto()
    """After all of its content items: nothing that is kept was lost."""
    INSIDE = auto()
    """Before or among its content items."""
    OVER_LIMIT = auto()
    """At one of our own limits."""


def where_cut(text: str) -> Cut:
    """Return where a document ends that no parser can read to its end, judged by the end tags that are missing.

    `AFTER_ITEMS` when the section with the content items has ended; of a WMS, whose layers come last (WMS 1.3.0, annex
    E.1), already when every layer that was begun has ended. `NOT` when the root has ended or is of no known kind.
    """
    root = _ROOT.search(text)
    if root is None or text.find(f"</{root[1]}", root.end()) >= 0:
        return Cut.NOT
    if root[1].lower().endswith(("wms_capabilities", "wmt_ms_capabilities")):
        return _where_layers_cut(text)
    if _CONTENTS.search(text, root.end()):
        return Cut.AFTER_ITEMS if _CONTENTS_END.search(text, root.end()) else Cut.INSIDE
    is_csw = "/csw" in text[root.end() : text.find(">", root.end()) + 1]
    return Cut.AFTER_ITEMS if is_csw and _OPERATIONS_END.search(text, root.end()) else Cut.INSIDE


def _where_layers_cut(text: str) -> Cut:
    depth, layers, end = 0, 0, 0
    for tag in _MARKUP.finditer(text):
        closing, name, empty = tag.groups()
        if name == "Capability" and closing:
            return Cut.AFTER_ITEMS
        if name == "Layer":
            layers += not closing
            depth += 0 if empty else -1 if closing else 1
            end = tag.end()
    if depth > 0 or layers == 0 or _CUT_LAYER.search(text[max(end, len(text) - _TAIL_CHARS) :]):
        return Cut.INSIDE
    return Cut.AFTER_ITEMS
