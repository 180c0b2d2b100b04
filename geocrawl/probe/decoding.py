"""Decode images from services, and distinguish a map from a blank image and a drawn error message.

Runs in a bounded process alone (`geocrawl.reading`): a header bounds the pixels, but not the time and the memory that
a decoder takes for a stranger's bytes.
"""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING

from geocrawl.formats.raster import BROKEN, MAX_FRAMES, MAX_PIXELS, read_raster
from geocrawl.model import DecodedImage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

THUMBNAIL_PIXELS = 128
THUMBNAIL_BYTES = 32 * 1024
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "TIFF")
_JPEG, _JPEG_SCAN = b"\xff\xd8", b"\xff\xda"
_MIXED = 12.0
"""Greatest distance of a mixed colour from the line between the background and the ink."""
_NOISE = 6
"""Difference between pixels of a JPEG of one colour."""
_ALPHA = b"\0\0\0\xff"
"""The bits of an RGBA pixel that hold its opacity."""
_SINGLE_SHARE = 0.001
"""Greatest share of single pixels in an image that counts as blank."""


def read_picture(body: bytes) -> DecodedImage | str:
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
    noise = _NOISE if body.startswith(_JPEG) else 0
    is_mark = (np.abs(from_ground) > noise).any(axis=1)
    is_blank = bool(np.ptp(parts, axis=0).max() <= noise) or (
        int(counts[is_mark].sum()) <= _SINGLE_SHARE * len(pixels)
        and _are_single(np.isin(pixels, colours[is_mark]).reshape(image.height, image.width))
    )
    return DecodedImage(
        width=image.width,
        height=image.height,
        pixels=pixels.tobytes(),
        colours=min(len(colours), 256),
        background=float(counts.max() / len(pixels)),
        is_blank=is_blank,
        has_one_ink=_have_one_ink(from_ground.astype(np.float32)),
        thumbnail=b"" if is_blank else _thumbnail(image),
    )


def _have_one_ink(away: NDArray[np.float32]) -> bool:
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


def _thumbnail(image: Image) -> bytes:
    """Make a PNG of at most 128 × 128 pixels and 32 KiB; b"" when it would be longer."""
    from PIL.Image import Quantize

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
    """Decode an image to RGBA, or return the reason why not. Raises MemoryError alone."""
    raster = read_raster(body)
    if isinstance(raster, str) and (raster != BROKEN or body[:2] in (b"II", b"MM")):
        return str(raster)
    if body.count(_JPEG_SCAN) > MAX_FRAMES and body.startswith(_JPEG):
        return "the service sent an image of too many frames"  # also where its segments are hidden by broken ones
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            opened = Image.open(io.BytesIO(body), formats=_FORMATS)
            if opened.width * opened.height > MAX_PIXELS:
                return f"an image of {opened.width} × {opened.height} pixels is too large to look at"
            return opened.convert("RGBA")
    except MemoryError:
        raise
    except UnidentifiedImageError:  # its text has the place of the bytes in memory, another one at each look
        return "a broken image of an unknown form"
    except Exception as error:  # Pillow's readers raise whatever broken bytes lead to
        return f"a broken image ({error})"
