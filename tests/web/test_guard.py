"""Bad input and bad days: status codes by the book, a clear message, never a traceback."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from geocrawl.web.rates import Rates
from tests.web.conftest import Serve

HTML = {"Accept": "text/html"}
ITEMS = "/collections/services/items"

BAD_VALUES = [
    "limit=0",
    "limit=-1",
    "limit=many",
    "limit=" + "9" * 400,
    "limit=１",
    "offset=-1",
    "offset=1e9",
    "bbox=1,2,3",
    "bbox=a,b,c,d",
    "bbox=nan,nan,nan,nan",
    "bbox=0,50,10,40",
    "bbox=0,-91,10,40",
    "datetime=yesterday",
    "datetime=2026-02-01T00:00:00Z/2026-01-01T00:00:00Z",
    "kind=gopher",
    "health=fine",
    "level=high",
    "country=Nowhereland",
    "crs=%00",
    "sortby=colour",
    "facets=colour",
    "facets=true&facets=kind",
    "new=soon",
    "alive=perhaps",
    "f=pdf",
    "colour=red",
    "q=" + "x" * 3000,
    "q=kind:gopher",
    "ids=" + ",".join("1" * 300),
]


@pytest.mark.parametrize("query", BAD_VALUES)
def test_a_value_that_cannot_be_read_is_a_problem(client: TestClient, query: str) -> None:
    answer = client.get(f"{ITEMS}?{query}")
    assert answer.status_code == 400, answer.text[:200]
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == 400 and problem["title"] == "Bad Request" and len(problem["detail"]) > 10
    assert "Traceback" not in answer.text and len(answer.text) < 3000


@pytest.mark.parametrize(
    "query", ["limit=999999999", "offset=999999999", "q=%00%ff%22%27%3B", "q=" + "%F0%9F%92%A9" * 50, "ids=0,x,,-1"]
)
def test_what_is_only_odd_is_answered(client: TestClient, query: str) -> None:
    for headers in ({}, HTML):
        assert client.get(f"{ITEMS}?{query}", headers=headers, follow_redirects=False).status_code in (200, 303, 404)
    assert client.get(f"{ITEMS}?{query}").json()["numberReturned"] <= 1000


@pytest.mark.parametrize(
    "path",
    [
        f"{ITEMS}/99999999",
        f"{ITEMS}/0",
        f"{ITEMS}/-1",
        f"{ITEMS}/1%00",
        f"{ITEMS}/{'9' * 60}",
        f"{ITEMS}/１",
        f"{ITEMS}/1/none",
        f"{ITEMS}/99999999/badge.svg",
        f"{ITEMS}/99999999/thumbnail",
        "/none",
        "/collections/none",
        "/.env",
        "/static/%2e%2e/%2e%2e/settings.py",
    ],
)
def test_what_is_not_there_is_404(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404 and answer.json()["status"] == 404
    page = client.get(path, headers=HTML)
    assert page.status_code == 404 and "<html" in page.text


def test_other_formats_and_methods_are_refused_by_the_book(client: TestClient) -> None:
    assert client.get(ITEMS, headers={"Accept": "image/webp"}).status_code == 406
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        answer = client.request(method, ITEMS)
        assert answer.status_code == 405 and "GET" in answer.headers["allow"]
    assert client.get(f"{ITEMS}?q=" + "x" * 9000).status_code == 414
    asked = client.options(ITEMS, headers={"Origin": "https://a.example"})
    assert asked.status_code == 204 and asked.headers["access-control-allow-origin"] == "*"
    head = client.head(ITEMS)
    assert head.status_code == 200


def test_every_answer_has_the_headers_of_safety(client: TestClient) -> None:
    for path in ("/", ITEMS, f"{ITEMS}/1", "/none", "/static/page.js", f"{ITEMS}?limit=0", "/operations"):
        for headers in ({}, HTML):
            answer = client.get(path, headers=headers)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in client.get("/operations").headers


def test_pages_have_no_inline_script_or_style(client: TestClient) -> None:
    import re

    for path in ("/", ITEMS, f"{ITEMS}/1", "/operations", "/statistics", "/api"):
        page = client.get(path, headers=HTML).text
        scripts = re.findall(r"<script([^>]*)>([^<]*)", page)
        assert scripts and all(not body.strip() or "json" in attributes for attributes, body in scripts)
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page)


def test_it_is_asked_by_its_own_names_alone(serve: Serve, crawled: Path) -> None:
    client = serve(crawled)
    assert client.get("/", headers={"Host": "localhost:8080"}).status_code == 200
    assert client.get("/", headers={"Host": "[::1]:8080"}).status_code == 200
    assert client.get("/", headers={"Host": "rebound.attacker.example"}).status_code == 421
    assert client.get("/", headers={"Host": 'a"><script>'}).status_code == 400
    public = serve(crawled, public_url="https://maps.example.org/c")
    assert public.get("/", headers={"Host": "maps.example.org"}).status_code == 200
    assert serve(crawled, host="0.0.0.0").get("/", headers={"Host": "any.example"}).status_code == 200


# --------------------------------------------------------------------------- rates


def test_a_client_that_asks_too_often_has_to_wait(serve: Serve, crawled: Path) -> None:
    client = serve(crawled, requests_per_minute=60)
    codes = [client.get("/conformance").status_code for _ in range(40)]
    assert codes[:20] == [200] * 20 and 429 in codes
    refused = client.get("/conformance")
    assert refused.status_code == 429 and int(refused.headers["retry-after"]) >= 1


def test_rates_are_counted_for_each_client_and_forgiven() -> None:
    rates = Rates(60)

    def wait_s(address: str, now: float) -> float:
        return rates.wait_s(rates.client(address, now))

    assert all(wait_s("192.0.2.1", 0.0) == 0 for _ in range(20))
    assert wait_s("192.0.2.1", 0.0) > 0
    assert wait_s("192.0.2.2", 0.0) == 0, "another client is not to blame"
    assert wait_s("192.0.2.1", 2.0) == 0, "a second gives a request"
    for _ in range(20):
        wait_s("2001:db8::1", 0.0)
    assert wait_s("2001:db8::2", 0.0) > 0, "one network of IPv6 is one client"
    assert wait_s("2001:db8:0:1::1", 0.0) == 0


# --------------------------------------------------------------------------- the catalogue


def test_a_catalogue_that_goes_away_is_503_and_comes_back(serve: Serve, catalogue: Path, capsys: object) -> None:
    client = serve(catalogue)
    away = catalogue.with_suffix(".away")
    catalogue.rename(away)
    answer = client.get(f"{ITEMS}/1")
    assert answer.status_code == 503 and answer.headers["retry-after"]
    assert str(catalogue.parent) not in answer.text, "where files are is nobody's business"
    assert client.get(ITEMS).status_code == 503
    away.rename(catalogue)
    assert client.get(f"{ITEMS}/1").status_code == 200
    assert client.get(ITEMS).status_code == 200


def test_a_damaged_catalogue_is_503(serve: Serve, catalogue: Path) -> None:
    client = serve(catalogue)
    catalogue.unlink()
    catalogue.write_bytes(b"no database" * 1000)
    for path in (ITEMS, f"{ITEMS}/1", "/operations", "/feed.atom"):
        answer = client.get(path)
        assert answer.status_code == 503 and "Traceback" not in answer.text


def test_a_locked_catalogue_is_read_all_the_same(serve: Serve, catalogue: Path) -> None:
    client = serve(catalogue)
    writer = sqlite3.connect(catalogue, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    assert client.get(f"{ITEMS}/1").status_code == 200
    assert client.get(ITEMS).status_code == 200
    writer.execute("ROLLBACK")
    writer.close()


def test_a_service_deleted_while_looked_at_is_404(serve: Serve, catalogue: Path) -> None:
    client = serve(catalogue)
    assert client.get(f"{ITEMS}/3/health").status_code == 200
    writer = sqlite3.connect(catalogue, isolation_level=None)
    writer.execute("UPDATE endpoint SET service_id = NULL WHERE service_id = 3")
    for table in ("layer", "change"):
        writer.execute(f"DELETE FROM {table} WHERE service_id = 3")
    writer.execute("DELETE FROM service WHERE id = 3")
    writer.close()
    answer = client.get(f"{ITEMS}/3")
    assert answer.status_code == 404 and "may have been removed" in answer.json()["detail"]
    assert client.get(ITEMS).status_code == 200
