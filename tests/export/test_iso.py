"""Records of ISO 19139 and ISO 19115-3: the standards' schemas accept them, OWSLib reads back what was written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from owslib.iso import MD_Metadata
from owslib.iso3 import MD_Metadata as NewMetadata

from geocrawl.export.iso import GMD, MDB, RECORDS, record_bytes
from geocrawl.export.services import export_services
from geocrawl.model.catalogue import Service
from tests.support.parts import ISO_SCHEMAS, PYCSW, lack
from tests.support.places import ROOT
from tests.support.published import ROADS, hostile, numbered, of_every_kind

CONTACT = {
    **{"person": "Map desk", "organization": "Office", "position": "Head", "email": "desk@maps.example"},
    **{"phone": "+49 30 1", "address": "Street 1", "city": "Strelsau", "country": "Ruritania"},
}
BASE = "https://catalogue.example"
_ISO_3 = "https://schemas.isotc211.org/19115/-3"
_GMD = "http://schemas.opengis.net/iso/19139/20060504"
_WANTED = {
    "iso19139": {GMD: f"{_GMD}/gmd/gmd.xsd", "http://www.isotc211.org/2005/srv": f"{_GMD}/srv/srv.xsd"},
    "iso19115-3": {
        MDB: f"{_ISO_3}/mdb/2.0/mdb.xsd",
        "http://standards.iso.org/iso/19115/-3/srv/2.1": f"{_ISO_3}/srv/2.1/srv.xsd",
        "http://standards.iso.org/iso/19115/-3/mrd/1.0": f"{_ISO_3}/mrd/1.0/mrd.xsd",
    },
}
"""Format → namespace → its schema."""


class Local(etree.Resolver):
    """Finds the schemas of ISO and OGC in folders of this machine; the network is not asked."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        super().__init__()
        self._folders = folders

    def resolve(self, system_url: str, public_id: str, context: Any = None) -> Any:
        _, _, place = system_url.partition("://")
        found: Any = self  # whose stubs lack the method
        for start, folder in self._folders.items():
            if place.startswith(start):
                return found.resolve_filename(str(folder / place[len(start) :]), context)
        return None


@cache
def schema(form: str) -> Any:
    """The schema of a format: those of ISO 19139 and GML are in pycsw's package, of ISO 19115-3 at $ISO_SCHEMAS."""
    package = next(
        (each for name in (".venv-csw", ".venv-servers") for each in ROOT.glob(f"{name}/lib/*/*/pycsw")), None
    )
    newest = os.environ.get("ISO_SCHEMAS", "")
    if package is None:
        lack(PYCSW)
    if form != "iso19139" and not newest:
        lack(ISO_SCHEMAS)
    core = package / "core" / "schemas"
    folders = {
        "schemas.opengis.net/iso/": package / "plugins" / "profiles" / "apiso" / "schemas" / "ogc" / "iso",
        "schemas.opengis.net/": core / "ogc",
        "www.w3.org/": core / "w3c",
        "schemas.isotc211.org/": Path(newest),
    }
    parser = etree.XMLParser()
    parser.resolvers.add(Local(folders))
    parts = [f'<import namespace="{name}" schemaLocation="{address}"/>' for name, address in _WANTED[form].items()]
    whole = f'<schema xmlns="http://www.w3.org/2001/XMLSchema">{"".join(parts)}</schema>'
    return etree.XMLSchema(etree.fromstring(whole, parser))


def services() -> list[Service]:
    reached = [replace(each, contact=CONTACT) for each in of_every_kind()]
    attacked = [replace(each, contact=dict.fromkeys(CONTACT, each.title)) for each in hostile()]
    endless = replace(ROADS, abstract="x]]>&<" * 200_000, title="t" * 1_000_000)
    return numbered([*of_every_kind(), *reached, *hostile(), *attacked, endless])


@pytest.mark.parametrize("form", RECORDS)
def test_the_schemas_of_the_standard_accept_every_record(form: str) -> None:
    for service in services():
        document = etree.fromstring(record_bytes(form, service, BASE))
        assert schema(form).validate(document), (service.title[:80], schema(form).error_log.last_error)


@pytest.mark.parametrize("form", RECORDS)
def test_every_record_is_well_formed_and_short(form: str) -> None:
    for service in services():
        body = record_bytes(form, service, BASE)
        assert len(body) < 200_000
        etree.fromstring(body)


def test_owslib_reads_what_iso_19139_says() -> None:
    service = replace(
        ROADS, contact=CONTACT, access_constraints="Ask first", language="de", time_start="2015-01-01T00:00:00Z"
    )
    read = MD_Metadata(etree.fromstring(record_bytes("iso19139", service, BASE)))
    assert (read.identifier, read.hierarchy, read.datestamp) == ("urn:geocrawl:service:1", "service", service.last_ok)
    (about,) = read.identification
    assert (about.title, about.abstract) == ("Roads of Ruritania", "Motorways, lanes")
    assert (about.identtype, about.type, about.version) == ("service", "OGC:WMS", "1.3.0")
    assert [word.name for word in about.keywords[0].keywords] == ["transport", "Straßen"]
    assert (about.bbox.minx, about.bbox.miny, about.bbox.maxx, about.bbox.maxy) == ("5", "45", "10.5", "50")
    assert about.otherconstraints == ["Ask first"]
    assert (read.languagecode, about.temporalextent_start) == ("deu", "2015-01-01T00:00:00Z")
    (party,) = about.contact
    assert (party.name, party.organization, party.email) == ("Map desk", "Office", "desk@maps.example")
    assert (party.phone, party.city, party.country) == ("+49 30 1", "Strelsau", "Ruritania")
    links = {link.name: (link.url, link.protocol) for link in read.distribution.online}
    assert links["Capabilities"] == (f"{service.url}&SERVICE=WMS&REQUEST=GetCapabilities", "OGC:WMS")
    assert links["Page of the catalogue"][0] == f"{BASE}/collections/services/items/1"


def test_owslib_reads_what_iso_19115_3_says() -> None:
    service = replace(ROADS, contact=CONTACT)
    read = NewMetadata(etree.fromstring(record_bytes("iso19115-3", service, BASE)))
    assert (read.identifier, read.hierarchy) == ("urn:geocrawl:service:1", "service")
    (about,) = read.identification
    assert (about.title, about.abstract) == ("Roads of Ruritania", "Motorways, lanes")
    assert [word.name for word in about.keywords[0].keywords] == ["transport", "Straßen"]
    assert {link.protocol for link in read.distribution.online} == {"OGC:WMS", "WWW:LINK-1.0-http--link"}


def test_an_export_has_a_file_for_each_service(tmp_path: Path) -> None:
    given = of_every_kind()
    for form in RECORDS:
        assert export_services(iter(given), iter(()), form, tmp_path / form) == len(given)
        names = {path.name for path in (tmp_path / form).iterdir()}
        assert names == {f"service-{each.id}.xml" for each in given}
