"""What is read over in a WMS is read over in the XML of every kind, by the same name, and costs no content item."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from geocrawl.model import Kind, Status
from geocrawl.ports import Probe
from geocrawl.probe.registry import probes
from tests.support.interviews import interview

LAST_PARTS = {
    Kind.WMS: "Layer",
    Kind.WFS: "FeatureTypeList",
    Kind.WMTS: "Contents",
    Kind.WCS: "Contents|ContentMetadata",
    Kind.CSW: "OperationsMetadata",
    Kind.WPS: "ProcessOfferings|Contents",
    Kind.SOS: "Contents",
}
"""What ends behind the last content item; a CSW has none."""
pytestmark = pytest.mark.shared


def damage_first_text(body: bytes, text: bytes) -> bytes:
    """Within the first title or abstract that stands in the document."""
    found = re.search(rb"<((?:\w+:)?(?:Title|Abstract|title|abstract|label))>", body)
    assert found is not None
    return body[: found.end()] + text + body[found.end() :]


def without_declaration(body: bytes) -> bytes:
    return re.sub(rb"\A\s*<\?xml[^>]*\?>\s*(?:<!--.*?-->\s*)*", b"", body, flags=re.DOTALL)


FAULTS: dict[str, Callable[[bytes], bytes]] = {
    "bom": lambda body: b"\xef\xbb\xbf" + body,
    "false-bom": lambda body: b"\xff\xfe" + body,
    "space-before": lambda body: b"\r\n \r\n" + body,
    "http-headers": lambda body: b"Content-Type: text/xml\r\nServer: x\r\n\r\n" + body,
    "junk-before": lambda body: b"<br />\n<b>Warning</b>: fopen() in <b>x.php</b>\n" + without_declaration(body),
    "no-declaration": without_declaration,
    "bare-ampersand": lambda body: damage_first_text(body, b"Roads & paths "),
    "control-characters": lambda body: damage_first_text(body, b"bell \x07 "),
    "html-entities": lambda body: damage_first_text(body, b"caf&eacute;&nbsp;"),
    "wrong-charset": lambda body: damage_first_text(body, "Übersicht der Wälder ".encode("latin-1")),
    "junk-after": lambda body: body + b"<p>Powered by a host</p>",
    "truncated-tail": lambda body: body[: body.rstrip().rindex(b"</")],
}


def document_of(shared: Path, kind: Kind) -> bytes:
    """The shortest recorded one with items, in UTF-8."""
    files = sorted((shared / "corpus" / "documents" / kind).iterdir(), key=lambda file: file.stat().st_size)
    for body in (file.read_bytes() for file in files):
        verdict = interview(probe_of(kind), body, "text/xml")
        plain = body.startswith(b"<?xml") and b"UTF-8" in body[:60].upper()
        plain &= all(each.code.startswith("online-resource") for each in verdict.deviations)
        if plain and verdict.service and verdict.service.layers and last_part(kind, body) > 0:
            return body
    raise AssertionError(f"no {kind} document without faults in its text")


def last_part(kind: Kind, body: bytes) -> int:
    """Where the end tag begins behind which nothing that is kept stands; -1: nowhere."""
    ends = [end.start() for end in re.finditer(rf"</(?:\w+:)?(?:{LAST_PARTS[kind]})>".encode(), body)]
    return ends[-1] if ends else -1


def probe_of(kind: Kind) -> Probe:
    return next(probe for probe in probes() if probe.kind is kind)


@pytest.mark.parametrize("kind", LAST_PARTS)
def test_each_fault_is_read_over_and_named(shared: Path, kind: Kind) -> None:
    body = document_of(shared, kind)
    sound = interview(probe_of(kind), body, "text/xml").service
    assert sound is not None
    for code, damage in FAULTS.items():
        verdict = interview(probe_of(kind), damage(body), "text/xml")
        assert verdict.status is Status.VALID, (code, verdict.reason, verdict.detail)
        assert verdict.service is not None
        assert code in [each.code for each in verdict.deviations], code
        assert [layer.name for layer in verdict.service.layers] == [layer.name for layer in sound.layers], code


@pytest.mark.parametrize("kind", LAST_PARTS)
def test_a_document_cut_before_its_last_item_has_ended_is_rejected(shared: Path, kind: Kind) -> None:
    body = document_of(shared, kind)
    verdict = interview(probe_of(kind), body[: last_part(kind, body)], "text/xml")
    assert (verdict.status, verdict.reason) == (Status.INVALID, "truncated")
