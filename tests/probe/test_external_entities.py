"""Capabilities that take a text from another place: nothing is read from there, and nothing is proved."""

from __future__ import annotations

import pytest

from geocrawl.model import Status
from tests.support.answers import interview, page

REST = (
    '<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms"><Service><Name>WMS</Name><Title>Roads</Title>'
    "</Service><Capability><Layer><Title>a</Title><Layer><Name>a</Name><Title>a</Title></Layer></Layer></Capability>"
    "</WMS_Capabilities>"
)
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
OTHERS = ("<!ELEMENT a EMPTY>", '<!ENTITY who "Road Office">', "<!-- it's -->", "")


@pytest.mark.parametrize(
    "entity",
    [
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        "<!ENTITY a SYSTEM 'http://192.0.2.1/x'>",
        '<!ENTITY a PUBLIC "-//x" "http://192.0.2.1/x">',
        '<!ENTITY % a SYSTEM "http://192.0.2.1/x">',
        '<!ENTITY % a SYSTEM "http://192.0.2.1/x"> %a;',
        "<!ENTITY a SYSTEM 'x' NDATA gif>",
        "<!ENTITY\n a\n SYSTEM\n 'x'\n>",
        "<!ENTITY % p '<!ENTITY &#37; q SYSTEM \"file:///x\">'>%p;",
        "<!ENTITY é SYSTEM 'x'>",
    ],
)
@pytest.mark.parametrize("text", ["Roads", "&a;"])
def test_capabilities_with_an_external_entity_are_no_proof(entity: str, text: str) -> None:
    for more in OTHERS:
        document = f"<!DOCTYPE WMS_Capabilities [{more}{entity}{more if 'ENTITY' not in more else ''}]>{REST}"
        document = document.replace("Roads", text)
        for body in (
            f"{DECLARATION}{document}".encode(),
            f"{DECLARATION}<!--{' ' * 9_000}-->{document}".encode(),
            document.encode("utf-16"),
            f"\n<br />Warning: x\n{DECLARATION}{document}".encode(),
        ):
            verdict = interview({"*": page(body)})[0]
            assert (verdict.status, verdict.reason) == (Status.INVALID, "external-entity"), body[:200]
            assert verdict.service is None


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE WMS_Capabilities SYSTEM "http://192.0.2.1/never.dtd">',
        '<!DOCTYPE WMS_Capabilities SYSTEM "http://192.0.2.1/never.dtd" [<!ELEMENT VendorSpecificCapabilities EMPTY>]>',
        '<!DOCTYPE WMS_Capabilities [<!ENTITY who "Road Office">]>',
        "<!-- <!ENTITY a SYSTEM 'x'> -->",
    ],
)
def test_a_document_type_without_external_entities_takes_nothing_from_a_proof(doctype: str) -> None:
    verdict = interview({"*": page(f"{DECLARATION}{doctype}{REST}".encode())})[0]
    assert verdict.status is Status.VALID
