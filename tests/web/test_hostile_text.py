"""Texts of the web on the pages and in the interfaces: nothing of them runs, no secret leaves, no line is broken."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from lxml import etree, html
from starlette.testclient import TestClient

from tests.web.conftest import Serve

HTML = {"Accept": "text/html"}
ITEMS = "/collections/services/items"
HOSTILE = (
    "</title></script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>'",
    "{{ 7*7 }}{% raw %}${7*7}",
    "\u202egnp.exe\u0007\x1b[31m\ud83d",
    "]]><!--</style>",
    "javascript:alert(1)",
    "' OR 1=1 --\\",
)
SECRET = "s3cr3tKEY"
_ELEMENTS = """
html head meta title link script body header main footer nav aside section article div span p a h1 h2 h3 ul ol li
dl dt dd q pre code form label input select option button details summary img time caption table thead tbody tr th td
svg image rect text line polygon polyline
"""
ALLOWED = frozenset(_ELEMENTS.split())
"""Elements of the templates."""


@pytest.fixture(params=HOSTILE)
def attacked(request: pytest.FixtureRequest, serve: Serve, catalogue: Path) -> TestClient:
    """A client of a catalogue whose every text is hostile and whose addresses have a key."""
    text = request.param.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    writer = sqlite3.connect(catalogue, isolation_level=None)
    listed = json.dumps([text, text])
    writer.execute(
        "UPDATE service SET title = ?, abstract = ?, provider = ?, fees = ?, access_constraints = ?, version = ?, "
        "keywords = ?, formats = ?, contact = ?, online_resource = ?",
        (*[text] * 6, listed, listed, json.dumps({"person": text, "email": text, "phone": text}), text),
    )
    writer.execute("UPDATE layer SET title = ?, abstract = ?, crs = ?", (text, text, json.dumps(["EPSG:4326", text])))
    writer.execute("UPDATE layer SET name = name || ? WHERE name <> ''", (text,))
    writer.execute("UPDATE endpoint SET url = url || ?, reason = ?, cors = ?", (f"?key={SECRET}", text, text))
    writer.execute("UPDATE endpoint SET deviations = ?", (json.dumps([{"code": text, "detail": text}]),))
    writer.execute("UPDATE evidence SET page = ? || id, anchor = ?, signal = ?", (text, text, text))
    writer.execute("UPDATE OR IGNORE proof SET layer = ?, crs = ?, detail = ?", (text, text, text))
    writer.execute("UPDATE health_event SET reason = ?", (text,))
    writer.execute("UPDATE url SET address = ?, reason = ? WHERE state = 'failed'", (text, text))
    writer.close()
    return serve(catalogue)


def test_nothing_of_a_text_becomes_markup(attacked: TestClient) -> None:
    for path in ("/", ITEMS, f"{ITEMS}/1", f"{ITEMS}/1/layers", "/operations", "/statistics"):
        answer = attacked.get(path, headers=HTML)
        assert answer.status_code == 200, path
        _is_harmless(answer.text)


def _is_harmless(page: str) -> None:
    """Check that a page has the elements and attributes of its template alone."""
    root = html.document_fromstring(page)
    for element in (each for each in root.iter() if isinstance(each.tag, str)):
        assert element.tag in ALLOWED, element.tag
        assert not [name for name in element.attrib if str(name).startswith("on") or name == "style"]
        for name in ("href", "src", "action", "data-hx-get"):
            address = str(element.get(name) or "/").strip().lower()
            assert address.startswith(("/", "http://", "https://", "#")), address
    for script in root.iter("script"):
        text = script.text or ""
        assert script.get("src") or (json.loads(text) is not None and "<" not in text)
    for character in ("\x1b", "\u202e", "\x07"):
        assert character not in page
    assert ">49<" not in page and "${49}" not in page
    assert SECRET not in page


def test_the_interfaces_stay_well_formed_and_keep_secrets(attacked: TestClient) -> None:
    for path in (f"{ITEMS}?facets=true", f"{ITEMS}/1", f"{ITEMS}/1/history", f"{ITEMS}/1/changes", "/feed.json"):
        answer = attacked.get(path)
        assert answer.status_code == 200 and SECRET not in answer.text
        json.loads(answer.text)
        assert "\x1b" not in answer.text and "\u202e" not in answer.text and "\\u001b" not in answer.text
    for path in ("/feed.atom", f"{ITEMS}/1/badge.svg", f"{ITEMS}/1/layer.qlr", "/sitemap-0.xml", "/opensearch.xml"):
        answer = attacked.get(path)
        assert SECRET not in answer.text
        etree.fromstring(answer.content)


def test_what_a_visitor_types_is_shown_as_text(client: TestClient) -> None:
    for text in HOSTILE:
        for path in (ITEMS, f"{ITEMS}/1/layers"):
            name = "q" if path == ITEMS else "layers"
            answer = client.get(path, params={name: text.encode("utf-8", "replace").decode()}, headers=HTML)
            assert answer.status_code in (200, 400)
            _is_harmless(answer.text)
        answer = client.get(ITEMS, params={text.encode("utf-8", "replace").decode(): "1"}, headers=HTML)
        assert answer.status_code == 200
        _is_harmless(answer.text)
        answer = client.get(ITEMS, params={"q": f"kind:{text}".encode("utf-8", "replace").decode()}, headers=HTML)
        assert answer.status_code == 400
        _is_harmless(answer.text)
