"""Read service exceptions: their text, their code, and which part of the request they are about.

WMS 1.3.0, 7.3.3.11 and annex E.2, and OWS Common (OGC 06-121r9, 8) list codes. Many servers send none, or one that says
nothing (`NoApplicableCode`): then the words of the text decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from lxml import etree

from geocrawl.formats.elements import attribute, line_of, local_name
from geocrawl.formats.xml_reader import read_xml
from geocrawl.model import Dimension, Page

_EXCEPTION = re.compile(r"(?:ServiceException|ExceptionReport|ExceptionText|Exception|WMTException)\Z")
_LOOK_BYTES = 65_536
_DETAIL_CHARS = 300
_CODE_CHARS = 60


class Subject(StrEnum):
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
    (Subject.OPTION, re.compile(r"transparent|bgcolor", re.IGNORECASE)),
    (Subject.STYLE, re.compile(r"style", re.IGNORECASE)),
    (Subject.DIMENSION, re.compile(r"dimension|\btime\b|\belevation\b|\bdim_", re.IGNORECASE)),
    (
        Subject.BOX,
        re.compile(r"bbox|bounding ?box|extent|latitude|longitude|axis|axes|m(?:in|ax)[xy]\b", re.IGNORECASE),
    ),
    (Subject.CRS, re.compile(r"\b[cs]rs\b|invalid[cs]rs|projection|reference system|\bepsg\b", re.IGNORECASE)),
    (Subject.FORMAT, re.compile(r"format", re.IGNORECASE)),
    (Subject.LAYER, re.compile(r"layer", re.IGNORECASE)),
)
"""Words by which a subject is known, the rarer ones first: texts often repeat the layer's name or the whole request."""


@dataclass(frozen=True, slots=True)
class ServiceException:
    """An exception of a service."""

    code: str
    """As sent; '' for none."""
    text: str
    locator: str = ""
    """Name of the parameter that is refused; '' for none."""

    @property
    def subject(self) -> Subject:
        """Return the part of the request that is refused, by code, locator or text, the first that names one."""
        named = (_named_by(part) for part in (self.code, self.locator, self.text))
        return next(filter(None, named), Subject.UNKNOWN)

    @property
    def line(self) -> str:
        """Return code and text as a line of at most 300 characters."""
        prefix = f"{self.code}: " if self.code and self.code not in self.text else ""
        return (prefix + (self.text or "an exception without text"))[:_DETAIL_CHARS]


def _named_by(text: str) -> Subject | None:
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
    values = (attribute(each, name).strip() for each in root.iter("*") for name in names)
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
