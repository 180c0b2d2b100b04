"""Measure how alike boxes are, many at a time: those of services and those of places."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from geocrawl.search.filters import Box

Sides = NDArray[np.float64]
"""West, south, east, north of several boxes, as four rows."""
_LEAST_AREA = 1e-9
"""Square degrees: the area that a point counts as having."""


def sides_of(boxes: Iterable[Box]) -> Sides:
    """Return the sides of boxes as four rows."""
    return np.array(list(boxes), np.float64).reshape(-1, 4).T


def likeness(one: Sides, others: Sides) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how alike a box is to others (intersection over union of their areas in degrees), and which share of it
    lies within them. Either may be several boxes when the other is one; 0 for sides that are not numbers."""
    west, south = np.fmax(one[0], others[0]), np.fmax(one[1], others[1])
    east, north = np.fmin(one[2], others[2]), np.fmin(one[3], others[3])
    common = np.clip(east - west, 0, None) * np.clip(north - south, 0, None)
    area = np.maximum((one[2] - one[0]) * (one[3] - one[1]), _LEAST_AREA)
    other_area = np.maximum((others[2] - others[0]) * (others[3] - others[1]), _LEAST_AREA)
    alike = common / (area + other_area - common)
    is_point = (area <= _LEAST_AREA) & (east >= west) & (north >= south)
    within = np.where(is_point, 1.0, common / area)
    return np.nan_to_num(alike), np.nan_to_num(within)
