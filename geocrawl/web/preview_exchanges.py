"""Make what a visitor's browser draws of what services send: a picture as it came, places of tiles, outlines, a text.

An exchange does no I/O: it yields requests, is sent their answers, and returns a `Relay`, or a sentence that says why
nothing is shown. A picture is sent on undecoded, once its header says that it is bounded and of a type that browsers
draw. Features are read and written again as GeoJSON without their properties, texts as plain lines.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from geocrawl.formats.raster import is_picture, read_raster
from geocrawl.formats.text import decode_declared, header_charset
from geocrawl.model import Failure, FailureCode, Page, Purpose, Url
from geocrawl.ports import Ask
from geocrawl.probe.content import exception_of
from geocrawl.probe.extents import Sides
from geocrawl.probe.levels import Level, cover
from geocrawl.probe.previews import Levels, View
from geocrawl.sanitize import plain
from geocrawl.web.preview_features import outlines
from geocrawl.wording import Sentence


@dataclass(frozen=True, slots=True)
class Relay:
    """What a browser is sent."""

    body: bytes
    media_type: str


Exchange = Generator[Ask, Page | Failure, Relay | str]
"""Requests, their answers, and what comes of them: what a browser is sent, or why there is nothing."""

MOST_TILES = 4
"""Most tiles of a view: each is a request."""
MOST_CHARS, MOST_LINES = 4_000, 100
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


def _failure_of(answer: Page | Failure) -> str:
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
    exception = exception_of(answer) if isinstance(answer, Page) and not _failure_of(answer) else None
    if exception is None:
        return _failure_of(answer)
    return Sentence("the service answered: {said}", said=plain(exception.line, 200))


# --------------------------------------------------------------------------- pictures


def picture(url: Url) -> Exchange:
    """Relay a picture that a service sends."""
    answer = yield Ask(url, Purpose.MAP)
    return checked_picture(answer)


def checked_picture(answer: Page | Failure) -> Relay | str:
    """Return the picture in an answer, as it came up to its end, or what came instead.

    Its type is what its bytes say, whatever the service calls it, and the browser is told to believe that alone."""
    if isinstance(answer, Failure) or _failure_of(answer):
        return _failure_of(answer)
    if answer.cut:
        return "the service sent more than a preview reads; zoom in"
    raster = read_raster(answer.body)
    if not isinstance(raster, str) and raster.media_type != "image/tiff":
        return Relay(answer.body[: raster.length], raster.media_type)
    if is_picture(answer.body):
        return raster if isinstance(raster, str) else "the service sent an image of a form that cannot be shown here"
    said = plain(answer.body[:600].decode("utf-8", "replace"), 200)
    return Sentence("the service sent no image but: {said}", said=said) if said else "the service sent no image"


def tiles(levels: Levels, view: View, address: str) -> Exchange:
    """Return the places of the tiles that cover a view, of the finest level that does so with few, as JSON.

    `levels` asks for what there is. The browser draws each tile in its place from `address`, to which its number is
    appended (`tile`). Here the tiles are requested and checked, so that one turn of the host does for all of them."""
    places, problem = yield from _places(levels, view)
    listed = []
    for number, (url, sides) in enumerate(places):
        answer = yield Ask(url, Purpose.MAP)
        relay = checked_picture(answer)
        if isinstance(relay, Relay):
            listed.append({"extent": sides, "href": f"{address}&tile={number}"})
        else:
            problem = problem or relay
    return Relay(json.dumps({"tiles": listed}).encode(), "application/json") if listed else problem


def tile(levels: Levels, view: View, number: int) -> Exchange:
    """Relay one of the tiles that cover a view."""
    places, problem = yield from _places(levels, view)
    if number >= len(places):
        return problem or "the service has no tiles for this part of the map; move it, or zoom in"
    return (yield from picture(places[number][0]))


def _places(levels: Levels, view: View) -> Generator[Ask, Page | Failure, tuple[list[tuple[Url, Sides]], str]]:
    """Return the addresses and extents of the tiles in a view, and ''; or none and why."""
    offered, problem = yield from _levels_offered(levels)
    if problem:
        return [], problem
    places = cover(offered, view.box, MOST_TILES)
    return places, "" if places else "the service has no tiles for this part of the map; move it, or zoom in"


def _levels_offered(levels: Levels) -> Generator[Ask, Page | Failure, tuple[Sequence[Level], str]]:
    """Ask for what describes tiles; return their levels and '', or none and why."""
    answer: Page | Failure | None = None
    try:
        ask = next(levels)
        while True:
            answer = yield ask
            ask = levels.send(answer)
    except StopIteration as end:
        offered = end.value
    if offered and not isinstance(offered, str):
        return offered, ""
    refusal = _refusal(answer) if answer is not None else ""
    return (), refusal or offered or "the service offers no tiles of this layer in the map's reference system"


# --------------------------------------------------------------------------- features


def features(url: Url, view: View) -> Exchange:
    """Relay the outlines of the features that a service sends, in GeoJSON or GML, within a view in degrees."""
    answer = yield Ask(url, Purpose.MAP)
    if isinstance(answer, Failure) or _refusal(answer):
        return _refusal(answer)
    if answer.cut:
        return "the service sent more than a preview reads; zoom in"
    drawn = outlines(answer, view.box)
    return drawn if isinstance(drawn, str) else Relay(json.dumps(drawn).encode(), "application/geo+json")


# --------------------------------------------------------------------------- texts


def text(url: Url) -> Exchange:
    """Relay a text that a service sends, as plain lines of bounded length without markup."""
    answer = yield Ask(url, Purpose.MAP)
    if isinstance(answer, Failure) or _refusal(answer):
        return _refusal(answer)
    head = answer.body[: 16 * MOST_CHARS]
    said, _ = decode_declared(head, header_charset(answer.headers.get("content-type", "")), "")
    if said.lstrip().startswith("<"):
        said = _without_markup(said)
    lines = [line for part in said.splitlines() if (line := plain(part, 300))]
    return Relay("\n".join(lines[:MOST_LINES])[:MOST_CHARS].encode(), "text/plain; charset=utf-8")


def _without_markup(text: str) -> str:
    tree = LexborHTMLParser(text)
    tree.strip_tags(["script", "style"], recursive=True)
    return tree.root.text(separator="\n") if tree.root is not None else ""
