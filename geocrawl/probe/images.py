"""Compare decoded images, and name the formats of images in the order of choice.

A server that cannot draw often answers 200 with an image nevertheless: of one colour, fully transparent, or with the
error message drawn in it. Status and Content-Type do not reveal this, so the pixels are checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from geocrawl.model import DecodedImage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NAMES = ("png", "jpeg", "jpg", "webp", "gif", "tiff", "geotiff", "tif")
"""Formats that can be decoded, as they begin after `image/`, the first choice first."""
_SPARSE_SHARE = 0.8
"""Least share of the background in an image of text, or in a map with few features."""
_WRITTEN_SHARE = 0.5
"""Least share of the background in an image that is full of text of one colour."""


def may_be_text(picture: DecodedImage) -> bool:
    """Return whether an image may be a drawn message: nearly all is background, or one ink is on half of it."""
    least = _WRITTEN_SHARE if picture.has_one_ink else _SPARSE_SHARE
    return not picture.is_blank and picture.background >= least


def similarity(one: DecodedImage, other: DecodedImage) -> float:
    """Return the share of equal pixels among those that are not the background in both, 0…1; 0 for another size.

    The background is left out, because two maps with few features are nearly equal whatever the features.
    """
    if (one.width, one.height) != (other.width, other.height):
        return 0.0
    if one.pixels == other.pixels:
        return 1.0
    import numpy as np

    ours, theirs = (np.frombuffer(picture.pixels, np.uint32) for picture in (one, other))
    ground = _background(ours)
    if ground != _background(theirs):
        return float(np.mean(ours == theirs))
    return float(np.mean((ours == theirs)[(ours != ground) | (theirs != ground)]))


def _background(pixels: NDArray[np.uint32]) -> np.uint32:
    """Return the most frequent colour."""
    import numpy as np

    values, counts = np.unique(pixels, return_counts=True)
    found: np.uint32 = values[counts.argmax()]
    return found


def decodable(offered: Iterable[str]) -> tuple[str, ...]:
    """Return those of the offered formats that can be decoded, the first choice first.

    A plain name comes before one with more (`image/png; mode=8bit`, `image/png8`, `image/vnd.jpeg-png`).
    """
    ranks = {name: rank for name in offered if (rank := _rank(name)) is not None}
    return tuple(sorted(ranks, key=lambda name: ranks[name]))


_NO_IMAGE = re.compile(r"\A(?!image/)[^/]*/|\+|jpegxl", re.IGNORECASE)
"""Media types of other things, and of images that cannot be decoded."""


def requestable(offered: Iterable[str]) -> tuple[str, ...]:
    """Return the formats to request images in, the first choice first: `decodable` ones, else those of unknown names.

    Some servers have names of their own (`tiles`, Tianditu's), for images as any other.
    """
    names = tuple(offered)
    return decodable(names) or tuple(name for name in names if name and not _NO_IMAGE.search(name))


def drawable(offered: Iterable[str]) -> tuple[str, ...]:
    """Return those of the offered formats that browsers draw, the first choice first."""
    return tuple(name for name in decodable(offered) if "tif" not in name.lower())


def _rank(name: str) -> tuple[int, int] | None:
    """Return the place of a format in the order of choice; None for one that cannot be decoded."""
    plain = name.strip().lower().removeprefix("image/").removeprefix("vnd.").removeprefix("x-")
    if "+" in plain or plain.startswith("jpegxl"):
        return None
    place = next((place for place, known in enumerate(_NAMES) if plain.startswith(known)), None)
    return (place, len(plain)) if place is not None else None
