"""Say which services a search is about, besides its words, and read these conditions from texts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from geocrawl.errors import UsageError
from geocrawl.model import Kind
from geocrawl.model.catalogue import HEALTHS, LEVELS, Box
from geocrawl.model.times import Times, read_interval, read_time
from geocrawl.sanitize import plain
from geocrawl.wording import Sentence

DAY_S = 86_400.0
EVERYWHERE: Box = (-180.0, -90.0, 180.0, 90.0)


class QueryError(UsageError):
    """A query that cannot be read; its message says what was typed and what is expected."""


def unreadable(said: str, text: str, expected: str) -> QueryError:
    """Return the error of a value that cannot be read. `said`: what the user typed before it (`kind:`, `--bbox`);
    `expected`: a Sentence where it has words."""
    values = {"said": said.rstrip(":"), "text": plain(text, 80), "expected": expected}
    return QueryError(Sentence("{said} “{text}”: expected {expected}", **values))


class Sort(StrEnum):
    """The order of the results."""

    RELEVANCE = "relevance"
    NAME = "name"
    HEALTH = "health"
    NEWEST = "newest"
    QUALITY = "quality"
    """The highest score first."""


@dataclass(frozen=True, slots=True)
class Cql2:
    """A filter in the Common Query Language (CQL2, OGC 21-065r2), which the search reads."""

    text: str
    is_json: bool = False
    """Whether `text` is CQL2 JSON, not CQL2 text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Conditions that a service must meet, all of them; of several values of one field, any of them."""

    kinds: tuple[Kind, ...] = ()
    box: Box | None = None
    """The extent meets this box."""
    within: Box | None = None
    """The extent lies within this box."""
    systems: tuple[str, ...] = ()
    """Reference systems, such as EPSG:25832: of the service or any of its layers."""
    formats: tuple[str, ...] = ()
    """Media types or parts of them, such as image/png or geojson."""
    fields: tuple[str, ...] = ()
    """Names or aliases of fields that a layer has, in any case."""
    countries: tuple[str, ...] = ()
    """ISO 3166-1 codes of two letters, in upper case."""
    providers: tuple[str, ...] = ()
    """Whole names of providers; a text that is no provider's name is of words that a provider's name has, or part of a
    host."""
    health: tuple[str, ...] = ()
    columns: tuple[tuple[str, str], ...] = ()
    """Facets that are columns (`model.search.OF_COLUMNS`) with a value, such as ("licence", "CC-BY-4.0")."""
    time: Times | None = None
    """The data is of a time that meets this one."""
    level: str = ""
    """The least level of proof: advertised, answers or delivers."""
    alive: bool = False
    """Valid at the last probe."""
    answered_within_s: float | None = None
    """The last valid answer is not older, seconds."""
    new_within_s: float | None = None
    """The service was not found earlier, seconds."""
    cql2: Cql2 | None = None
    """A filter in the Common Query Language."""


MOST_VALUES = 40
"""Most different values of all conditions of a search together."""
_SEVERAL = ("kinds", "systems", "formats", "fields", "countries", "providers", "health", "columns")


def demand_few_values(every: Iterable[Filters]) -> None:
    """Raise QueryError when conditions have too many values together; one that is named twice counts once."""
    values = {(name, value) for filters in every for name in _SEVERAL for value in getattr(filters, name)}
    if len(values) > MOST_VALUES:
        raise QueryError(
            Sentence("the conditions have {n} values together; name {most} at most", n=len(values), most=MOST_VALUES)
        )


_URN = re.compile(r"urn:(?:x-)?ogc:def:crs:([A-Za-z]+):[\w.]*:([\w.]+)", re.I)
_URL = re.compile(r"https?://www\.opengis\.net/def/crs/([A-Za-z]+)/[\w.]*/([\w.]+)", re.I)
_CODE = re.compile(r"[A-Za-z][\w-]*:[\w.-]+")
_SPAN = re.compile(r"(\d{1,6})\s*([shdwmy]?)", re.I)
_SPAN_S = {"s": 1.0, "h": DAY_S / 24, "": DAY_S, "d": DAY_S, "w": 7 * DAY_S, "m": 30 * DAY_S, "y": 365 * DAY_S}


def read_box(text: str, said: str = "bbox") -> Box:
    """Return the box of `W,S,E,N` in degrees; raise QueryError for invalid text. `said`: what the user typed
    before it, for the message."""
    wrong = unreadable(
        *(said, text),
        Sentence("W,S,E,N in degrees, south below north, such as 5,47,15,55 (W above E crosses the antimeridian)"),
    )
    try:
        west, south, east, north = (float(part) for part in text.split(","))
    except ValueError:
        raise wrong from None
    sides = (west, south, east, north)
    if not all(map(math.isfinite, sides)) or not (-180 <= west <= 180 and -180 <= east <= 180):
        raise wrong
    if not -90 <= south <= north <= 90:
        raise wrong
    return sides


def read_system(text: str, said: str = "crs") -> str:
    """Return the code of a reference system: `4326` and `urn:ogc:def:crs:EPSG::4326` are `EPSG:4326`. Raises
    QueryError for text that is no code."""
    code = text.strip()
    if code.isascii() and code.isdecimal() and len(code) <= 9:
        return f"EPSG:{int(code)}"
    if named := _URN.fullmatch(code) or _URL.fullmatch(code):
        return f"{named[1].upper()}:{named[2]}"
    if not _CODE.fullmatch(code):
        raise unreadable(said, text, Sentence("the code of a reference system, such as EPSG:4326 or CRS:84"))
    return code


def read_times(text: str, said: str = "time") -> Times:
    """Return the times of a year, month, day or time (RFC 3339), or of `START/END` with an open end as `..`. Raises
    QueryError."""
    start, slash, end = text.strip().partition("/")
    end = end if slash else start
    found, first, last = read_interval(start, end), read_time(start), read_time(end)
    if found is None or (first and last and last[1] < first[0]):
        raise unreadable(said, text, Sentence("a time such as 2026, 2026-01-31T00:00:00Z, or an interval START/END"))
    return found


def read_span(text: str, said: str) -> float:
    """Return the seconds of `12h`, `30d`, `2w`, `6m`, `1y`; a number alone means days. Raises QueryError."""
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise unreadable(said, text, Sentence("a time such as 12h, 30d, 2w, 6m or 1y"))
    return int(found[1]) * _SPAN_S[found[2].lower()]


def read_level(text: str, said: str = "level") -> str:
    """Return a level of proof. Raises QueryError for another word."""
    return _one_of(LEVELS, text, said)


def read_health(text: str, said: str = "health") -> str:
    """Return a state of health. Raises QueryError for another word."""
    return _one_of(HEALTHS, text, said)


def _one_of(words: Sequence[str], text: str, said: str) -> str:
    if text.lower() not in words:
        raise unreadable(said, text, Sentence("{one} or {other}", one=", ".join(words[:-1]), other=words[-1]))
    return text.lower()


def read_kind(text: str, said: str = "kind") -> Kind:
    """Return a kind of service by its name in the catalogue. Raises QueryError for another word."""
    try:
        return Kind(text.strip().lower())
    except ValueError:
        raise unreadable(said, text, Sentence("one of {values}", values=", ".join(Kind))) from None
