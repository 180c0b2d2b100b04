"""Recorded answers of WFS, WMTS, WCS, CSW, WPS and SOS: every one read as expected, nothing else accepted.

`tests/expectations/corpus_KIND.json` was made without geocrawl's reader: titles, providers, names and counts by expat
and plain counting of elements (two documents that expat refuses by libxml2's recovery), and several of each kind looked
at by eye. `MENDED` has every difference, with its reason.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from geocrawl.model import Kind, Layer, Service, Status
from geocrawl.probe.kinds import csw, sos, wcs, wfs, wps
from geocrawl.probe.kinds.wmts import probe as wmts
from geocrawl.probe.ows import capabilities as ows_answer
from geocrawl.probe.ows.capabilities import CapabilitiesForm
from tests.probe.kinds import TEXT_ELSEWHERE, documents, verdict_on
from tests.support.answers import page

pytestmark = pytest.mark.shared

EXPECTATIONS = Path(__file__).parents[1] / "expectations"
FORMS: dict[Kind, CapabilitiesForm] = {
    Kind.WFS: wfs.FORM,
    Kind.WMTS: wmts.FORM,
    Kind.WCS: wcs.FORM,
    Kind.CSW: csw.FORM,
    Kind.WPS: wps.FORM,
    Kind.SOS: sos.FORM,
}
COUNTS = {Kind.WFS: 86, Kind.WMTS: 43, Kind.WCS: 41, Kind.CSW: 18, Kind.WPS: 9, Kind.SOS: 6}
NO_TYPES_NAMED = {"items": 1, "first": "csw:Record"}
MENDED: dict[str, dict[str, object]] = {
    # Boxes in metres, as WFS 1.0.0 could be understood: left out.
    "mapserver_wfsogr10_caps.xml": {"boxes": 2},
    # -9999 … 9999 on both axes.
    "geotools_exampleCapabilities1.xml": {"boxes": 0},
    "terriajs_with_operation_metadata.xml": {"version": "1.0.0"},
    # Without the section that names the types of record: every CSW has csw:Record.
    "pycsw_get_4566d2ec-1283-4a02-baed-a74fc5b47e37.xml": NO_TYPES_NAMED,
    "pycsw_get_461bd4c5-6623-490d-9036-d91a2201e87b.xml": NO_TYPES_NAMED,
    "pycsw_get_d03c6fd3-e821-4a26-b62f-d20a474e25af.xml": NO_TYPES_NAMED,
    "pycsw_post_GetCapabilities-sections.xml": NO_TYPES_NAMED,
}
HTTP_HEADERS_BEFORE = {
    Kind.WFS: {
        "mapserver_ows_metadata_wfs_capabilities100.xml",
        "mapserver_wfs20_cap.xml",
        "mapserver_wfs_200_caps_sections_service_provider.xml",
    },
    Kind.WCS: {"mapserver_ows_wcs_capabilities.xml", "mapserver_wcs_get_capabilities_indexlayers.xml"},
}


def facts(service: Service) -> dict[str, object]:
    named = [layer for layer in service.layers if layer.name]
    return {
        "title": service.title,
        "version": service.version,
        "provider": service.provider,
        "items": len(named),
        "first": named[0].name if named else "",
        "boxes": sum(1 for layer in named if layer.box is not None),
    }


@pytest.mark.parametrize("kind", FORMS)
def test_every_service_is_accepted_with_what_it_says_of_itself(shared: Path, kind: Kind) -> None:
    expected = json.loads((EXPECTATIONS / f"corpus_{kind}.json").read_text(encoding="utf-8"))
    assert len(expected) == COUNTS[kind]
    for file in documents(shared, kind):
        verdict = verdict_on(kind, file.read_bytes())
        assert verdict.status is Status.VALID, (file.name, verdict.reason, verdict.detail)
        assert verdict.service is not None
        wanted = expected[file.name] | MENDED.get(file.name, {})
        found = facts(verdict.service)
        assert {key: found[key] for key in wanted} == wanted, file.name


@pytest.mark.parametrize("kind", FORMS)
def test_no_other_answer_is_accepted(shared: Path, kind: Kind) -> None:
    labels = sorted(folder.name for folder in (shared / "corpus" / "documents").iterdir())
    accepted = {
        file.name
        for label in labels
        if label != kind
        for file in documents(shared, label)
        if verdict_on(kind, file.read_bytes()).status is Status.VALID
    }
    assert accepted == HTTP_HEADERS_BEFORE.get(kind, set())


@pytest.mark.parametrize("kind", FORMS)
def test_every_exception_is_called_one_and_every_other_kind_leads_to_that_kind(shared: Path, kind: Kind) -> None:
    assert {verdict_on(kind, file.read_bytes()).reason for file in documents(shared, "exception")} == {"exception"}
    for other in FORMS:
        if other is kind:
            continue
        for file in documents(shared, other):
            verdict = verdict_on(kind, file.read_bytes())
            assert (verdict.reason, [lead.endpoint.kind for lead in verdict.leads]) == ("other-kind", [other]), (
                file.name
            )


@pytest.mark.parametrize("kind", FORMS)
def test_a_streamed_document_reads_like_a_whole_one(shared: Path, kind: Kind) -> None:
    form = FORMS[kind]
    for file in documents(shared, kind):
        answer = page(file.read_bytes())
        whole, streamed = ows_answer.examine(answer, form), ows_answer.examine(answer, form, above=0)
        assert streamed.service == whole.service, file.name


@pytest.mark.parametrize("kind", FORMS)
def test_a_document_that_was_cut_is_accepted_only_behind_its_items(shared: Path, kind: Kind) -> None:
    for file in documents(shared, kind):
        body = file.read_bytes()
        if len(body) > 100_000:
            continue
        whole = verdict_on(kind, body)
        assert whole.service is not None
        for share in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
            cut = verdict_on(kind, body[: int(len(body) * share)])
            if cut.service is not None:
                assert cut.service.layers == whole.service.layers, (file.name, share)
                assert "truncated-tail" in {deviation.code for deviation in cut.deviations}, (file.name, share)
            else:
                assert cut.reason in ("truncated", "not-capabilities", "other-kind"), (file.name, share, cut.reason)


# --------------------------------------------------------------------------- against OWSLib


def owslib_of(kind: Kind, version: str, body: bytes) -> Any:
    """OWSLib's reading; None where it raises or has no reader."""
    from owslib.sos import SensorObservationService
    from owslib.wcs import WebCoverageService
    from owslib.wfs import WebFeatureService
    from owslib.wmts import WebMapTileService

    where = "http://x/"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if kind is Kind.WFS:
                return WebFeatureService(where, version=version, xml=body)
            if kind is Kind.WMTS:
                return WebMapTileService(where, xml=body)
            if kind is Kind.WCS:
                return WebCoverageService(where, version=version, xml=body)
            return SensorObservationService(where, version=version, xml=body)
        except Exception:  # what it raises is not the question here
            return None


def is_within_the_world(box: tuple[float, ...]) -> bool:
    west, south, east, north = box
    return -180 <= west < east <= 180 and -90 <= south < north <= 90


def compare(file: Path, layer: Layer, theirs: Any) -> None:
    assert " ".join((theirs.title or "").split())[:1000] in ("", layer.title), (file.name, layer.name)
    box = getattr(theirs, "boundingBoxWGS84", None)
    if layer.box is not None and box and is_within_the_world(tuple(map(float, box))):
        assert layer.box.bounds == pytest.approx(tuple(map(float, box)), abs=1e-5), (file.name, layer.name)


@pytest.mark.parametrize(("kind", "read"), [(Kind.WFS, 80), (Kind.WMTS, 36), (Kind.WCS, 24)])
def test_where_owslib_reads_a_document_both_readers_agree(shared: Path, kind: Kind, read: int) -> None:
    """On titles, names and boxes."""
    count = 0
    for file in documents(shared, kind):
        body = file.read_bytes()
        service = verdict_on(kind, body).service
        assert service is not None
        theirs = owslib_of(kind, service.version, body)
        if theirs is None or not theirs.contents:
            continue
        ours = {layer.name: layer for layer in service.layers if layer.name}
        assert set(theirs.contents) - {None} == set(ours), file.name  # None: a name that is a foreign entity
        for name, layer in ours.items():
            compare(file, layer, theirs.contents[name])
        count += 1
    assert count >= read


@pytest.mark.parametrize("name", TEXT_ELSEWHERE)
def test_a_recorded_answer_with_a_text_from_elsewhere_proves_nothing(shared: Path, name: str) -> None:
    kind = TEXT_ELSEWHERE[name]
    verdict = verdict_on(kind, (shared / "corpus" / "documents" / kind / name).read_bytes())
    assert (verdict.status, verdict.reason, verdict.detail) == (
        Status.INVALID,
        "external-entity",
        "file:///file/not/there",
    )
