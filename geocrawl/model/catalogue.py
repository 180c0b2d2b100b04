"""Define the columns of services and layers once: views, exports, records, pages and Python values come from them.

`columns(Service)` is the table: name, type, unit, one sentence, label in both languages, and which faces show a column.
Its expression in SQL stands in `store/database/views.py` under the same name. A field more is one entry here and one
expression there. Times are ISO 8601 in UTC; addresses are masked unless a person asks for keys; texts are as the web
wrote them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from geocrawl.model import languages, licences
from geocrawl.model.kinds import Kind

Box = tuple[float, float, float, float]
"""west, south, east, north, degrees; west > east crosses the antimeridian."""
SIDES = ("west", "south", "east", "north")
TIME = "ISO 8601, UTC"
"""Unit of the columns whose text is a time."""
HEALTHS = ("new", "alive", "degraded", "unconfirmed", "down", "gone")
LEVELS = ("advertised", "answers", "delivers")
"""Levels of proof, the lowest first."""
LIST = "JSON list"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a service or of a layer, declared beside its field."""

    meaning: str = ""
    """One sentence for docs/database.md and for the schema of records."""
    unit: str = ""
    label: tuple[str, str] | None = None
    """Its name on the page of a service, in English and Chinese; None: the page does not list it."""
    in_view: bool = True
    in_files: bool = True
    """Whether CSV, JSON lines, GeoJSON, GeoPackage and GeoParquet have it."""
    record: str = ""
    """Property of a record (OGC API – Records) with its value; '' for none."""
    queryable: bool = False
    """Whether filters in CQL2 may name it, without the prefix of `record`."""
    values: tuple[str, ...] = ()
    """All values of a text, where they are few."""
    facet: bool = False
    """Whether a search counts its values, and takes some of them as a condition."""
    is_meant: Callable[[str, str], bool] = operator.eq
    """Whether a service with a value (first) is one that a person asks for by another, in a condition."""
    is_added: bool = False
    """Whether views did not have it from the first: it stands at their end, for whoever counts columns."""
    costly: bool = False
    """Whether a search leaves it out of its hits, because it reads the probes or the evidence of each service."""
    name: str = ""
    sql: str = ""
    """INTEGER, TEXT, BOOLEAN, DATETIME, DOUBLE or BOX, which stands for four columns (`SIDES`)."""
    python: Any = str
    """Type of its values but None: float, tuple[str, ...] …"""

    @property
    def queried_as(self) -> str:
        """Return the name by which filters know it."""
        return (self.record or self.name).removeprefix("geocrawl:")

    @property
    def schema(self) -> Mapping[str, Any]:
        """Return its JSON schema."""
        of_type: dict[str, Any] = {
            "INTEGER": {"type": "integer"},
            "BOOLEAN": {"type": "boolean"},
            "DOUBLE": {"type": "number"},
            "DATETIME": {"type": "string", "format": "date-time"},
        }.get(self.sql, {"type": "string"})
        title = {"title": self.meaning} if self.meaning else {}
        return {**of_type, **title, **({"enum": list(self.values)} if self.values else {})}


@cache
def columns(shape: type) -> Mapping[str, Column]:
    """Return the columns of `Service` or `Layer` by name, in the order of declaration."""
    hints = get_type_hints(shape, include_extras=True)
    declared = {}
    for each in fields(shape):
        type_, column = get_args(hints[each.name])
        python = (
            next((part for part in get_args(type_) if part is not type(None)), type_) if _is_union(type_) else type_
        )
        declared[each.name] = replace(column, name=each.name, sql=_sql_type(python, column), python=python)
    return declared


@cache
def view_columns(shape: type) -> Mapping[str, str]:
    """Return the columns of the view of `Service` or `Layer` with what they mean; a box is its four sides."""
    return {
        name: meaning
        for column in columns(shape).values()
        if column.in_view
        for name, meaning in (
            zip(SIDES, (column.meaning, "", "", ""), strict=True)
            if column.sql == "BOX"
            else [(column.name, column.meaning)]
        )
    }


@cache
def file_columns(shape: type) -> Mapping[str, str]:
    """Return the columns that exports share with their types in SQL; the box stands apart, as a geometry."""
    shown = (column for column in columns(shape).values() if column.in_files and column.sql != "BOX")
    return {column.name: column.sql for column in shown}


def _is_union(type_: Any) -> bool:
    return isinstance(type_, UnionType) or get_origin(type_) is Union


def _sql_type(python: Any, column: Column) -> str:
    if column.unit == TIME:
        return "DATETIME"
    return {int: "INTEGER", bool: "BOOLEAN", float: "DOUBLE", Box: "BOX"}.get(python, "TEXT")


_OF_BEST = "of the best address"


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A service at its best address."""

    id: Annotated[int, Column("number of the service, as `geocrawl show` takes it")]
    kind: Annotated[str, Column("kind of service: wms, wfs, wmts …", record="type", queryable=True, values=tuple(Kind))]
    title: Annotated[str, Column(queryable=True, record="title")] = ""
    abstract: Annotated[str, Column(record="description")] = ""
    provider: Annotated[str, Column(label=("Provider", "提供者"), queryable=True)] = ""
    keywords: Annotated[tuple[str, ...], Column(LIST, label=("Keywords", "关键词"))] = ()
    version: Annotated[str, Column("version of the protocol", record="geocrawl:version")] = ""
    formats: Annotated[tuple[str, ...], Column(f"{LIST} of media types", label=("Formats", "格式"))] = ()
    url: Annotated[str, Column("best address, keys masked as `***`")] = ""
    host: Annotated[str, Column(_OF_BEST, in_files=False)] = ""
    site: Annotated[str, Column("registered domain of the host", in_files=False)] = ""
    online_resource: Annotated[
        str, Column("address by its own capabilities, keys masked", label=("Website", "网站"))
    ] = ""
    layers: Annotated[
        int, Column("number of named layers", label=("Named layers", "命名图层数"), record="geocrawl:layers")
    ] = 0
    alive: Annotated[
        bool,
        Column("whether any of its addresses was valid at its last probe, which was confirmed since", queryable=True),
    ] = False
    health: Annotated[
        str,
        Column(f"state {_OF_BEST}: {', '.join(HEALTHS)}", record="geocrawl:health", queryable=True, values=HEALTHS),
    ] = "new"
    level: Annotated[
        str,
        Column(
            f"level of proof: {', '.join(LEVELS)}; '' without a content check",
            record="geocrawl:level",
            queryable=True,
            values=LEVELS,
        ),
    ] = ""
    https: Annotated[bool | None, Column(f"1: answers over HTTPS; NULL: unknown; {_OF_BEST}")] = None
    cors: Annotated[str, Column(f"Access-Control-Allow-Origin {_OF_BEST}")] = ""
    fees: Annotated[str, Column(label=("Fees", "费用"))] = ""
    access_constraints: Annotated[str, Column(label=("Access constraints", "访问限制"))] = ""
    licence: Annotated[
        str,
        Column(
            "code of the licence that fees and access constraints name (docs/services.md); '' for none or several",
            label=("Licence", "许可"),
            record="license",
            queryable=True,
            facet=True,
            is_added=True,
            is_meant=licences.is_meant,
        ),
    ] = ""
    language: Annotated[
        str,
        Column(
            "language of its title and abstract, ISO 639-1, by their words; of too few words that which it states; '' "
            "for none",
            label=("Language", "语言"),
            record="geocrawl:language",
            queryable=True,
            facet=True,
            is_added=True,
            is_meant=languages.is_meant,
        ),
    ] = ""
    time_start: Annotated[
        str | None,
        Column(
            "first time of the data of any layer; NULL: not known, or open",
            unit=TIME,
            label=("Data from", "数据起始时间"),
            record="geocrawl:time_start",
            queryable=True,
            is_added=True,
        ),
    ] = None
    time_end: Annotated[
        str | None,
        Column(
            "last time of the data of any layer; NULL: not known, or still added to",
            unit=TIME,
            label=("Data until", "数据截止时间"),
            record="geocrawl:time_end",
            queryable=True,
            is_added=True,
        ),
    ] = None
    endpoints: Annotated[int, Column("number of its addresses", in_files=False, costly=True)] = 0
    deviations: Annotated[tuple[str, ...], Column(f"{LIST} of codes (docs/deviations.md), {_OF_BEST}")] = ()
    box: Annotated[
        Box | None,
        Column("extent in degrees (WGS 84), like the next three; NULL: unknown", label=("Extent", "范围")),
    ] = None
    first_seen: Annotated[str, Column("when it was first found", unit=TIME, record="created", queryable=True)] = ""
    last_ok: Annotated[
        str,
        Column("last valid answer of any of its addresses", unit=TIME, record="updated", queryable=True),
    ] = ""
    last_probe: Annotated[str | None, Column(_OF_BEST, unit=TIME)] = None
    country: Annotated[
        str, Column("country, ISO 3166-1, two letters; '' for none", record="geocrawl:country", queryable=True)
    ] = ""
    contact: Annotated[
        Mapping[str, str],
        Column("JSON mapping: person, organization, email, phone …", label=("Contact", "联系方式")),
    ] = field(default_factory=dict)
    availability: Annotated[
        float | None,
        Column(
            f"share of valid answers, 0…1, among the probes that are kept {_OF_BEST}; NULL for fewer than two, or of "
            "one hour",
            costly=True,
        ),
    ] = None
    mean_ms: Annotated[
        float | None,
        Column(f"mean time of valid answers {_OF_BEST}; NULL for fewer than two", unit="milliseconds", costly=True),
    ] = None
    software: Annotated[str, Column("server software, where the best address shows it; '' for none", costly=True)] = ""
    quality: Annotated[
        int, Column("quality, 0 to 100 (docs/services.md)", record="geocrawl:quality", queryable=True)
    ] = 0
    twins: Annotated[
        tuple[int, ...],
        Column(f"{LIST} of `id`: the same content by other protocols of the server", costly=True),
    ] = ()
    page: Annotated[str, Column("a page that names the service, keys masked; '' for none", costly=True)] = ""
    tile: Annotated[
        str, Column("address of a tile that a tile service delivered", in_view=False, in_files=False, costly=True)
    ] = ""
    tile_zoom: Annotated[
        int | None,
        Column(
            "zoom level of the tile of a TMS by its scale, 0: the world in one tile of Web Mercator; None: unknown, or "
            "another grid",
            in_view=False,
            in_files=False,
            costly=True,
        ),
    ] = None
    has_thumbnail: Annotated[
        bool, Column("whether a content check kept a picture of it", in_view=False, in_files=False)
    ] = False

    @property
    def tls(self) -> str:
        """Return the code of what is wrong with its TLS (`tls-expired` …), which was not verified; '' for nothing."""
        return next((code for code in self.deviations if code.startswith("tls-")), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointService(Service):
    """A service as one of its endpoints has it: with that address, its verdict, times and health; `id` is 0 for an
    endpoint that never was valid, whose other columns are mostly unknown."""

    status: Annotated[str, Column("the last verdict: valid or invalid")] = ""
    reason: Annotated[str, Column("`ok`, or why it is invalid")] = ""
    deviation_details: Annotated[
        tuple[Mapping[str, str], ...], Column("code and detail of each deviation", in_files=False)
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer, or its counterpart in other kinds, with the properties that it states itself."""

    service_id: Annotated[int, Column("id in `v_services`")]
    position: Annotated[int, Column("order in the document")]
    parent: Annotated[int | None, Column("`position` of the group that contains it, whose properties it inherits")] = (
        None
    )
    item: Annotated[str, Column("layer, feature-type, coverage, collection …")] = "layer"
    name: Annotated[str, Column("name for requests; '' for a group that cannot be requested")] = ""
    title: Annotated[str, Column()] = ""
    abstract: Annotated[str, Column()] = ""
    keywords: Annotated[tuple[str, ...], Column(LIST, in_files=False)] = ()
    crs: Annotated[tuple[str, ...], Column(f"{LIST} of reference systems")] = ()
    styles: Annotated[tuple[str, ...], Column(f"{LIST} of names")] = ()
    formats: Annotated[tuple[str, ...], Column(f"{LIST} of media types", in_files=False)] = ()
    queryable: Annotated[bool, Column("1: offers GetFeatureInfo")] = False
    box: Annotated[
        Box | None, Column("extent in degrees (WGS 84), like the next three; NULL: inherited or unknown")
    ] = None
    time_start: Annotated[
        str | None, Column("first time of its data; NULL: not known, or open", unit=TIME, is_added=True)
    ] = None
    time_end: Annotated[
        str | None, Column("last time of its data; NULL: not known, or still added to", unit=TIME, is_added=True)
    ] = None
    time_step: Annotated[
        str, Column("time between two of these times, a duration of ISO 8601; '' for none", is_added=True)
    ] = ""
    min_scale: Annotated[
        float | None, Column("least scale denominator at which it is drawn; NULL: none stated", is_added=True)
    ] = None
    max_scale: Annotated[float | None, Column("greatest scale denominator; NULL: none stated", is_added=True)] = None
    fields: Annotated[
        tuple[Mapping[str, str], ...],
        Column(
            "JSON list of the fields of its features, each with name, type and alias; [] for none that are known",
            is_added=True,
        ),
    ] = ()
    licence: Annotated[
        str, Column("code of the licence that it states itself, else that of its service; '' for none", is_added=True)
    ] = ""
    language: Annotated[
        str,
        Column("language of its title and abstract, of fewer than 60 characters that of its service", is_added=True),
    ] = ""
    kind: Annotated[str, Column("of its service", in_files=False)] = ""
    service: Annotated[str, Column("title of its service", in_files=False)] = ""


# --------------------------------------------------------------------------- report


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedService(Service):
    """A service in the report of a month, and what happened to it in that month. Kind, texts, address and health are
    read, and `availability` is that of the month: None for one probe an address, which tells nothing of it."""

    is_new: bool
    """Whether the service was first found in the month."""
    probes: int
    """Number of probes of the service's addresses in the month that are still stored."""
    valid: int
    """Number of those probes whose answer was valid."""
    addresses: int
    """Number of addresses that were probed."""
    went_down: str | None
    """Time at which an address of the service last went down in the month (ISO 8601, UTC); None: none did."""
    came_back: str | None
    """Time at which an address of the service last came back in the month; None: none did."""
    layers_added: int
    layers_removed: int


# --------------------------------------------------------------------------- report cards

BROKEN = ("degraded", "unconfirmed", "down", "gone")
"""States of health of a service that does not answer as it should."""


@dataclass(frozen=True, slots=True)
class CardEntry:
    """A service on the report card of its provider."""

    service: Service
    findings: tuple[str, ...]
    """Codes of what is wrong: the reason why it does not answer, deviations, what it lacks (`lacks-contact`)."""


@dataclass(frozen=True, slots=True)
class ProviderCard:
    """The report card of a provider."""

    provider: str
    """Name by the capabilities; the registered domain of the host where a service names none."""
    entries: tuple[CardEntry, ...]

    @property
    def services(self) -> tuple[Service, ...]:
        """Return its services."""
        return tuple(entry.service for entry in self.entries)

    @property
    def working(self) -> int:
        """Return how many services are alive, or answer at times."""
        return sum(service.health in ("alive", "degraded") for service in self.services)

    @property
    def availability(self) -> float | None:
        """Return the mean of the services' known availabilities; None when none is known."""
        known = [service.availability for service in self.services if service.availability is not None]
        return sum(known) / len(known) if known else None

    @property
    def quality(self) -> int:
        """Return the mean quality of the services, 0 to 100."""
        return round(sum(service.quality for service in self.services) / len(self.entries))

    @property
    def findings(self) -> list[tuple[str, list[Service]]]:
        """Return what is wrong, with the services that it concerns: first what is down, then what is most frequent."""
        concerned = dict[str, list[Service]]()
        for entry in self.entries:
            for code in entry.findings:
                concerned.setdefault(code, []).append(entry.service)
        causes = {entry.findings[0] for entry in self.entries if entry.service.health in BROKEN and entry.findings}
        return sorted(concerned.items(), key=lambda item: (item[0] not in causes, -len(item[1]), item[0]))
