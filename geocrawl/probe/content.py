"""Record attempts to get content of valid services, judge the answers (features, images, exceptions), and report."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from lxml import etree

from geocrawl.formats.json import JsonObject, read_json
from geocrawl.formats.text import gunzipped
from geocrawl.formats.xml import attribute, line_of, local_name, read_xml
from geocrawl.model import (
    NOT_PERMITTED,
    Attempt,
    ContentOutcome,
    ContentReport,
    DecodedImage,
    Dimension,
    Endpoint,
    Failure,
    FailureCode,
    Level,
    Page,
    Purpose,
    Url,
)
from geocrawl.ports import Ask
from geocrawl.probe.answer import SLOW_MS, is_slow
from geocrawl.probe.images import may_be_text, similarity
from geocrawl.probe.json_answers import error_of
from geocrawl.wording import counted

_TIMEOUTS = frozenset({FailureCode.TIMEOUT_CONNECT, FailureCode.TIMEOUT_READ, FailureCode.TIMEOUT_TOTAL})
_REFUSED = NOT_PERMITTED | {FailureCode.ROBOTS, FailureCode.BUDGET}
_DETAIL_CHARS = 300


def refusal(answer: Page | Failure) -> tuple[ContentOutcome, str] | None:
    """Return (outcome, detail) of an answer without any content: no answer, an error status, an exception.

    None for any other answer. Never raises, whatever the body.
    """
    if isinstance(answer, Failure):
        if answer.code in _REFUSED:
            return ContentOutcome.REFUSED, answer.detail
        return (ContentOutcome.TIMEOUT if answer.code in _TIMEOUTS else ContentOutcome.HTTP_ERROR), answer.detail
    if answer.location is not None:
        return ContentOutcome.HTTP_ERROR, f"redirected to {answer.location.address}"
    if exception := exception_of(answer):
        return ContentOutcome.EXCEPTION, exception.line
    if not 200 <= answer.status < 300:
        return ContentOutcome.HTTP_ERROR, f"HTTP {answer.status}"
    return None


def picture_of(page: Page) -> DecodedImage | str:
    """Return the image in a page; else a line that describes what came instead."""
    if page.picture:
        return page.picture
    named = page.content_type or "no Content-Type"
    if not page.body:
        return f"no bytes ({named})"
    first = page.body[:120].decode("utf-8", "replace")
    return f"{named}: {' '.join(''.join(c if c.isprintable() else ' ' for c in first).split())}"[:_DETAIL_CHARS]


T = TypeVar("T")
V = TypeVar("V")

Look = tuple[ContentOutcome, str]
"""An outcome with its detail."""

MAX_ADDRESS_CHARS = 8_000
"""The longest address that common web servers accept (RFC 9110, 4.1)."""
_HOPELESS = frozenset({ContentOutcome.TIMEOUT, ContentOutcome.REFUSED})
REFUSALS = _HOPELESS | {ContentOutcome.EXCEPTION, ContentOutcome.HTTP_ERROR, ContentOutcome.NOT_AN_IMAGE}
"""Outcomes after which another request for the same content may be answered."""
_WITHOUT_CONTENT = (REFUSALS - _HOPELESS) | {ContentOutcome.BLANK}
"""Outcomes after which a tile of another place or scale may have content."""
_ANSWERED = frozenset(
    {ContentOutcome.BLANK, ContentOutcome.WRONG_SIZE, ContentOutcome.AXIS_ORDER, ContentOutcome.IMAGE_ERROR_TEXT}
)


@dataclass(slots=True)
class Attempts:
    """The attempts of one content check so far."""

    made: list[Attempt] = field(default_factory=list)
    _cors: str = ""
    _thumbnail: bytes = b""

    def add(
        self,
        layer: str,
        crs: str,
        url: Url,
        answer: Page | Failure,
        look: tuple[ContentOutcome, str],
        *,
        image: Page | None = None,
        zoom: int | None = None,
    ) -> None:
        """Add the result of requesting an item; the first image with content becomes the thumbnail.

        `image`: the content, if it came with a later answer than `answer`. `zoom`: as in `Attempt`.
        """
        outcome, detail = look
        self.made.append(Attempt(layer, crs, outcome, answer.elapsed_ms, detail[:_DETAIL_CHARS], url.address, zoom))
        if isinstance(answer, Page):  # what the server sends to viewers of another origin
            self._cors = answer.headers.get("access-control-allow-origin", "")[:200] or self._cors
        shown = image or answer
        if outcome is ContentOutcome.OK and isinstance(shown, Page) and isinstance(shown.picture, DecodedImage):
            self._thumbnail = self._thumbnail or shown.picture.thumbnail

    @property
    def is_enough(self) -> bool:
        """Return whether no more requests are needed: content came, none will come, or the server is slow."""
        if not self.made:
            return False
        last = self.made[-1]
        return last.outcome is ContentOutcome.OK or last.outcome in _HOPELESS or last.milliseconds > SLOW_MS

    def report(self, endpoint: Endpoint) -> ContentReport:
        """Return the report over all attempts."""
        outcomes = {entry.outcome for entry in self.made}
        level = Level.ANSWERS if outcomes & _ANSWERED else Level.ADVERTISED
        return ContentReport(
            level=Level.DELIVERS if ContentOutcome.OK in outcomes else level,
            attempts=tuple(self.made),
            https=True if endpoint.url.scheme == "https" and outcomes - _HOPELESS else None,
            cors=self._cors,
            thumbnail=self._thumbnail,
        )


def spread(items: Sequence[T], most: int) -> tuple[T, ...]:
    """Return at most `most` items: the first, the last, and those between at equal steps."""
    if most < 2 or len(items) < 2:
        return tuple(items[: max(most, 0)])
    steps = dict.fromkeys(round(i * (len(items) - 1) / (most - 1)) for i in range(most))
    return tuple(items[step] for step in steps)


# --------------------------------------------------------------------------- requests in several variants
# GIS clients change a request that a server refuses: its address, format, version, order of axes. A kind yields the
# variants that can help after an answer; one loop makes the requests, for content of every kind.


_FINAL = frozenset({FailureCode.BUDGET, FailureCode.TIMEOUT_READ, FailureCode.TIMEOUT_TOTAL})
_BUSY = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Exchange(Generic[V]):
    """A request for content in one variant, with its answer."""

    variant: V
    url: Url
    answer: Page | Failure
    look: Look


Trying = Generator[Ask, Page | Failure, Exchange[V] | None]


class Variants(Protocol[V]):
    """The requests by which one content item can be had."""

    def url(self, variant: V, /) -> Url | None:
        """Return the address to request; None for a variant without one."""

    def judge(self, variant: V, answer: Page | Failure, /) -> Look:
        """Return the judgement on an answer."""

    def others(self, refused: Exchange[V], /) -> Iterable[V]:
        """Yield the variants that may be answered after a refusal, the likeliest first."""


def negotiate(item: Variants[V], first: V, most: int) -> Trying[V]:
    """Request content, after a refusal in other variants, at most `most`, until one is not refused.

    Return that exchange, else the first refusal that a server sent; None when the first variant has no address.
    """
    refused: list[Exchange[V]] = []
    by_server: list[Exchange[V]] = []
    tried: set[V] = set()
    variant: V | None = first
    while variant is not None and (url := item.url(variant)) is not None:
        tried.add(variant)
        answer = yield Ask(url, Purpose.MAP)
        exchange = Exchange(variant, url, answer, item.judge(variant, answer))
        if exchange.look[0] not in REFUSALS:
            return exchange
        refused.append(exchange)
        if isinstance(answer, Page):
            by_server.append(exchange)
        if len(refused) > most or _is_final(answer):
            break
        others = item.others(by_server[-1] if by_server else exchange)
        variant = next((other for other in others if other not in tried and item.url(other) is not None), None)
    return next(iter(by_server or refused), None)


def _is_final(answer: Page | Failure) -> bool:
    """Return whether no other variant is requested: none can help, or the server is slow and does not say what can."""
    if isinstance(answer, Failure):
        return answer.code in _FINAL
    if answer.status in _BUSY:
        return True
    if not is_slow(answer):
        return False
    exception = exception_of(answer)
    return exception is None or not exception.names_a_part


def sample(
    tiles: Sequence[T], ask: Callable[[T], Trying[V]], url: Callable[[T], Url | None]
) -> Generator[Ask, Page | Failure, tuple[T, Exchange[V]] | None]:
    """Request tiles until one has content; return the last one that was requested, None when none has an address.

    A tile that may be a drawn message is compared with another one. `url`: the address of a tile to compare with.
    """
    last = None
    for number, tile in enumerate(tiles):
        if (exchange := (yield from ask(tile))) is None:
            continue
        others = [other for other in tiles if other != tile]
        outcome, detail = yield from doubt(exchange.look, exchange.answer, url(others[-1]) if others else None)
        detail = f"{detail}, after {number} others without" if number else detail
        last = tile, replace(exchange, look=(outcome, detail))
        if outcome not in _WITHOUT_CONTENT or is_slow(exchange.answer):
            break
    return last


def sample_addresses(
    addresses: Sequence[Url], judge: Callable[[Page | Failure], Look]
) -> Generator[Ask, Page | Failure, Exchange[Url] | None]:
    """Request tiles at these addresses until one has content; return the last exchange, None without an address."""

    def ask(url: Url) -> Trying[Url]:
        answer = yield Ask(url, Purpose.MAP)
        return Exchange(url, url, answer, judge(answer))

    last = yield from sample(addresses, ask, lambda url: url)
    return last[1] if last is not None else None


# --------------------------------------------------------------------------- judgements


def judge_features(answer: Page | Failure) -> tuple[ContentOutcome, str]:
    """Return (outcome, detail): OK for one feature or more, BLANK for a collection without any."""
    value = _value(answer)
    if (failed := _failed(answer, value)) is not None:
        return failed
    if value is None or not isinstance(answer, Page):
        return ContentOutcome.NOT_AN_IMAGE, f"no JSON: {answer.content_type if isinstance(answer, Page) else ''}"
    features = value.get("features")
    if isinstance(features, list):
        if not features:
            return ContentOutcome.BLANK, "no features"
        return ContentOutcome.OK, counted(len(features), "feature")
    if value.get("type") == "Feature":
        return ContentOutcome.OK, "a feature"
    return ContentOutcome.NOT_AN_IMAGE, f"JSON with {', '.join(list(value)[:8])}"


def judge_xml(answer: Page | Failure, count: Callable[[etree._Element], str | None], noun: str) -> Look:
    """Return (outcome, detail): OK for one item or more, BLANK for none.

    `count` returns the number of items in a document with their noun, '' for no items, None for another document."""
    if (refused := refusal(answer)) is not None or isinstance(answer, Failure):
        return refused or (ContentOutcome.HTTP_ERROR, "")
    root = read_xml(answer.body, answer.headers.get("content-type", "")).root
    if root is None:
        return ContentOutcome.NOT_AN_IMAGE, f"no XML: {answer.content_type or 'no Content-Type'}"
    if (items := count(root)) is None:
        return ContentOutcome.NOT_AN_IMAGE, f"XML with the root {local_name(root)}"[:200]
    return (ContentOutcome.OK, items) if items else (ContentOutcome.BLANK, f"no {noun}")


def judge_image(answer: Page | Failure, size: tuple[int, int] | None) -> Look:
    """Return (outcome, detail): OK for an image with content, of a size in pixels; None: of any size."""
    if (failed := _failed(answer, _value(answer))) is not None or isinstance(answer, Failure):
        return failed or (ContentOutcome.HTTP_ERROR, "")
    picture = picture_of(answer)
    if not isinstance(picture, DecodedImage):
        return ContentOutcome.NOT_AN_IMAGE, picture
    detail = picture.line
    if picture.is_blank:
        return ContentOutcome.BLANK, detail
    if size is not None and (picture.width, picture.height) != size:
        return ContentOutcome.WRONG_SIZE, f"{detail}, asked for {size[0]} × {size[1]}"
    return ContentOutcome.OK, detail


_MAX_VECTOR_BYTES = 4 * 1024 * 1024
_LAYER_FIELD = 0x1A
"""Number and type of the field `layers` of a tile (Mapbox Vector Tile Specification 2.1, 4.1; protobuf's encoding)."""


def judge_vector_tile(answer: Page | Failure) -> Look:
    """Return (outcome, detail): OK for a vector tile with layers (Mapbox Vector Tile Specification 2.1), BLANK for one
    without any, which has no bytes."""
    if (failed := refusal(answer)) is not None or isinstance(answer, Failure):
        return failed or (ContentOutcome.HTTP_ERROR, "")
    layers = _count_layers(gunzipped(answer.body, _MAX_VECTOR_BYTES))
    if layers is None:
        return ContentOutcome.NOT_AN_IMAGE, f"no vector tile: {answer.content_type or 'no Content-Type'}"
    return (ContentOutcome.OK if layers else ContentOutcome.BLANK), counted(layers, "layer")


def _count_layers(tile: bytes) -> int | None:
    """Return how many layers a tile has; None for invalid bytes."""
    layers = at = 0
    while at < len(tile):
        if tile[at] != _LAYER_FIELD:
            return None
        length = shift = 0
        while (at := at + 1) < len(tile) and shift < 64:
            length |= (tile[at] & 0x7F) << shift
            shift += 7
            if tile[at] < 0x80:
                break
        at += 1 + length
        layers += 1
    return layers if at == len(tile) else None


def doubt(look: Look, answer: Page | Failure, elsewhere: Url | None) -> Generator[Ask, Page | Failure, Look]:
    """Compare an image that may be a drawn message with the image of another place, and return the judgement.

    `look`: the judgement so far; `elsewhere`: address of an image of the same size, if there is another.
    """
    picture = picture_of(answer) if look[0] is ContentOutcome.OK and isinstance(answer, Page) else None
    if elsewhere is None or is_slow(answer) or not isinstance(picture, DecodedImage) or not may_be_text(picture):
        return look
    other = yield Ask(elsewhere, Purpose.MAP)
    if isinstance(other, Page) and _shows(other, picture):
        return ContentOutcome.IMAGE_ERROR_TEXT, f"two places look the same, {look[1]}"
    return look


def _shows(page: Page, picture: DecodedImage) -> bool:
    """Return whether an answer is the same image, pixel by pixel."""
    other = picture_of(page)
    return isinstance(other, DecodedImage) and similarity(other, picture) == 1.0


def _value(answer: Page | Failure) -> JsonObject | None:
    if isinstance(answer, Failure) or answer.body.lstrip()[:1] != b"{":
        return None
    return read_json(answer.body, answer.headers.get("content-type", "")).value


def _failed(answer: Page | Failure, value: JsonObject | None) -> tuple[ContentOutcome, str] | None:
    """Return (outcome, detail) of an error in JSON of any status, or of an answer without content; else None."""
    if value is not None and (error := error_of(value)) is not None:
        return ContentOutcome.EXCEPTION, " ".join(part for part in error if part)
    return refusal(answer)


# --------------------------------------------------------------------------- service exceptions
# WMS 1.3.0, 7.3.3.11 and annex E.2, and OWS Common (OGC 06-121r9, 8) list codes. Many servers send none, or one that
# says nothing (`NoApplicableCode`): then the words of the text decide.


_EXCEPTION = re.compile(r"(?:ServiceException|ExceptionReport|ExceptionText|Exception|WMTException)\Z")
_LOOK_BYTES = 65_536
_CODE_CHARS = 60


class RefusedPart(StrEnum):
    """The part of a request that a server refuses."""

    CRS = "crs"
    FORMAT = "format"
    STYLE = "style"
    DIMENSION = "dimension"
    BOX = "box"
    LAYER = "layer"
    OPTION = "option"
    """An optional parameter: TRANSPARENT, BGCOLOR."""
    UNKNOWN = "unknown"


_WORDS = (
    (RefusedPart.OPTION, re.compile(r"transparent|bgcolor", re.IGNORECASE)),
    (RefusedPart.STYLE, re.compile(r"style", re.IGNORECASE)),
    (RefusedPart.DIMENSION, re.compile(r"dimension|\btime\b|\belevation\b|\bdim_", re.IGNORECASE)),
    (
        RefusedPart.BOX,
        re.compile(r"bbox|bounding ?box|extent|latitude|longitude|axis|axes|m(?:in|ax)[xy]\b", re.IGNORECASE),
    ),
    (RefusedPart.CRS, re.compile(r"\b[cs]rs\b|invalid[cs]rs|projection|reference system|\bepsg\b", re.IGNORECASE)),
    (RefusedPart.FORMAT, re.compile(r"format", re.IGNORECASE)),
    (RefusedPart.LAYER, re.compile(r"layer", re.IGNORECASE)),
)
"""Words by which a subject is known, the rarer ones first: texts often repeat the layer's name or the whole request."""


_PART = re.compile(r"parameter|version|type ?names?\b|namespace|prefix", re.IGNORECASE)
"""Words for other parts of a request."""


@dataclass(frozen=True, slots=True)
class ServiceException:
    """An exception of a service."""

    code: str
    """As sent; '' for none."""
    text: str
    locator: str = ""
    """Name of the parameter that is refused; '' for none."""

    @property
    def subject(self) -> RefusedPart:
        """Return the part of the request that is refused, by code, locator or text, the first that names one."""
        named = (_named_by(part) for part in (self.code, self.locator, self.text))
        return next(filter(None, named), RefusedPart.UNKNOWN)

    @property
    def names_a_part(self) -> bool:
        """Return whether it names the part of the request that is refused."""
        return bool(self.locator) or self.subject is not RefusedPart.UNKNOWN or bool(_PART.search(self.text))

    @property
    def line(self) -> str:
        """Return code and text as a line of at most 300 characters."""
        prefix = f"{self.code}: " if self.code and self.code not in self.text else ""
        return (prefix + (self.text or "an exception without text"))[:_DETAIL_CHARS]


def _named_by(text: str) -> RefusedPart | None:
    return next((subject for subject, words in _WORDS if words.search(text)), None)


def exception_of(page: Page) -> ServiceException | None:
    """Return the exception in XML that a page is; None for any other page."""
    head = page.body[:_LOOK_BYTES].lstrip()
    if not head.startswith(b"<") or b"xception" not in head:
        return None
    root = read_xml(page.body[:_LOOK_BYTES], page.headers.get("content-type", "")).root
    if root is None or not _EXCEPTION.search(local_name(root)):
        return None
    return ServiceException(_first(root, "code", "exceptionCode"), line_of(root), _first(root, "locator"))


def _first(root: etree._Element, *names: str) -> str:
    """Return the first value of an attribute, by any of its names, in an exception."""
    values = (attribute(item, name).strip() for item in root.iter("*") for name in names)
    return next(filter(None, values), "")[:_CODE_CHARS]


# --------------------------------------------------------------------------- dimensions


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
