"""Make the address of a slice of a list: its records of a span of time, without a date, or whose identifier begins so.

Servers that refuse positions beyond some thousand records (10,000 where Elasticsearch answers) give all of a longer
list in slices, each shorter than that.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from xml.sax.saxutils import escape

from geocrawl.model import Url
from geocrawl.urls.endpoints import query_parameters
from geocrawl.urls.records import with_parameters

_MODIFIED = ("dct:modified", "apiso:modified", "dc:date")
"""Queryables of CSW for the date of modification (OGC 07-006r1, table 1; OGC 07-045, table 6), in the order in which
they are tried."""
_NAMESPACES = (
    'xmlns:ogc="http://www.opengis.net/ogc" xmlns:dct="http://purl.org/dc/terms/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:apiso="http://www.opengis.net/cat/csw/apiso/1.0"'
)


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a list."""

    way: int = 0
    """Which of the family's dates the span is of."""
    lower: int = 0
    upper: int = 0
    """Span of the date of modification in seconds since 1970, half-open; equal: no span."""
    prefix: str = ""
    """What the identifier begins with; '' for any."""
    undated: bool = False
    """Only records without a date of modification."""


def ways_of(family: str) -> int:
    """Return by how many dates a family of catalogues can be tried; 0 for one that cannot be sliced."""
    return {"csw": len(_MODIFIED), "ckan": 1, "arcgis": 1}.get(family, 0)


def slice_url(family: str, first: Url, part: Slice) -> Url | None:
    """Return the address of the first page of a slice; `first`: that of the whole list.

    None where the family has no such slice, and for a CSW's list that is filtered already.
    """
    if family == "csw":
        return _of_csw(first, part)
    if part.undated:
        return None
    given = {name.lower(): value for name, value in query_parameters(first)}
    if family == "ckan":
        span = f"metadata_modified:[{_utc(part.lower)} TO {_utc(part.upper)}}}"
        return with_parameters(first, {"fq": _joined(given.get("fq", ""), part, span, "name"), "start": "0"})
    if family == "arcgis":
        span = f"modified:[{part.lower * 1000} TO {part.upper * 1000 - 1}]"
        return with_parameters(first, {"q": _joined(given.get("q", ""), part, span, "id"), "start": "1"})
    return None


def _joined(given: str, part: Slice, span: str, identifier: str) -> str:
    """Return a query of Lucene's syntax for a slice of what another one finds."""
    terms = [f"({given})" if given else "", span if part.lower < part.upper else ""]
    return " AND ".join(filter(None, [*terms, f"{identifier}:{part.prefix}*" if part.prefix else ""]))


def _of_csw(first: Url, part: Slice) -> Url | None:
    if any(name.lower() == "constraint" for name, _ in query_parameters(first)):
        return None
    name, conditions = _MODIFIED[part.way], list[str]()
    if part.undated:
        conditions = [f"<ogc:PropertyIsNull>{_property(name)}</ogc:PropertyIsNull>"]
    if part.lower < part.upper:
        conditions = [
            _compared("GreaterThanOrEqualTo", name, _utc(part.lower)),
            _compared("LessThan", name, _utc(part.upper)),
        ]
    if part.prefix:
        like = f"{_property('dc:identifier')}<ogc:Literal>{escape(part.prefix)}*</ogc:Literal>"
        conditions.append(
            f'<ogc:PropertyIsLike wildCard="*" singleChar="_" escapeChar="\\">{like}</ogc:PropertyIsLike>'
        )
    inner = "".join(conditions) if len(conditions) == 1 else f"<ogc:And>{''.join(conditions)}</ogc:And>"
    changes = {
        "constraintLanguage": "FILTER",
        "constraint_language_version": "1.1.0",
        "constraint": f"<ogc:Filter {_NAMESPACES}>{inner}</ogc:Filter>",
        "startPosition": "1",
    }
    return with_parameters(first, changes)


def _property(name: str) -> str:
    return f"<ogc:PropertyName>{name}</ogc:PropertyName>"


def _compared(how: str, name: str, value: str) -> str:
    inner = f"{_property(name)}<ogc:Literal>{value}</ogc:Literal>"
    return f"<ogc:PropertyIs{how}>{inner}</ogc:PropertyIs{how}>"


def _utc(seconds: int) -> str:
    return (dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
