"""Make the address of a part of a list: records changed since a day, or a slice: those of a span of time, without a
date, or whose identifier begins so.

Servers that refuse positions beyond some thousand records (10,000 where Elasticsearch answers) give all of a longer
list in slices, each shorter than that.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from geocrawl.model import Url
from geocrawl.urls.endpoints import query_parameters
from geocrawl.urls.records import list_url, with_parameters

_MODIFIED = ("dct:modified", "apiso:modified", "dc:date")
"""Queryables of CSW for the date of modification (OGC 07-006r1, table 1; OGC 07-045, table 6), in the order in which
they are tried: first in filters, then in CQL."""
_CQL = len(_MODIFIED)
"""First way of a CSW that is written in CQL (OGC 07-006r1, 6.2.2), for servers that take no filters."""
_NAMESPACES = (
    'xmlns:ogc="http://www.opengis.net/ogc" xmlns:dct="http://purl.org/dc/terms/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:apiso="http://www.opengis.net/cat/csw/apiso/1.0"'
)


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a list."""

    way: int = 0
    """Which of the family's dates the span is of, and in which language it is written."""
    lower: int = 0
    upper: int = 0
    """Span of the date of modification in seconds since 1970, half-open; equal: no span."""
    prefix: str = ""
    """What the identifier begins with; '' for any."""
    undated: bool = False
    """Only records without a date of modification."""


FIRST_DAY = -2_208_988_800
"""1900-01-01 in seconds since 1970: slices begin there."""
LAST_DAY = 7_258_118_400
"""2200-01-01 likewise: slices of what records are about end there."""
_NEVER = "2200-01-01"
"""A day since which no record was changed: a server that finds some ignores the filter."""
_DAY_S = 86_400
_SCROLL_START = "0000-0000"
"""Text before every identifier of Socrata, which is two groups of four letters and digits."""


def ways_of(family: str, first: Url) -> range:
    """Return the ways in which the list that begins at `first` can be asked by date; empty for one that cannot be
    sliced. A list that is selected by a constraint takes another one in the same language."""
    if family != "csw":
        return range(int(family in _WRITERS or scrolls(family)))
    values = _values(first)
    if not values.get("constraint", "").strip():
        return range(2 * _CQL)
    return range(_CQL, 2 * _CQL) if _is_cql(values) else range(_CQL)


def ways_by_identifier(ways: range) -> range:
    """Return the ways to write what identifiers begin with: one a language."""
    return ways[::_CQL]


def end_of_spans(family: str, now: float) -> int:
    """Return where the last span of a list ends, in seconds since 1970: no date of change lies in the future."""
    return LAST_DAY if family == "ogcapi-records" else (int(now) // _DAY_S + 2) * _DAY_S


def scrolls(family: str) -> bool:
    """Return whether a family gives a list of any length to requests that name the last record, not a position."""
    return family == "socrata"


def modified_since(csw: Url, day: str, way: int = 0) -> Url:
    """Return the request for those of a list's records that were modified on a day (YYYY-MM-DD) or later.

    `csw`: GetRecords for the whole list; `way`: one of `ways_of`."""
    name = _MODIFIED[way % _CQL]
    changes = _cql([f"{name} >= '{day}'"]) if way >= _CQL else _filter([_compared("GreaterThanOrEqualTo", name, day)])
    return with_parameters(csw, changes)


def control_of(csw: Url, way: int) -> Url:
    """Return the request to which a server that selects by date in this way answers that no record fits."""
    return with_parameters(modified_since(csw, _NEVER, way), {"maxRecords": "1"})


def is_control(url: Url) -> bool:
    """Return whether an address is a request of `control_of`."""
    return _NEVER in url.address and _NEVER in _values(url).get("constraint", "")


def slice_url(family: str, first: Url, part: Slice) -> Url | None:
    """Return the address of the first page of a slice; `first`: that of the whole list.

    None where the family has no such slice, and where the list's own filter cannot be joined with another.
    """
    if family == "csw":
        return _of_csw(first, part)
    if scrolls(family):
        return with_parameters(list_url(first), {"limit": "100", "scroll_id": _SCROLL_START})
    given = _values(first)
    changes = _WRITERS[family](given, part) if family in _WRITERS else None
    return with_parameters(first, changes) if changes else None


def _of_ckan(given: Mapping[str, str], part: Slice) -> dict[str, str] | None:
    span = f"metadata_modified:[{_utc(part.lower)} TO {_utc(part.upper)}}}"
    return None if part.undated else {"fq": _joined(given.get("fq", ""), part, span, "name"), "start": "0"}


def _of_arcgis(given: Mapping[str, str], part: Slice) -> dict[str, str] | None:
    span = f"modified:[{part.lower * 1000} TO {part.upper * 1000 - 1}]"
    return None if part.undated else {"q": _joined(given.get("q", ""), part, span, "id"), "start": "1"}


def _of_opendatasoft(given: Mapping[str, str], part: Slice) -> dict[str, str] | None:
    """Return a query of ODSQL (Explore API v2.1)."""
    terms = [f"({given['where']})"] if given.get("where") else []
    if part.undated:
        terms.append("modified is null")
    if part.lower < part.upper:
        terms.append(f"modified>=date'{_utc(part.lower)}' and modified<date'{_utc(part.upper)}'")
    if part.prefix:
        terms.append(f"startswith(dataset_id,'{part.prefix}')")
    return {"where": " and ".join(terms), "offset": "0"}


def _of_records(given: Mapping[str, str], part: Slice) -> dict[str, str] | None:
    """Return the span as `datetime`, a closed interval of what records are about (OGC 17-069r4, 7.15.4).

    What they are about may be older than catalogues, or to come: the first and the last span have no such end.
    """
    if part.undated or part.prefix or given.get("datetime"):
        return None
    at_start = {name: "0" for name in ("offset", "startindex") if name in given}
    lower = _utc(part.lower) if part.lower > FIRST_DAY else "0001-01-01T00:00:00Z"
    upper = _utc(part.upper) if part.upper < LAST_DAY else "9999-12-31T23:59:59Z"
    return {"datetime": f"{lower}/{upper}", **at_start}


_WRITERS: Mapping[str, Callable[[Mapping[str, str], Slice], dict[str, str] | None]] = {
    "ckan": _of_ckan,
    "arcgis": _of_arcgis,
    "opendatasoft": _of_opendatasoft,
    "ogcapi-records": _of_records,
}


def _values(url: Url) -> dict[str, str]:
    return {name.lower(): value for name, value in query_parameters(url)}


def _is_cql(values: Mapping[str, str]) -> bool:
    return values.get("constraintlanguage", "").upper() == "CQL_TEXT"


def _joined(given: str, part: Slice, span: str, identifier: str) -> str:
    """Return a query of Lucene's syntax for a slice of what another one finds."""
    terms = [f"({given})" if given else "", span if part.lower < part.upper else ""]
    return " AND ".join(filter(None, [*terms, f"{identifier}:{part.prefix}*" if part.prefix else ""]))


_FILTER = re.compile(r"<ogc:Filter[^>]*>\s*(<ogc:(?:PropertyIs|And|Or|Not)\w*[ >].{1,4000}>)\s*</ogc:Filter>", re.S)
_PREFIXES = re.compile(r"</?(\w*)[: >]")


def _of_csw(first: Url, part: Slice) -> Url | None:
    values = _values(first)
    given = values.get("constraint", "").strip()
    if given and _is_cql(values) != (part.way >= _CQL):
        return None  # one constraint is written in one language
    changes = _sliced_cql(given, part) if part.way >= _CQL else _sliced_filter(given, part)
    return with_parameters(first, {**changes, "startPosition": "1"}) if changes else None


def _sliced_cql(given: str, part: Slice) -> dict[str, str]:
    name, terms = _MODIFIED[part.way - _CQL], [f"({given})"] if given else []
    if part.undated:
        terms.append(f"{name} IS NULL")
    if part.lower < part.upper:
        terms += [f"{name} >= '{_utc(part.lower)}'", f"{name} < '{_utc(part.upper)}'"]
    if part.prefix:
        terms.append(f"dc:identifier LIKE '{part.prefix}%'")
    return _cql(terms)


def _cql(terms: Sequence[str]) -> dict[str, str]:
    return {"constraintLanguage": "CQL_TEXT", "constraint_language_version": "1.1.0", "constraint": " AND ".join(terms)}


def _sliced_filter(given: str, part: Slice) -> dict[str, str] | None:
    filtered = _FILTER.fullmatch(given)
    if given and (filtered is None or set(_PREFIXES.findall(filtered[1])) != {"ogc"}):
        return None
    name, conditions = _MODIFIED[part.way], [filtered[1]] if filtered else []
    if part.undated:
        conditions += [f"<ogc:PropertyIsNull>{_property(name)}</ogc:PropertyIsNull>"]
    if part.lower < part.upper:
        conditions += [
            _compared("GreaterThanOrEqualTo", name, _utc(part.lower)),
            _compared("LessThan", name, _utc(part.upper)),
        ]
    if part.prefix:
        like = f"{_property('dc:identifier')}<ogc:Literal>{escape(part.prefix)}*</ogc:Literal>"
        conditions.append(
            f'<ogc:PropertyIsLike wildCard="*" singleChar="_" escapeChar="\\">{like}</ogc:PropertyIsLike>'
        )
    return _filter(conditions)


def _filter(conditions: Sequence[str]) -> dict[str, str]:
    inner = "".join(conditions) if len(conditions) == 1 else f"<ogc:And>{''.join(conditions)}</ogc:And>"
    return {
        "constraintLanguage": "FILTER",
        "constraint_language_version": "1.1.0",
        "constraint": f"<ogc:Filter {_NAMESPACES}>{inner}</ogc:Filter>",
    }


def _property(name: str) -> str:
    return f"<ogc:PropertyName>{name}</ogc:PropertyName>"


def _compared(how: str, name: str, value: str) -> str:
    inner = f"{_property(name)}<ogc:Literal>{value}</ogc:Literal>"
    return f"<ogc:PropertyIs{how}>{inner}</ogc:PropertyIs{how}>"


def _utc(seconds: int) -> str:
    return (dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
