"""The interview: which requests are made, and the verdicts that answers lead to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import Failure, FailureCode, Kind, Page, Status
from geocrawl.probe.kinds.wms.probe import WmsProbe
from tests.support.answers import CAPABILITIES, ENDPOINT, EXCEPTION, HTML, candidate, interview, page, url


def test_a_good_answer_ends_the_interview_at_once() -> None:
    verdict, asked = interview({"1.3.0": page(CAPABILITIES)})
    assert asked == ["1.3.0"]
    assert (verdict.status, verdict.reason, verdict.requests) == (Status.VALID, "ok", 1)
    assert (verdict.http_status, verdict.content_type, verdict.elapsed_ms) == (200, "text/xml", 12.0)
    assert verdict.deviations == ()
    assert verdict.detail == ""
    assert verdict.first_bytes.startswith('<?xml version="1.0"')
    assert len(verdict.first_bytes) == 200


def test_the_request_is_in_upper_case_behind_vendor_parameters() -> None:
    given_ = candidate("http://maps.example.org/cgi-bin/mapserv?LAYERS=a&map=/x/Y.map&request=GetMap&WIDTH=10")
    ask = next(WmsProbe().interview(given_))
    query = ask.url.address.partition("?")[2]
    assert query.startswith("map=/x/Y.map&SERVICE=WMS&REQUEST=GetCapabilities")
    assert "LAYERS" not in query


def test_everything_that_is_kept_of_a_service_is_read() -> None:
    service = interview({"1.3.0": page(CAPABILITIES)})[0].service
    assert service is not None
    assert (service.kind, service.version, service.title, service.abstract) == (
        Kind.WMS,
        "1.3.0",
        "Roads of Härjedalen",
        "All roads",
    )
    assert service.keywords == ("roads", "transport")
    assert (service.provider, service.fees, service.access_constraints) == ("Road Office", "none", "CC BY")
    assert service.contact == {"person": "Ada", "organization": "Road Office", "email": "ada@example.org"}
    assert service.formats == ("image/png", "image/jpeg")
    assert service.online_resource == "http://maps.example.org/"
    assert len(service.fingerprint) == 32


def test_layers_keep_what_they_state_themselves_and_point_to_their_group() -> None:
    service = interview({"1.3.0": page(CAPABILITIES)})[0].service
    assert service is not None
    root, major, minor, gravel = service.layers
    assert [(layer.name, layer.parent) for layer in service.layers] == [
        ("", None),
        ("major", 0),
        ("", 0),
        ("gravel", 2),
    ]
    assert root.crs == ("EPSG:4326", "CRS:84")
    assert major.crs == ("EPSG:3006",)
    assert (major.styles, major.queryable, minor.queryable) == (("red",), True, False)
    assert root.box is not None
    assert root.box.bounds == (10, 50, 20, 60)
    assert gravel.box is None


def test_one_service_at_two_addresses_has_one_fingerprint() -> None:
    one = interview({"1.3.0": page(CAPABILITIES)})[0].service
    moved = CAPABILITIES.replace("http://maps.example.org/", "http://other.example.org/").replace("CC BY", "")
    other = interview({"1.3.0": page(moved)})[0].service
    changed = interview({"1.3.0": page(CAPABILITIES.replace("Gravel", "Sand"))})[0].service
    assert one is not None
    assert other is not None
    assert changed is not None
    assert one.fingerprint == other.fingerprint != changed.fingerprint


@pytest.mark.parametrize("code", [FailureCode.DNS, FailureCode.TIMEOUT_READ, FailureCode.REFUSED, FailureCode.GUARD])
def test_no_answer_ends_the_interview_with_its_cause(code: FailureCode) -> None:
    verdict, asked = interview({"*": Failure(url(ENDPOINT), code, "no such name", 3.0)})
    assert (verdict.status, verdict.reason, verdict.detail) == (Status.INVALID, str(code), "no such name")
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("status", "reason"),
    [(404, "http-404"), (410, "http-410"), (401, "protected"), (403, "protected"), (503, "http-503")],
)
def test_a_status_that_no_version_changes_ends_the_interview(status: int, reason: str) -> None:
    verdict, asked = interview({"*": page(HTML, status=status, content_type="text/html")})
    assert (verdict.reason, verdict.http_status, asked) == (reason, status, ["1.3.0"])


def test_a_redirect_to_another_host_is_not_followed() -> None:
    verdict, asked = interview({"*": page(b"", status=301, location="http://new.example.org/wms?SERVICE=WMS")})
    assert (verdict.status, verdict.reason, len(asked)) == (Status.INVALID, "moved", 1)
    assert verdict.moved_to == url("http://new.example.org/wms?SERVICE=WMS")


def test_an_exception_that_no_version_changes_is_asked_twice() -> None:
    verdict, asked = interview({"*": page(EXCEPTION.format("msLoadMap(): Unable to access file."))})
    assert (verdict.status, verdict.reason, asked) == (Status.INVALID, "exception", ["1.3.0", ""])
    assert verdict.detail == "msLoadMap(): Unable to access file."


def test_a_server_that_knows_no_new_version_is_asked_without() -> None:
    old = CAPABILITIES.replace('version="1.3.0" xmlns="http://www.opengis.net/wms"', 'version="1.1.1"')
    old = old.replace("WMS_Capabilities", "WMT_MS_Capabilities")
    verdict, asked = interview({"1.3.0": page(EXCEPTION.format("bad version")), "": page(old)})
    assert (verdict.status, asked) == (Status.VALID, ["1.3.0", ""])
    assert verdict.service is not None
    assert verdict.service.version == "1.1.1"


def test_a_server_that_needs_an_old_version_is_asked_with_it() -> None:
    answers = {
        "1.3.0": page(EXCEPTION.format("unknown version")),
        "": page(EXCEPTION.format("VERSION is missing")),
        "1.1.1": page(CAPABILITIES),
    }
    verdict, asked = interview(answers)
    assert (verdict.status, asked) == (Status.VALID, ["1.3.0", "", "1.1.1"])


def test_version_1_0_0_is_asked_in_its_own_words_where_something_points_to_it() -> None:
    answers = {
        "1.3.0": page(EXCEPTION.format("a")),
        "": page(EXCEPTION.format("b")),
        "1.1.1": page(EXCEPTION.format("c")),
        "wmtver 1.0.0": page(CAPABILITIES),
    }
    assert interview(answers)[1] == ["1.3.0", "", "1.1.1"]
    verdict, asked = interview(answers, f"{ENDPOINT}?WMTVER=1.0.0&REQUEST=capabilities")
    assert (verdict.status, asked) == (Status.VALID, ["1.3.0", "", "1.1.1", "wmtver 1.0.0"])


def test_html_is_asked_once_more_unless_only_the_path_looked_like_a_service() -> None:
    verdict, asked = interview({"*": page(HTML, content_type="text/html")})
    assert (verdict.reason, verdict.detail, asked) == ("html", "Our maps", ["1.3.0", ""])
    verdict, asked = interview({"*": page(HTML, content_type="text/html")}, weak=True)
    assert (verdict.reason, asked) == ("html", ["1.3.0"])


def test_the_verdict_is_on_the_answer_that_says_most() -> None:
    verdict, _ = interview({"1.3.0": page(EXCEPTION.format("no")), "": page(HTML, content_type="text/html")})
    assert (verdict.reason, verdict.detail) == ("exception", "no")


def test_a_server_that_fails_on_a_version_with_a_status_is_asked_again() -> None:
    verdict, asked = interview({"1.3.0": page(b"internal error", status=500), "": page(CAPABILITIES)})
    assert (verdict.status, asked) == (Status.VALID, ["1.3.0", ""])


def test_capabilities_in_a_file_are_asked_for_as_they_stand() -> None:
    verdict, asked = interview({"plain": page(CAPABILITIES)}, "http://maps.example.org/files/wms.xml")
    assert (verdict.status, asked) == (Status.VALID, ["plain"])


def test_capabilities_with_an_error_status_are_accepted_and_noted() -> None:
    verdict, _ = interview({"1.3.0": page(CAPABILITIES, status=500)})
    assert verdict.status is Status.VALID
    assert [d.code for d in verdict.deviations] == ["http-status"]


@pytest.mark.parametrize(
    ("body", "content_type", "reason", "detail"),
    [
        (b"", "text/xml", "empty", "no bytes in the answer"),
        (b"   \r\n ", "text/xml", "empty", "no bytes in the answer"),
        (b'{"a": 1}', "application/json", "not-capabilities", "no XML: JSON"),
        (b"\x89PNG\r\n", "image/png", "not-capabilities", "no XML: image/png"),
        (
            b'<WFS_Capabilities xmlns="http://www.opengis.net/wfs"/>',
            "text/xml",
            "other-kind",
            "WFS_Capabilities (http://www.opengis.net/wfs)",
        ),
        (b"<rss/>", "text/xml", "not-capabilities", "rss"),
        (b"<GetCapabilities service='WMS'/>", "text/xml", "not-capabilities", "GetCapabilities"),
        (
            b"<WMS_Capabilities version='1.3.0'><Service/></WMS_Capabilities>",
            "text/xml",
            "not-capabilities",
            "WMS_Capabilities without Capability",
        ),
    ],
)
def test_all_else_is_rejected_with_a_reason(body: bytes, content_type: str, reason: str, detail: str) -> None:
    verdict, _ = interview({"*": page(body, content_type=content_type)})
    assert (verdict.status, verdict.reason, verdict.detail, verdict.service) == (Status.INVALID, reason, detail, None)


def test_a_document_shown_in_a_page_is_html() -> None:
    shown = f"<html><body><pre>{CAPABILITIES}</pre></body></html>"
    assert interview({"*": page(shown, content_type="text/html")})[0].reason == "html"


def test_first_bytes_hold_no_control_characters() -> None:
    verdict, _ = interview({"*": page(b"\x00\x1b[31m\xff\nred" * 100)})
    assert verdict.first_bytes.isprintable()
    assert len(verdict.first_bytes) == 200


ANSWERS = st.one_of(
    st.sampled_from(
        [page(CAPABILITIES), page(HTML), page(b""), page(b"", status=302, location="http://b.example.org/")]
    ),
    st.builds(page, st.binary(max_size=60), status=st.integers(200, 599)),
    st.builds(lambda text: page(EXCEPTION.format(text)), st.sampled_from("abc")),
    st.builds(lambda code: Failure(url(ENDPOINT), code, "x"), st.sampled_from(FailureCode)),
)


@given(st.fixed_dictionaries(dict.fromkeys(("1.3.0", "", "1.1.1", "wmtver 1.0.0"), ANSWERS)))
def test_every_interview_ends_within_four_requests(answers: dict[str, Page | Failure]) -> None:
    verdict, asked = interview(answers)
    assert verdict.requests == len(asked) <= 4
    assert len(set(asked)) == len(asked)
    assert (verdict.status is Status.VALID) == (verdict.service is not None) == (verdict.reason == "ok")
