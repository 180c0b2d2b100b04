"""What holds for every probe, whatever its kind: no answer makes it fail, accept, or ask without end."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geocrawl.model import Candidate, Failure, FailureCode, Kind, Page, Status, Url, Verdict
from geocrawl.ports import Probe
from geocrawl.probe.registry import probes
from tests.probe.kinds import ADDRESS, candidate_of, documents
from tests.support.answers import EXCEPTION, HTML, page, url

MOST_REQUESTS = 4
KINDS = [probe.kind for probe in probes()]
BY_KIND = {probe.kind: probe for probe in probes()}
GARBAGE = [
    b"\x00\xff" * 300,
    b"<",
    b"<a><b",
    b"]]>",
    b"%PDF-1.4",
    b"null",
    b"[]",
    b"{",
    b'{"error": {"code": 500}}',
    b"&amp;",
]


def run(probe: Probe, candidate: Candidate, answers: Iterator[Page | Failure]) -> tuple[Verdict, list[Url]]:
    """The verdict when requests are answered in this order, and what was asked."""
    asked: list[Url] = []
    interview = probe.interview(candidate)
    try:
        ask = next(interview)
        while True:
            asked.append(ask.url)
            assert len(asked) <= MOST_REQUESTS, [each.address for each in asked]
            ask = interview.send(next(answers))
    except StopIteration as end:
        verdict: Verdict = end.value
        return verdict, asked


def always(answer: Page | Failure) -> Iterator[Page | Failure]:
    return iter([answer] * (MOST_REQUESTS + 1))


def rejected(kind: Kind, answer: Page | Failure, *, weak: bool = False) -> Verdict:
    """The verdict of an interview that ends in a rejection, its fields checked."""
    verdict, asked = run(BY_KIND[kind], candidate_of(kind, weak=weak), always(answer))
    assert (verdict.status, verdict.service, verdict.pages) == (Status.INVALID, None, ())
    assert verdict.requests == len(asked) == len(set(asked))
    assert verdict.reason not in ("", "ok")
    assert len(verdict.detail) <= 1_000
    assert verdict.first_bytes.isprintable() or verdict.first_bytes == ""
    return verdict


def test_there_is_one_probe_a_kind() -> None:
    assert len(set(KINDS)) == len(KINDS)
    assert set(KINDS) <= set(Kind)


@pytest.mark.parametrize("kind", KINDS)
def test_an_interview_can_go_on_in_the_process_that_reads_heavy_answers(kind: Kind) -> None:
    begin = pickle.loads(pickle.dumps(BY_KIND[kind].interview))
    assert next(begin(candidate_of(kind))) == next(BY_KIND[kind].interview(candidate_of(kind)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("code", [FailureCode.DNS, FailureCode.TIMEOUT_READ, FailureCode.TLS])
def test_no_answer_is_asked_for_once_and_its_cause_is_the_reason(kind: Kind, code: FailureCode) -> None:
    verdict = rejected(kind, Failure(url(ADDRESS), code, "no answer from maps.example.org"))
    assert (verdict.reason, verdict.requests) == (code, 1)
    assert verdict.detail == "no answer from maps.example.org"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", GARBAGE)
def test_garbage_is_no_service(kind: Kind, body: bytes) -> None:
    assert rejected(kind, page(body, content_type="application/octet-stream")).http_status == 200


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_html_and_its_title_the_detail(kind: Kind) -> None:
    verdict = rejected(kind, page(HTML, content_type="text/html"))
    assert (verdict.reason, verdict.detail) == ("html", "Our maps")
    assert verdict.requests <= 3
    assert rejected(kind, page(HTML, content_type="text/html"), weak=True).reason == "html"


@pytest.mark.parametrize("kind", KINDS)
def test_an_exception_is_one_with_its_text(kind: Kind) -> None:
    verdict = rejected(kind, page(EXCEPTION.format("Out of order")))
    assert (verdict.reason, verdict.detail) == ("exception", "Out of order")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [401, 403])
def test_what_needs_a_password_is_protected(kind: Kind, status: int) -> None:
    verdict = rejected(kind, page(b"Sign in", status=status, content_type="text/plain"))
    assert (verdict.reason, verdict.http_status, verdict.requests) == ("protected", status, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_there_says_so_by_its_status(kind: Kind) -> None:
    verdict = rejected(kind, page(b"Not found", status=404, content_type="text/plain"))
    assert (verdict.reason, verdict.http_status) == ("http-404", 404)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_empty(kind: Kind) -> None:
    assert rejected(kind, page(b" \r\n")).reason == "empty"


@pytest.mark.parametrize("kind", KINDS)
def test_a_redirect_to_another_host_is_a_candidate_of_its_own(kind: Kind) -> None:
    verdict = rejected(kind, page(status=302, location="http://new.example.org/service"))
    assert (verdict.reason, verdict.requests) == ("moved", 1)
    assert verdict.moved_to == url("http://new.example.org/service")


@pytest.mark.shared
@pytest.mark.parametrize("kind", KINDS)
def test_half_a_document_is_none(shared: Path, kind: Kind) -> None:
    label = "wms" if kind is Kind.WMSC else kind.value
    recorded = (shared / "corpus" / "documents" / label).is_dir()  # of a young kind there may be none
    for file in documents(shared, label)[:12] if recorded else ():
        body = file.read_bytes()
        body = body[: len(body) // 2] if kind is not Kind.WMS else body[: body.rindex(b"Layer")]
        verdict, _ = run(BY_KIND[kind], candidate_of(kind), always(page(body)))
        if verdict.status is Status.VALID:
            assert "truncated-tail" in {each.code for each in verdict.deviations}, file.name


ANSWERS = st.one_of(
    st.sampled_from(
        [page(HTML, content_type="text/html"), page(b""), page(b"", status=302, location="http://b.example/")]
    ),
    st.builds(page, st.binary(max_size=60), status=st.integers(200, 599)),
    st.builds(
        lambda name, version: page(f'<{name} version="{version}"/>'),
        st.sampled_from(["Capabilities", "WFS_Capabilities", "WCS_Capabilities", "WMS_Capabilities", "TileMapService"]),
        st.sampled_from(["", "1.0.0", "2.0.0"]),
    ),
    st.builds(
        lambda text: page(text, content_type="application/json"), st.sampled_from(['{"links": []}', '{"type": 1}'])
    ),
    st.builds(lambda text: page(EXCEPTION.format(text)), st.sampled_from("abc")),
    st.builds(lambda code: Failure(url(ADDRESS), code, "x"), st.sampled_from(FailureCode)),
)


@pytest.mark.parametrize("kind", KINDS)
@given(answers=st.lists(ANSWERS, min_size=MOST_REQUESTS + 1, max_size=MOST_REQUESTS + 1), weak=st.booleans())
@settings(max_examples=60)
def test_every_interview_ends_with_a_whole_verdict(kind: Kind, answers: list[Page | Failure], weak: bool) -> None:
    verdict, asked = run(BY_KIND[kind], candidate_of(kind, weak=weak), iter(answers))
    assert verdict.requests == len(asked)
    assert (verdict.status is Status.VALID) == (verdict.service is not None) == (verdict.reason == "ok")
    assert all(lead.endpoint.kind is not kind or lead.endpoint != candidate_of(kind).endpoint for lead in verdict.leads)
