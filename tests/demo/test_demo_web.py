"""The demo web is what it says: its pages, its truth, its services, and nothing beyond loopback."""

from __future__ import annotations

import datetime
import http.client
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from lxml import etree
from owslib.map.wms111 import WebMapService_1_1_1
from owslib.map.wms130 import WebMapService_1_3_0

from geocrawl.demo import Behaviour, DemoContent, DemoService, DemoWeb, build_content
from geocrawl.demo.services import SERVICES, answer, find_service
from geocrawl.demo.web import SEEDS, is_disallowed, key_of, without_session

TODAY = datetime.date(2024, 5, 17)


@pytest.fixture(scope="module")
def content() -> DemoContent:
    return build_content()


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb(today=TODAY) as running:
        yield running


def _get(web: DemoWeb, url: str, method: str = "GET") -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection(urlsplit(web.proxy_url).netloc, timeout=120)
    try:
        connection.request(method, url)
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def test_there_are_about_two_hundred_pages_on_many_hosts_and_about_thirty_services(content: DemoContent) -> None:
    assert 190 <= len(content.pages) <= 230
    assert len({urlsplit(address).hostname for address in content.pages}) == 8
    assert len(content.expected_valid) >= 15
    assert set(content.expected_invalid.values()) == {
        "exception", "html", "http-404", "protected", "truncated", "empty", "other-kind",
    }  # fmt: skip
    assert {service.behaviour for service in SERVICES} == set(Behaviour)


def test_it_is_the_same_every_time(content: DemoContent) -> None:
    assert build_content() == content


def test_every_expected_service_is_linked_within_depth_five_and_some_pages_lie_deeper(content: DemoContent) -> None:
    near = {link for address, depth in content.depths.items() if depth <= 5 for link in content.pages[address].links}
    found = {find_service(*_place(link)) for link in near}
    assert {key_of(service) for service in found if service} == set(content.expected) | content.refused
    assert max(content.depths.values()) == 6


def test_depths_never_jump_and_disallowed_pages_have_none(content: DemoContent) -> None:
    for address, depth in content.depths.items():
        links = [without_session(link) for link in content.pages[address].links]
        assert all(content.depths[link] <= depth + 1 for link in links if link in content.depths)
    assert not any(is_disallowed(address) for address in content.depths)
    unreachable = set(content.pages) - set(content.depths)
    assert unreachable
    assert all(is_disallowed(address) or "/internal/" in address for address in unreachable)


def test_a_service_linked_from_a_disallowed_page_only_is_not_expected(content: DemoContent) -> None:
    draft = next(service for service in SERVICES if "/draft/" in service.address)
    assert key_of(draft) not in set(content.expected) | content.refused
    assert any("/draft/" in link for page in content.pages.values() for link in page.links)


def test_every_page_is_served_as_it_is(web: DemoWeb) -> None:
    for address, page in web.content.pages.items():
        found, _ = web.respond("GET", address)
        assert (found.status, found.body) == (page.status, page.body)


def test_a_page_is_served_through_the_proxy_and_by_the_host_header(web: DemoWeb) -> None:
    status, headers, body = _get(web, SEEDS[1])
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "地图服务" in body.decode()
    connection = http.client.HTTPConnection(urlsplit(web.proxy_url).netloc, timeout=120)
    connection.request("GET", "/", headers={"Host": "www.qingshan-map.example"})
    assert connection.getresponse().read() == body
    connection.close()


def test_a_connection_is_kept_for_several_requests(web: DemoWeb) -> None:
    connection = http.client.HTTPConnection(urlsplit(web.proxy_url).netloc, timeout=120)
    for seed in SEEDS:
        connection.request("GET", seed)
        assert connection.getresponse().read()
    used = connection.sock
    connection.request("HEAD", SEEDS[0])
    response = connection.getresponse()
    assert (response.read(), connection.sock) == (b"", used)
    connection.close()


def test_what_is_not_there_is_refused(web: DemoWeb) -> None:
    assert _get(web, "http://www.norvale-geoportal.example/missing-page")[0] == 404
    assert _get(web, "http://www.elsewhere.example/")[0] == 502
    assert _get(web, "https://www.norvale-geoportal.example/")[0] == 502
    with socket.create_connection(("127.0.0.1", int(web.proxy_url.rpartition(":")[2])), timeout=120) as raw:
        raw.sendall(b"CONNECT www.norvale-geoportal.example:443 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b" 502 " in raw.recv(100)


def test_robots_txt_is_there_where_rules_are_and_404_elsewhere(web: DemoWeb) -> None:
    assert b"Disallow: /internal/" in _get(web, "http://www.norvale-geoportal.example/robots.txt")[2]
    assert _get(web, "http://www.norvale-courier.example/robots.txt")[0] == 404


def test_redirects_lead_on_within_a_host_and_to_a_service(web: DemoWeb) -> None:
    status, headers, _ = _get(web, "http://www.norvale-geoportal.example/old-services")
    assert (status, headers["Location"]) == (301, "http://www.norvale-geoportal.example/services")
    status, headers, _ = _get(web, "http://www.uni-norvale.example/go/glaciers")
    assert (status, find_service(*_place(headers["Location"])) is not None) == (302, True)


def test_a_session_id_changes_in_every_link_and_leads_to_the_same_page(web: DemoWeb) -> None:
    links = {
        link
        for page in web.content.pages.values()
        for link in page.links
        if without_session(link) == "http://shop.lanternlane.example/goods/1"
    }
    assert len(links) > 5
    assert len({web.respond("GET", link)[0].body for link in links}) == 1


def test_the_calendar_has_no_end_in_both_directions(web: DemoWeb) -> None:
    base = "http://www.norvale-courier.example/calendar"
    assert b"?year=2024&amp;month=4" in _get(web, base)[2]
    assert b"?year=2024&amp;month=6" in _get(web, base)[2]
    assert b"?year=2100&amp;month=1" in _get(web, base + "?year=2099&month=12")[2]
    assert _get(web, base + "?year=2099&month=13")[0] == 404


def test_the_old_chinese_page_is_gb18030_under_the_label_gb2312(web: DemoWeb) -> None:
    _, headers, body = _get(web, "http://www.qingshan-map.example/old/index.htm")
    assert headers["Content-Type"] == "text/html"
    assert b'charset="gb2312"' in body
    assert "李镕" in body.decode("gb18030")
    with pytest.raises(UnicodeDecodeError):
        body.decode("gb2312")


def test_the_log_has_a_line_for_each_request_with_its_kind() -> None:
    with DemoWeb(today=TODAY) as web:
        host = "http://www.norvale-geoportal.example"
        service = next(service for service in SERVICES if service.valid)
        for url in (f"{host}/robots.txt", f"{host}/", f"{host}/old-services", f"{host}/none", service.address):
            _get(web, url)
        assert [request.kind for request in web.requests] == ["robots", "page", "redirect", "unknown", "service"]
        assert web.requests[1].url == f"{host}/"


def test_the_address_is_known_within_its_context_only() -> None:
    with pytest.raises(RuntimeError, match="within its context"):
        _ = DemoWeb().proxy_url


# --------------------------------------------------------------------------- services

GOOD = [service for service in SERVICES if service.valid]


@pytest.mark.parametrize("service", GOOD, ids=lambda service: service.address)
@pytest.mark.parametrize("asked", ["1.3.0", "1.1.1", "1.0.0", ""])
def test_a_good_service_describes_itself_in_the_version_by_the_rules(service: DemoService, asked: str) -> None:
    found = answer(service, f"SERVICE=WMS&REQUEST=GetCapabilities&VERSION={asked}")
    text = found.body.removeprefix(b"\xef\xbb\xbf")
    if service.behaviour is Behaviour.GB18030:
        text = text.decode("gb18030").replace('encoding="GB2312"', 'encoding="UTF-8"').encode()
    root = etree.fromstring(text, etree.XMLParser(load_dtd=False, no_network=True))
    version = root.get("version")
    assert version == (asked if asked in service.versions else service.versions[0 if asked else -1])
    reader = WebMapService_1_3_0 if version == "1.3.0" else WebMapService_1_1_1
    read = reader("http://unused.example/", version=version, xml=text)
    assert read.identification.title == service.title
    assert [(name, layer.title) for name, layer in read.contents.items()] == list(service.layers)
    for layer in read.contents.values():
        west, south, east, north = layer.boundingBoxWGS84
        assert -180 <= west < east <= 180
        assert -90 <= south < north <= 90


@pytest.mark.parametrize("service", [s for s in SERVICES if not s.valid], ids=lambda service: service.address)
def test_a_bad_service_never_sends_a_whole_document(service: DemoService) -> None:
    found = answer(service, "SERVICE=WMS&REQUEST=GetCapabilities")
    root = None
    try:
        root = etree.fromstring(found.body)
    except etree.XMLSyntaxError:
        assert service.reason in ("html", "http-404", "protected", "truncated", "empty")
    assert root is None or etree.QName(root).localname not in ("WMS_Capabilities", "WMT_MS_Capabilities")
    assert found.status == {"http-404": 404, "protected": 401}.get(service.reason, 200)


def test_two_addresses_describe_one_service_in_the_same_words() -> None:
    twin = next(service for service in SERVICES if service.same_as)
    first = next(service for service in SERVICES if service.address == twin.same_as)
    request = "service=WMS&request=GetCapabilities"
    assert answer(twin, request) == answer(first, request)


def test_getmap_gives_a_picture_of_the_size_asked_for() -> None:
    found = answer(GOOD[0], "SERVICE=WMS&REQUEST=GetMap&WIDTH=20&HEIGHT=10")
    assert found.content_type == "image/png"
    assert found.body.startswith(b"\x89PNG")
    assert (int.from_bytes(found.body[16:20], "big"), int.from_bytes(found.body[20:24], "big")) == (20, 10)


def test_without_a_request_a_service_answers_an_exception() -> None:
    assert b"ServiceExceptionReport" in answer(GOOD[0], "").body


def test_a_service_that_wants_upper_case_fails_on_lower_case() -> None:
    service = next(service for service in SERVICES if service.behaviour is Behaviour.UPPER_CASE)
    assert b"ServiceException" in answer(service, "service=WMS&request=GetCapabilities").body


def test_a_map_file_is_part_of_the_address() -> None:
    place = ("maps.water-agency.example", "/cgi-bin/mapserv")
    found = find_service(*place, "MAP=/srv/maps/rivers.map&SERVICE=WMS")
    assert found is not None
    assert found.title == "Rivers of the water agency"
    assert find_service(*place, "map=/srv/maps/none.map") is None


def _place(link: str) -> tuple[str, str, str]:
    parts = urlsplit(link)
    return parts.netloc, parts.path, parts.query
