"""Mend the records of ISO 19139 that pycsw 2.6.2 writes, which the schemas of the standard refuse.

It leaves out what is mandatory (a role, a date), and writes elements where they may not stand and names that are none.
"""

from __future__ import annotations

from typing import Any

from lxml import etree
from pycsw.plugins.profiles.apiso import apiso

_GMD = "{http://www.isotc211.org/2005/gmd}"
_SRV = "{http://www.isotc211.org/2005/srv}"
_CODES = "http://standards.iso.org/iso/19139/resources/gmxCodelists.xml"


def mend_records() -> None:
    """Let pycsw's profile of ISO write mended records from now on."""
    written = apiso.APISO.write_record

    def write_record(self: Any, *arguments: Any, **named: Any) -> Any:
        return mended(written(self, *arguments, **named))

    apiso.APISO.write_record = write_record


def mended(record: Any) -> Any:
    """Return a record as the schemas demand it."""
    for each in [*record.iter(f"{_GMD}language"), *record.iter(f"{_SRV}keywords")]:
        each.getparent().remove(each)
    for each in record.iter(f"{_SRV}SV_ServiceIdentification"):
        each.attrib.pop("id", None)
    for party in record.iter(f"{_GMD}CI_ResponsibleParty"):
        _add_code(etree.SubElement(party, f"{_GMD}role"), "CI_RoleCode", "pointOfContact")
    stamp = record.find(f"{_GMD}dateStamp")
    for citation in record.iter(f"{_GMD}CI_Citation"):
        if citation.find(f"{_GMD}date") is None and stamp is not None:
            date = etree.SubElement(etree.SubElement(citation, f"{_GMD}date"), f"{_GMD}CI_Date")
            etree.SubElement(date, f"{_GMD}date").append(etree.fromstring(etree.tostring(stamp[0])))
            _add_code(etree.SubElement(date, f"{_GMD}dateType"), "CI_DateTypeCode", "revision")
    return record


def _add_code(parent: Any, name: str, value: str) -> None:
    element = etree.SubElement(parent, _GMD + name, codeList=f"{_CODES}#{name}", codeListValue=value)
    element.text = value
