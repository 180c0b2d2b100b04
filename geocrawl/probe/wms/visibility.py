"""Read what a map request must state, and keep to, for a layer to be drawn: dimensions and limits on the scale.

Dimensions: WMS 1.3.0, annex C, one element `Dimension` with values; 1.1.1, annex C, `Dimension` without values and
`Extent` with them. Scales: 1.3.0, 7.2.4.6.9, `MinScaleDenominator` and `MaxScaleDenominator`; 1.1.1, 7.1.4.5.8,
`ScaleHint`, the diagonal of a pixel in metres.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from lxml import etree

from geocrawl.formats.elements import attribute, text_of
from geocrawl.model import Dimension

PIXEL_M = 0.00028
"""Side of a pixel of the scale denominator (WMS 1.3.0, 7.2.4.6.9)."""
_MAX_VALUE_CHARS = 100
_MAX_DIMENSIONS = 20


def read_dimensions(dimensions: Sequence[etree._Element], extents: Sequence[etree._Element]) -> tuple[Dimension, ...]:
    """Return a layer's own dimensions, each with its default value and the first and the last value of its extent."""
    found: dict[str, Dimension] = {}
    for element in (*dimensions, *extents):
        name = attribute(element, "name").strip()
        if not name or len(found) >= _MAX_DIMENSIONS:
            continue
        text = (element.text or "").strip()
        first, last = text[:_MAX_VALUE_CHARS].partition(",")[0], text[-_MAX_VALUE_CHARS:].rpartition(",")[2]
        default = attribute(element, "default").strip()[:_MAX_VALUE_CHARS]
        known = found.get(name.lower(), Dimension(name))
        found[name.lower()] = Dimension(
            known.name,
            default or known.default,
            first.split("/")[0].strip() or known.first,
            _end_of_interval(last) or known.last,
        )
    return tuple(found.values())


def _end_of_interval(value: str) -> str:
    """Return the end of `start/end/step`; any other value unchanged."""
    parts = value.split("/")
    return (parts[1] if len(parts) > 1 else value).strip()


def read_scales(parts: Mapping[str, Sequence[etree._Element]]) -> tuple[float, float] | None:
    """Return least and greatest scale denominator; None when the layer states neither, or none that make sense."""
    if parts.get("MinScaleDenominator") or parts.get("MaxScaleDenominator"):
        texts = [
            text_of(next(iter(parts.get(name, ())), None)) for name in ("MinScaleDenominator", "MaxScaleDenominator")
        ]
        least, greatest = map(_number, texts)
    elif hints := parts.get("ScaleHint"):
        least, greatest = (
            number / math.sqrt(2) / PIXEL_M if number else number
            for number in (_number(attribute(hints[0], name)) for name in ("min", "max"))
        )
    else:
        return None
    limits = least or 0.0, greatest or math.inf
    return limits if limits[0] < limits[1] and limits != (0.0, math.inf) else None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value > 0 else None
