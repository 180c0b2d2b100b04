"""Decode images from services, within limits, and distinguish a map from a blank image and a drawn error message.

A server that cannot draw often answers 200 with an image nevertheless: of one colour, fully transparent, or with the
error message drawn in it. Status and Content-Type do not reveal this, so the pixels are checked.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

MAX_PIXELS = 4_000_000
"""Pixels of the largest image that is decoded: 16 MB as RGBA."""
THUMBNAIL_PIXELS = 128
THUMBNAIL_BYTES = 32 * 1024
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "TIFF")
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*")
_NAMES = ("png", "jpeg", "jpg", "webp", "gif", "tiff", "geotiff", "tif")
"""Formats that can be decoded, as they begin after `image/`, the first choice first."""
_TILE_WIDTH, _TILE_LENGTH = 322, 323
"""Tags of TIFF 6.0, section 15."""
_SPARSE_SHARE = 0.8
"""Least share of the background in an image of text, or in a map with few features."""
_WRITTEN_SHARE = 0.5
"""Least share of the background in an image that is full of text of one colour."""
_MIXED = 12.0
"""Greatest distance of a mixed colour from the line between the background and the ink."""
_NOISE = 6
"""Difference between pixels of a JPEG of one colour."""
_ALPHA = b"\0\0\0\xff"
"""The bits of an RGBA pixel that hold its opacity."""
_SINGLE_SHARE = 0.001
"""Greatest share of single pixels in an image that counts as blank."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A decoded image."""

    width: int
    height: int
    pixels: bytes
    """RGBA, row by row."""
    colours: int
    """Number of different colours, counted up to 256; all fully transparent ones count as one."""
    background: float
    """Share of the most frequent colour, 0…1."""
    is_blank: bool
    """Whether the image has only one colour, apart from JPEG noise and a few single pixels, or is fully transparent."""

    has_one_ink: bool = False
    """Whether all colours are mixed of two: the background and one other."""

    @property
    def line(self) -> str:
        """Return size and number of colours, for people."""
        return f"{self.width} × {self.height} pixels, {self.colours} colours"

    @property
    def may_be_text(self) -> bool:
        """Return whether the image may be a drawn message: nearly all is background, or one ink is on half of it."""
        least = _WRITTEN_SHARE if self.has_one_ink else _SPARSE_SHARE
        return not self.is_blank and self.background >= least

    def similarity(self, other: Picture) -> float:
        """Return the share of equal pixels among those that are not the background in both, 0…1; 0 for another size.

        The background is left out, because two maps with few features are nearly equal whatever the features.
        """
        if (self.width, self.height) != (other.width, other.height):
            return 0.0
        if self.pixels == other.pixels:
            return 1.0
        import numpy as np

        ours, theirs = (np.frombuffer(picture.pixels, np.uint32) for picture in (self, other))
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


def is_image(body: bytes) -> bool:
    """Return whether a body begins like an image of a supported format."""
    return body.startswith(_MAGIC) or (body[:4] == b"RIFF" and body[8:12] == b"WEBP")


def decodable(offered: Iterable[str]) -> tuple[str, ...]:
    """Return those of the offered formats that can be decoded, the first choice first.

    A plain name comes before one with more (`image/png; mode=8bit`, `image/png8`, `image/vnd.jpeg-png`).
    """
    ranks = {name: rank for name in offered if (rank := _rank(name)) is not None}
    return tuple(sorted(ranks, key=lambda name: ranks[name]))


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


def read_picture(body: bytes) -> Picture | str:
    """Decode the image in a body, or return a line that states why it cannot be read."""
    image = _decoded(body)
    if isinstance(image, str):
        return image
    import numpy as np

    pixels = np.frombuffer(image.tobytes(), np.uint32)
    pixels = np.where(pixels & np.frombuffer(_ALPHA, np.uint32), pixels, np.uint32(0))
    colours, counts = np.unique(pixels, return_counts=True)
    parts = colours.view(np.uint8).reshape(-1, 4).astype(np.int16)
    from_ground = parts - parts[counts.argmax()]
    noise = _NOISE if body.startswith(b"\xff\xd8") else 0
    is_mark = (np.abs(from_ground) > noise).any(axis=1)
    return Picture(
        width=image.width,
        height=image.height,
        pixels=pixels.tobytes(),
        colours=min(len(colours), 256),
        background=float(counts.max() / len(pixels)),
        has_one_ink=_have_one_ink(from_ground.astype(float)),
        is_blank=bool(np.ptp(parts, axis=0).max() <= noise)
        or (
            int(counts[is_mark].sum()) <= _SINGLE_SHARE * len(pixels)
            and _are_single(np.isin(pixels, colours[is_mark]).reshape(image.height, image.width))
        ),
    )


def _have_one_ink(away: NDArray[np.float64]) -> bool:
    """Return whether all colours lie between the background and one other colour, as in anti-aliased text.

    `away`: differences of the colours from the background; rows of RGBA.
    """
    import numpy as np

    distances = np.linalg.norm(away, axis=1)
    if not distances.any():
        return False
    ink = away[distances.argmax()] / distances.max()
    return bool(np.linalg.norm(away - np.outer(away @ ink, ink), axis=1).max() <= _MIXED)


def _are_single(marks: NDArray[np.bool_]) -> bool:
    """Return whether none of the marked pixels (rows, columns) is next to another one.

    Features are drawn larger; single pixels are damage, watermarks or tracking marks.
    """
    import numpy as np

    framed = np.pad(marks, 1)
    rows, columns = marks.shape
    around = sum(
        framed[1 + down : 1 + down + rows, 1 + right : 1 + right + columns].astype(np.int8)
        for down in (-1, 0, 1)
        for right in (-1, 0, 1)
        if down or right
    )
    return not bool((marks & (around > 0)).any())


def thumbnail(body: bytes) -> bytes:
    """Make a PNG of at most 128 × 128 pixels and 32 KiB; b"" when there is no image."""
    from PIL.Image import Quantize

    image = _decoded(body)
    if isinstance(image, str):
        return b""
    if image.getchannel("A").getextrema() == (255, 255):
        image = image.convert("RGB")  # an opacity that says nothing costs half the time
    image.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS), reducing_gap=1.0)  # means of whole pixels as far as they go
    for colours in (256, 64, 16):
        written = io.BytesIO()
        image.quantize(colours, Quantize.FASTOCTREE).save(written, "PNG", optimize=True)
        if written.tell() <= THUMBNAIL_BYTES:
            return written.getvalue()
    return b""


def _decoded(body: bytes) -> Image | str:
    """Decode an image to RGBA, or return the reason why not. Never raises; at most `MAX_PIXELS` are decoded."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            opened = Image.open(io.BytesIO(body), formats=_FORMATS)
            if opened.width * opened.height > MAX_PIXELS:
                return f"an image of {opened.width} × {opened.height} pixels is too large to look at"
            tags = getattr(opened, "tag_v2", {})
            if int(tags.get(_TILE_WIDTH, 0)) * int(tags.get(_TILE_LENGTH, 0)) > MAX_PIXELS:
                return f"an image in tiles of more than {MAX_PIXELS:,} pixels is too large to look at"
            return opened.convert("RGBA")
    except Image.DecompressionBombError:
        return f"an image of more than {MAX_PIXELS:,} pixels is too large to look at"
    except UnidentifiedImageError:
        return "no image that can be read"
    except (OSError, SyntaxError, ValueError, EOFError, IndexError) as error:
        return f"a broken image ({error})"
