"""Make what visitors see of what services send: a picture written anew, tiles side by side, drawn features, a text.

A drawing does no I/O: it yields requests, is sent their answers, and returns what it made with '', or nothing with the
reason in words. Nothing that a service sent leaves it as it came.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Generator, Sequence

import numpy as np
from PIL import Image, ImageDraw, UnidentifiedImageError
from PIL.TiffImagePlugin import TiffImageFile
from selectolax.lexbor import LexborHTMLParser

from geocrawl.formats.charset import decode_declared, header_charset
from geocrawl.model import Failure, FailureCode, Page, Purpose, Url
from geocrawl.ports import Ask
from geocrawl.probe.content.exceptions import exception_of
from geocrawl.probe.content.images import is_image
from geocrawl.probe.extents import Sides
from geocrawl.probe.levels import Level, cover
from geocrawl.probe.previews import Levels, View
from geocrawl.sanitize import plain
from geocrawl.web.preview_features import shapes_of
from geocrawl.wording import Sentence

Drawn = tuple[bytes, str]
"""The bytes that a visitor sees and ''; or none, and why there are none."""
Drawing = Generator[Ask, Page | Failure, Drawn]

MAX_PIXELS = 2_048 * 2_048
MOST_TILES = 4
"""Most tiles of a picture: each is a request."""
MOST_CHARS, MOST_LINES = 4_000, 100
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
_NUMBERS = frozenset({"F", "I", "I;16", "I;16B", "I;16L"})
"""Pillow's names for images of numbers that are no colours."""
_GDAL_NODATA = 42113
_NO_NUMBER = 1e30
"""Numbers as large stand for missing ones; NaN is not smaller either."""
_SHOWN_PERCENT = (2, 98)
_LINE, _AREA, _NONE = (29, 78, 216, 255), (29, 78, 216, 60), (0, 0, 0, 0)
_DOT = 4
_WHY = {
    FailureCode.ROBOTS: "robots.txt of the service's host forbids it",
    FailureCode.RESTING: "the service's host rests after too many requests or errors; try later",
    FailureCode.GUARD: "the service's address is in a private network",
    FailureCode.FORGOTTEN: "the owner of the host asked not to be asked",
    FailureCode.DNS: "the name of the service's host is not known",
    FailureCode.REFUSED: "no program answers at the service's address",
    FailureCode.TLS: "no safe connection to the service can be made; its certificate may be wrong",
    **dict.fromkeys(
        (FailureCode.TIMEOUT_CONNECT, FailureCode.TIMEOUT_READ, FailureCode.TIMEOUT_TOTAL),
        "the service did not answer in time",
    ),
    FailureCode.RESET: "the service broke the connection off",
    FailureCode.BUDGET: "the requests for previews of this host are used up for this day",
}


def _why(answer: Page | Failure) -> str:
    """Return why an answer has no content, in words; '' when it may have some."""
    if isinstance(answer, Failure):
        return _WHY.get(answer.code, Sentence("the service gave no answer that can be read ({code})", code=answer.code))
    if answer.status >= 400:
        return Sentence("the service answered with status {status}", status=answer.status)
    if answer.location is not None:
        return "the service leads to another host, which is not asked for previews"
    return ""


def _refusal(answer: Page | Failure) -> str:
    """Return why an answer has no content, also where the service itself says so; '' when it may have some."""
    refused = exception_of(answer) if isinstance(answer, Page) and not _why(answer) else None
    if refused is None:
        return _why(answer)
    return Sentence("the service answered: {said}", said=plain(refused.line, 200))


# --------------------------------------------------------------------------- pictures


def picture(url: Url) -> Drawing:
    """Draw a picture that a service sends."""
    answer = yield Ask(url, Purpose.MAP)
    image, problem = image_of(answer)
    return (_png(image), "") if image is not None else (b"", problem)


def image_of(answer: Page | Failure) -> tuple[Image.Image | None, str]:
    """Return an answer as an image and '', or what came instead."""
    if isinstance(answer, Failure) or _why(answer):
        return None, _why(answer)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            opened = Image.open(io.BytesIO(answer.body), formats=_FORMATS)
            if opened.width * opened.height > MAX_PIXELS:
                return None, Sentence(
                    "the service sent an image of {width} × {height} pixels", width=opened.width, height=opened.height
                )
            return _coloured(opened), ""
    except UnidentifiedImageError:
        if is_image(answer.body):
            return None, "the service sent an image of a form that cannot be shown here"
        said = plain(answer.body[:600].decode("utf-8", "replace"), 200)
        if not said:
            return None, "the service sent no image"
        return None, Sentence("the service sent no image but: {said}", said=said)
    except Exception as error:  # decoders raise what they like on a broken image
        return None, Sentence("the service sent a broken image ({error})", error=plain(str(error), 100))


def _coloured(image: Image.Image) -> Image.Image:
    """Return an image as colours; one of numbers, such as heights, in greys that leave the least and greatest out."""
    if image.mode not in _NUMBERS:
        return image.convert("RGBA")
    numbers = np.asarray(image, dtype=np.float64)
    known = (np.abs(numbers) < _NO_NUMBER) & (numbers != _missing(image))
    least, greatest = np.percentile(numbers[known], _SHOWN_PERCENT) if known.any() else (0.0, 0.0)
    shares = (np.where(known, numbers, least) - least) / ((greatest - least) or 1.0)
    grey = Image.fromarray((np.clip(shares, 0, 1) * 255).astype(np.uint8))
    return Image.merge("RGBA", (grey, grey, grey, Image.fromarray(np.where(known, 255, 0).astype(np.uint8))))


def _missing(image: Image.Image) -> float:
    """Return the number that stands for a missing one in a GeoTIFF of GDAL; NaN for none."""
    stated = image.tag_v2.get(_GDAL_NODATA, "") if isinstance(image, TiffImageFile) else ""
    try:
        return float(str(stated).rstrip("\0 "))
    except ValueError:
        return math.nan


def _png(image: Image.Image) -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG", compress_level=3)
    return written.getvalue()


def tiles(levels: Levels, view: View) -> Drawing:
    """Draw the tiles that cover a view, of the finest level that does so with few; `levels` asks for what there is."""
    found, problem = yield from _found(levels)
    if problem:
        return b"", problem
    placed = cover(found, view.box, MOST_TILES)
    if not placed:
        return b"", "the service has no tiles for this part of the map; move it, or zoom in"
    drawn, some = Image.new("RGBA", view.size), False
    for url, sides in placed:
        answer = yield Ask(url, Purpose.MAP)
        image, said = image_of(answer)
        problem = problem or said
        if image is not None:
            some = True
            drawn.alpha_composite(_part(image, sides, view))
    return (_png(drawn), "") if some else (b"", problem)


def _found(levels: Levels) -> Generator[Ask, Page | Failure, tuple[Sequence[Level], str]]:
    """Ask for what describes tiles; return their levels and '', or none and why."""
    answer: Page | Failure | None = None
    try:
        asked = next(levels)
        while True:
            answer = yield asked
            asked = levels.send(answer)
    except StopIteration as end:
        found = end.value
    if found and not isinstance(found, str):
        return found, ""
    refused = _refusal(answer) if answer is not None else ""
    return (), refused or found or "the service offers no tiles of this layer in the map's reference system"


def _part(tile: Image.Image, sides: Sides, view: View) -> Image.Image:
    """Return the part of a tile with the extent `sides` that lies in a view, where it lies there."""
    box = view.box
    across, down = tile.width / (sides[2] - sides[0]), tile.height / (sides[3] - sides[1])
    corners = (
        *((box[0] - sides[0]) * across, (sides[3] - box[3]) * down),
        *((box[2] - sides[0]) * across, (sides[3] - box[1]) * down),
    )
    return tile.transform(view.size, Image.Transform.EXTENT, corners, Image.Resampling.BILINEAR, fillcolor=_NONE)


# --------------------------------------------------------------------------- features


def features(url: Url, view: View) -> Drawing:
    """Draw the outlines of the features that a service sends, in GeoJSON or GML, within a view in degrees."""
    answer = yield Ask(url, Purpose.MAP)
    if isinstance(answer, Failure) or _refusal(answer):
        return b"", _refusal(answer)
    if answer.cut:
        return b"", "the service sent more than a preview reads; zoom in"
    box, size = view.box, view.size
    shapes, problem = shapes_of(answer, box)
    if problem:
        return b"", problem
    drawn = Image.new("RGBA", size)
    pen = ImageDraw.Draw(drawn)
    across, down = size[0] / (box[2] - box[0]), size[1] / (box[3] - box[1])
    for shape in shapes:
        at = [((x - box[0]) * across, (box[3] - y) * down) for x, y in shape.points]
        if shape.is_area and len(at) > 2:
            pen.polygon(at, fill=_NONE if shape.is_hole else _AREA, outline=_LINE)
        elif len(at) > 1:
            pen.line(at, fill=_LINE, width=2)
        else:
            pen.ellipse((at[0][0] - _DOT, at[0][1] - _DOT, at[0][0] + _DOT, at[0][1] + _DOT), fill=_LINE)
    return _png(drawn), ""


# --------------------------------------------------------------------------- texts


def text(url: Url) -> Drawing:
    """Return a text that a service sends, as plain lines of bounded length without markup."""
    answer = yield Ask(url, Purpose.MAP)
    if isinstance(answer, Failure) or _refusal(answer):
        return b"", _refusal(answer)
    head = answer.body[: 16 * MOST_CHARS]
    said, _ = decode_declared(head, header_charset(answer.headers.get("content-type", "")), "")
    if said.lstrip().startswith("<"):
        said = _without_markup(said)
    lines = [line for each in said.splitlines() if (line := plain(each, 300))]
    return "\n".join(lines[:MOST_LINES])[:MOST_CHARS].encode(), ""


def _without_markup(text: str) -> str:
    tree = LexborHTMLParser(text)
    tree.strip_tags(["script", "style"], recursive=True)
    return tree.root.text(separator="\n") if tree.root is not None else ""
