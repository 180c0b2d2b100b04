"""Turn charts of this room into PNG with Pillow. It knows the few shapes that they are made of, and no SVG but theirs.

Text is set in DejaVu Sans or Noto Sans CJK where the machine has them, else in the Latin typeface of Pillow.
"""

from __future__ import annotations

from io import BytesIO

from lxml import etree
from PIL import Image, ImageDraw, ImageFont

from geocrawl.charts.svg import COLOURS, LINES

_SCALE = 2
"""Points a unit of the chart."""
_FONTS = ("NotoSansCJK-Regular.ttc", "DejaVuSans.ttf")


def to_png(svg: str) -> bytes:
    """Return the picture of a chart that `svg.standalone` made."""
    root = etree.fromstring(svg.encode(), etree.XMLParser(resolve_entities=False, no_network=True))
    size = (round(float(root.get("width", "0")) * _SCALE), round(float(root.get("height", "0")) * _SCALE))
    picture = Image.new("RGB", size, COLOURS["ground"])
    _draw_all(ImageDraw.Draw(picture, "RGBA"), root, 0.0, 0.0)
    packed = BytesIO()
    picture.save(packed, "PNG", optimize=True)
    return packed.getvalue()


def _draw_all(pen: ImageDraw.ImageDraw, parent: etree._Element, left: float, top: float) -> None:
    for element in parent:
        name = etree.QName(element).localname
        if name == "svg":
            _draw_all(pen, element, left + _number(element, "x"), top + _number(element, "y"))
        elif name in _SHAPES:
            _SHAPES[name](pen, element, left, top)


def _rectangle(pen: ImageDraw.ImageDraw, element: etree._Element, left: float, top: float) -> None:
    x, y = _number(element, "x") + left, _number(element, "y") + top
    right, bottom = x + _number(element, "width"), y + _number(element, "height")
    corners = (x * _SCALE, y * _SCALE, right * _SCALE - 1, bottom * _SCALE - 1)
    pen.rounded_rectangle(corners, _number(element, "rx") * _SCALE, fill=_colour(element))


def _line(pen: ImageDraw.ImageDraw, element: etree._Element, left: float, top: float) -> None:
    points = [(_number(element, f"x{end}") + left, _number(element, f"y{end}") + top) for end in "12"]
    pen.line([(x * _SCALE, y * _SCALE) for x, y in points], fill=_colour(element), width=_SCALE)


def _points(pen: ImageDraw.ImageDraw, element: etree._Element, left: float, top: float) -> None:
    pairs = [pair.split(",") for pair in (element.get("points") or "").split()]
    points = [((float(x) + left) * _SCALE, (float(y) + top) * _SCALE) for x, y in pairs]
    if element.get("class") in LINES:
        pen.line(points, fill=_colour(element), width=2 * _SCALE, joint="curve")
    elif len(points) > 1:
        pen.polygon(points, fill=_colour(element))


def _text(pen: ImageDraw.ImageDraw, element: etree._Element, left: float, top: float) -> None:
    names = (element.get("class") or "").split()
    font = _font(16 if "heading" in names else 12.5)
    place = ((_number(element, "x") + left) * _SCALE, (_number(element, "y") + top) * _SCALE)
    anchor = "rs" if {"label", "end"} & set(names) else "ls"
    pen.text(place, element.text or "", fill=_colour(element), font=font, anchor=anchor)


_SHAPES = {"rect": _rectangle, "line": _line, "polygon": _points, "polyline": _points, "text": _text}


def _colour(element: etree._Element) -> str:
    """Return the colour of the first class of a shape, with its opacity."""
    colour = COLOURS.get((element.get("class") or "").partition(" ")[0], COLOURS["label"])
    return f"{colour}{round(float(element.get('fill-opacity', '1')) * 255):02x}"


def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    for name in _FONTS:
        try:
            return ImageFont.truetype(name, size * _SCALE)
        except OSError:
            continue
    return ImageFont.load_default(size * _SCALE)


def _number(element: etree._Element, name: str) -> float:
    return float(element.get(name) or 0)
