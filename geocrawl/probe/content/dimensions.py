"""Choose the value of a dimension (time, elevation …) that a request sends, for WMS and WMTS."""

from __future__ import annotations

from enum import StrEnum

from geocrawl.model import Dimension


class Value(StrEnum):
    """Which value of a dimension is sent."""

    DEFAULT = "default"
    LAST = "last"
    FIRST = "first"
    NONE = "none"


def value_of(dimension: Dimension, which: Value) -> str:
    """Return the value to send, '' for none; without a default the latest time, and the first value of another one."""
    if which is Value.NONE:
        return ""
    if which is Value.DEFAULT and dimension.default:
        return dimension.default
    is_time = dimension.name.lower() == "time"
    last = is_time if which is Value.DEFAULT else which is Value.LAST
    return dimension.last if last else dimension.first
