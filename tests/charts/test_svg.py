"""Charts are files that other programs read, with nothing of the web's text as markup."""

from __future__ import annotations

import io
from itertools import pairwise

from lxml import etree
from PIL import Image

from geocrawl.charts import text
from geocrawl.charts.png import to_png
from geocrawl.charts.svg import COLOURS, bars, curve, curves, standalone, steps

HOSTILE = '<script>alert(1)</script>"&\x1b[31m'


def test_a_chart_in_a_file_is_well_formed_whatever_its_labels_are() -> None:
    root = etree.fromstring(standalone(bars([(HOSTILE, 3.0), ("wfs", 1.0)], HOSTILE), HOSTILE).encode())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert [etree.QName(each).localname for each in root.iter() if "script" in str(each.tag)] == []
    assert "\x1b" not in "".join(map(str, root.itertext()))


def test_the_picture_of_points_has_the_bars_of_the_chart() -> None:
    drawn = Image.open(io.BytesIO(to_png(standalone(bars([("wms", 4.0), ("wfs", 1.0)], "kinds"), "Kinds"))))
    assert drawn.format == "PNG" and drawn.width == 2 * (640 + 32)
    pixels = [drawn.getpixel((x, y)) for y in (2 * (40 + 12), 2 * (40 + 36)) for x in range(drawn.width)]
    wanted = tuple(bytes.fromhex(COLOURS["bar"][1:]))
    first, second = pixels[: drawn.width].count(wanted), pixels[drawn.width :].count(wanted)
    assert abs(first - 4 * second) <= 8 and second > 100


def test_a_curve_is_drawn_as_a_picture_of_points() -> None:
    chart = curve([(0.0, 1.0), (5.0, 0.5)], "survival", x_labels=("0", "5 days"), most=1.0, most_label="100%")
    drawn = Image.open(io.BytesIO(to_png(standalone(chart, "Survival"))))
    colours = {colour for _, colour in drawn.getcolors(maxcolors=100_000) or []}
    assert {tuple(bytes.fromhex(COLOURS[name][1:])) for name in ("line", "area")} <= colours


def test_curves_have_their_names_beside_their_ends_and_never_on_each_other() -> None:
    named = [("GeoServer", (0, 5, 90)), (HOSTILE, (0, 4, 89)), ("MapServer", (0, 0, 0)), ("deegree", (0, 0, 0))]
    chart = curves(named, "software", x_labels=("2025", "2026"), most_label="90")
    drawn = etree.fromstring(standalone(chart, "Software").encode())
    shapes = [each for each in drawn.iter() if isinstance(each.tag, str)]
    names = {str(each.text): float(each.get("y", "")) for each in shapes if each.get("class") == "value"}
    assert [name for name in names if name.startswith(("GeoServer 90", "MapServer 0"))] == [
        "GeoServer 90",
        "MapServer 0",
    ]
    heights = sorted(names.values())
    assert all(after - before >= 15 for before, after in pairwise(heights)) and heights[-1] < 220
    assert len([each for each in shapes if etree.QName(each).localname == "polyline"]) == 4
    colours = {colour for _, colour in Image.open(io.BytesIO(to_png(standalone(chart, "S")))).getcolors(100_000) or []}
    assert {tuple(bytes.fromhex(COLOURS[name][1:])) for name in ("c1", "c2", "c3")} <= colours
    lines = text.curves([("GeoServer", (0, 5, 10)), ("deegree", (0, 0, 5))], x_labels=("2025", "2026"))
    assert lines[0].endswith("█│ 10") and lines[1].endswith("▄│ 5")


def test_steps_stay_until_the_next_point() -> None:
    assert steps([(0.0, 1.0), (3.0, 0.5)], 9.0) == [(0.0, 1.0), (3.0, 1.0), (3.0, 0.5), (9.0, 0.5)]
    assert steps([], 1.0) == []


def test_bars_of_text_are_as_long_as_their_share() -> None:
    assert [line.count("█") for line in text.bars([("wms", 40.0), ("wfs", 10.0), ("wps", 0.01)])] == [40, 10, 1]
    assert text.bars([]) == []


def test_a_curve_of_text_falls_from_left_to_right() -> None:
    lines = text.curve([(0.0, 1.0), (9.0, 0.0)], x_labels=("0", "9 days"), most=1.0, most_label="100%")
    lengths = [line.count("█") for line in lines[:10]]
    assert lengths == sorted(lengths) and lengths[0] < 10 < 60 < lengths[-1]
    assert text.curve([], x_labels=("", ""), most=1.0, most_label="") == []
