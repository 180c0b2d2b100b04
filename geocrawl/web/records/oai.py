"""Answer OAI-PMH 2.0 (<https://www.openarchives.org/OAI/openarchivesprotocol.html>): harvesters take over all records,
and later what has changed since.

A record has the time of its service's last valid answer. A resumption token says all that the next part needs, so
nothing is kept between requests."""

from __future__ import annotations

import datetime as dt
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lxml import etree
from lxml.builder import ElementMaker
from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.iso import GMD, MDB, PREFIX, as_xml, iso19115_3, iso19139, page_of
from geocrawl.export.properties import name_of
from geocrawl.model.catalogue import Service
from geocrawl.model.kinds import short_name
from geocrawl.store.catalogue.catalogue import Catalogue
from geocrawl.web.answers import LazyResponse
from geocrawl.web.records.metadata import services_of
from geocrawl.web.site import base_url, site_of
from geocrawl.wording import iso

PATH = "/oai"
_NAMESPACE = "http://www.openarchives.org/OAI/2.0/"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_PART = 100
"""Records of one answer."""
_E = ElementMaker(namespace=_NAMESPACE, nsmap={None: _NAMESPACE, "xsi": _XSI})  # type: ignore[dict-item,unused-ignore]
_OAI_DC, _DC = "http://www.openarchives.org/OAI/2.0/oai_dc/", "http://purl.org/dc/elements/1.1/"
_RECORD, _TERM = (ElementMaker(namespace=each, nsmap={"oai_dc": _OAI_DC, "dc": _DC}) for each in (_OAI_DC, _DC))


def oai_dc(service: Service, base: str) -> etree._Element:
    """Return a service as Dublin Core, which every harvester of this protocol reads."""
    said = {
        "title": [name_of(service)],
        "subject": service.keywords,
        "description": [service.abstract],
        "publisher": [service.provider],
        "date": [service.last_ok],
        "type": ["Service"],
        "format": [short_name(service.kind)],
        "identifier": [service.url, page_of(service, base)],
        "rights": [service.access_constraints],
    }
    texts = ((name, as_xml(text)) for name, values in said.items() for text in values)
    record: etree._Element = _RECORD.dc(*(_TERM(name, text) for name, text in texts if text))
    return record


@dataclass(frozen=True, slots=True)
class _MetadataFormat:
    """A format of metadata."""

    schema: str
    namespace: str
    write: Callable[[Service, str], etree._Element]


FORMS: Mapping[str, _MetadataFormat] = {
    "oai_dc": _MetadataFormat("http://www.openarchives.org/OAI/2.0/oai_dc.xsd", _OAI_DC, oai_dc),
    "iso19139": _MetadataFormat("http://schemas.opengis.net/iso/19139/20060504/gmd/gmd.xsd", GMD, iso19139),
    "iso19115-3": _MetadataFormat("https://schemas.isotc211.org/19115/-3/mdb/2.0/mdb.xsd", MDB, iso19115_3),
}
"""metadataPrefix → the format."""
_ARGUMENTS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "Identify": (frozenset(), frozenset()),
    "ListMetadataFormats": (frozenset(), frozenset({"identifier"})),
    "ListSets": (frozenset(), frozenset({"resumptionToken"})),
    "GetRecord": (frozenset({"identifier", "metadataPrefix"}), frozenset()),
    "ListIdentifiers": (frozenset({"metadataPrefix"}), frozenset({"from", "until", "set"})),
    "ListRecords": (frozenset({"metadataPrefix"}), frozenset({"from", "until", "set"})),
}
"""Verb → the arguments that it needs, and those that it may have."""
PARAMETERS = ("verb", "metadataPrefix", "identifier", "from", "until", "resumptionToken")
_TOKEN = re.compile(r"([a-z0-9_-]{1,20})!([0-9]{1,12})!([0-9]{1,12})!([0-9]{1,15})")
_DAY, _SECOND = re.compile(r"\d{4}-\d\d-\d\d"), re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_FAR = 99_999_999_999


class _Fault(Exception):
    """An error of the protocol (3.6): its code and a sentence."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(said)
        self.code = code


async def oai(request: Request) -> Response:
    """Return the answer of a verb, or an error of the protocol, which HTTP calls a success, too."""
    given = request.query_params
    address = f"{base_url(request)}{PATH}"
    asked = {name: as_xml(value) for name, value in given.items()}
    try:
        content = await _answered(request, _checked(given.multi_items()))
    except _Fault as fault:
        kept = {} if fault.code in ("badVerb", "badArgument") else asked
        error = _E.error(as_xml(str(fault)), code=fault.code)
        return _document(address, kept, lambda: error)
    return _document(address, asked, content)


def _document(address: str, asked: Mapping[str, str], content: Callable[[], etree._Element]) -> Response:
    def make() -> bytes:
        location = f"{_NAMESPACE} http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd"
        root = getattr(_E, "OAI-PMH")(
            _E.responseDate(iso(time.time())),
            _E.request(address, **asked),
            content(),
            {f"{{{_XSI}}}schemaLocation": location},
        )
        document: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8")
        return document

    return LazyResponse(make, 200, {}, "text/xml; charset=utf-8")


def _checked(given: list[tuple[str, str]]) -> dict[str, str]:
    """Return the arguments of a verb. Raises _Fault for those that it has not, and for what it lacks."""
    arguments = dict(given)
    verb = arguments.get("verb", "")
    if verb not in _ARGUMENTS or sum(name == "verb" for name, _ in given) > 1:
        raise _Fault("badVerb", f"verb: expected one of {', '.join(_ARGUMENTS)}")
    names = set(arguments) - {"verb"}
    needed, more = _ARGUMENTS[verb]
    if len(given) > len(arguments):
        raise _Fault("badArgument", "an argument is given twice")
    if verb in ("ListIdentifiers", "ListRecords") and names == {"resumptionToken"}:
        return arguments
    if not needed <= names <= needed | more:
        raise _Fault("badArgument", f"{verb} needs {sorted(needed)} and may have {sorted(more)}")
    if "set" in names or verb == "ListSets":
        raise _Fault("noSetHierarchy", "there are no sets")
    if arguments.get("metadataPrefix", "oai_dc") not in FORMS:
        raise _Fault("cannotDisseminateFormat", f"metadataPrefix: expected one of {', '.join(FORMS)}")
    return arguments


async def _answered(request: Request, arguments: Mapping[str, str]) -> Callable[[], etree._Element]:
    verb = arguments["verb"]
    if verb == "Identify":
        first, _ = await site_of(request).reader.read(Catalogue.span)
        return lambda: _identify(request, first)
    if verb == "ListMetadataFormats":
        if "identifier" in arguments:
            await _one(request, arguments["identifier"])
        return _formats
    if verb == "GetRecord":
        record = await _one(request, arguments["identifier"])
        base, form = base_url(request), FORMS[arguments["metadataPrefix"]]
        return lambda: _E.GetRecord(_record(record, form, base))  # type: ignore[no-any-return,unused-ignore]
    return await _list(request, arguments)


def _identify(request: Request, first: float) -> etree._Element:
    element: etree._Element = _E.Identify(
        _E.repositoryName("geocrawl: catalogue of geospatial web services"),
        _E.baseURL(f"{base_url(request)}{PATH}"),
        _E.protocolVersion("2.0"),
        _E.adminEmail(site_of(request).options.mail or "nobody@example.org"),
        _E.earliestDatestamp(iso(first)),
        _E.deletedRecord("transient"),
        _E.granularity("YYYY-MM-DDThh:mm:ssZ"),
    )
    return element


def _formats() -> etree._Element:
    element: etree._Element = _E.ListMetadataFormats(
        *(
            _E.metadataFormat(_E.metadataPrefix(name), _E.schema(form.schema), _E.metadataNamespace(form.namespace))
            for name, form in FORMS.items()
        )
    )
    return element


# --------------------------------------------------------------------------- records


@dataclass(frozen=True, slots=True)
class _Record:
    """A service, or that one of this number is no more."""

    number: int
    service: Service | None
    gone_at: float = 0.0


async def _one(request: Request, named: str) -> _Record:
    """Return the record of an identifier. Raises _Fault where there never was one."""
    text = named.removeprefix(PREFIX)
    if not (named.startswith(PREFIX) and text.isascii() and text.isdecimal() and len(text) <= 15):
        raise _Fault("idDoesNotExist", f"an identifier is {PREFIX} and a number")
    services = await services_of(request, [int(text)])
    if services:
        return _Record(services[0].id, services[0])

    def question(catalogue: Catalogue) -> float | None:
        return catalogue.span()[1] if catalogue.is_gone(int(text)) else None

    at = await site_of(request).reader.read(question)
    if at is None:
        raise _Fault("idDoesNotExist", "there never was such a service")
    return _Record(int(text), None, at)


async def _list(request: Request, arguments: Mapping[str, str]) -> Callable[[], etree._Element]:
    name, since, until, after = _read_token(arguments) if "resumptionToken" in arguments else _read_span(arguments)

    found, (_, latest) = await site_of(request).reader.read(
        lambda catalogue: (catalogue.harvest(after, since, until, _PART + 1), catalogue.span())
    )
    if not found:
        raise _Fault("noRecordsMatch", "no record has changed in that time")
    part = found[:_PART]
    present = [each.number for each in part if not each.is_gone]
    services = {each.id: each for each in await services_of(request, present)}
    if 0 < len(services) < len(present):  # an answer has no room for the others: they begin the next part
        part = part[: max(number for number, each in enumerate(part) if each.number in services) + 1]
    base, form, with_metadata = base_url(request), FORMS[name], arguments["verb"] == "ListRecords"

    def make() -> etree._Element:
        list_ = _E(arguments["verb"])
        for each in part:
            record = _Record(each.number, services.get(each.number), latest)  # a service may have gone just now
            list_.append(_record(record, form, base) if with_metadata else _header(record))
        if len(found) > len(part):
            list_.append(_E.resumptionToken(f"{name}!{since}!{until}!{part[-1].number}"))
        elif "resumptionToken" in arguments:
            list_.append(_E.resumptionToken())
        return list_  # type: ignore[no-any-return,unused-ignore]

    return make


def _read_token(arguments: Mapping[str, str]) -> tuple[str, int, int, int]:
    found = _TOKEN.fullmatch(arguments["resumptionToken"])
    if found is None or found[1] not in FORMS:
        raise _Fault("badResumptionToken", "a token of another server, or a part of one; begin again")
    return found[1], int(found[2]), int(found[3]), int(found[4])


def _read_span(arguments: Mapping[str, str]) -> tuple[str, int, int, int]:
    """Return (prefix, from, until exclusive, 0). Raise _Fault for invalid dates."""
    texts = [arguments[name] for name in ("from", "until") if name in arguments]
    if not (all(map(_DAY.fullmatch, texts)) or all(map(_SECOND.fullmatch, texts))):
        raise _Fault("badArgument", "from and until are both dates or both times such as 2026-01-31T00:00:00Z")
    since = _seconds(arguments["from"]) if "from" in arguments else 0
    last = arguments.get("until")
    until = _FAR if last is None else _seconds(last) + (1 if "T" in last else 86_400)
    if since >= until:
        raise _Fault("badArgument", "from is later than until")
    return arguments["metadataPrefix"], since, until, 0


def _seconds(text: str) -> int:
    try:
        at = dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)
    except ValueError:
        raise _Fault("badArgument", f"{text}: no such day or time") from None
    return max(int(at.timestamp()), 0)


def _record(record: _Record, form: _MetadataFormat, base: str) -> etree._Element:
    metadata = [_E.metadata(form.write(record.service, base))] if record.service else []
    element: etree._Element = _E.record(_header(record), *metadata)
    return element


def _header(record: _Record) -> etree._Element:
    at, status = (record.service.last_ok, {}) if record.service else (iso(record.gone_at), {"status": "deleted"})
    element: etree._Element = _E.header(_E.identifier(f"{PREFIX}{record.number}"), _E.datestamp(at), **status)
    return element
