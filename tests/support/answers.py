"""Recorded answers for probes: a dictionary plays the web."""

from __future__ import annotations

from collections.abc import Mapping

from geocrawl.detect import Detector
from geocrawl.model import Candidate, Failure, Page, Url, Verdict
from geocrawl.ports import Interview
from geocrawl.probe.kinds.wms.probe import WmsProbe
from geocrawl.probe.registry import declarations
from geocrawl.urls import query_parameters, read_url

ENDPOINT = "http://maps.example.org/wms"

CAPABILITIES = """<?xml version="1.0" encoding="UTF-8"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:xlink="http://www.w3.org/1999/xlink">
<Service><Name>WMS</Name><Title>Roads of Härjedalen</Title><Abstract>All roads</Abstract>
<KeywordList><Keyword>roads</Keyword><Keyword>transport</Keyword></KeywordList>
<OnlineResource xlink:href="http://maps.example.org/"/>
<ContactInformation>
<ContactPersonPrimary><ContactPerson>Ada</ContactPerson>
<ContactOrganization>Road Office</ContactOrganization></ContactPersonPrimary>
<ContactElectronicMailAddress>ada@example.org</ContactElectronicMailAddress></ContactInformation>
<Fees>none</Fees><AccessConstraints>CC BY</AccessConstraints></Service>
<Capability><Request><GetCapabilities><Format>text/xml</Format></GetCapabilities>
<GetMap><Format>image/png</Format><Format>image/jpeg</Format></GetMap></Request>
<Layer><Title>All</Title><CRS>EPSG:4326</CRS><CRS>CRS:84</CRS>
<EX_GeographicBoundingBox><westBoundLongitude>10</westBoundLongitude><eastBoundLongitude>20</eastBoundLongitude>
<southBoundLatitude>50</southBoundLatitude><northBoundLatitude>60</northBoundLatitude></EX_GeographicBoundingBox>
<Layer queryable="1"><Name>major</Name><Title>Major roads</Title><CRS>EPSG:3006</CRS>
<Style><Name>red</Name><Title>Red</Title></Style></Layer>
<Layer><Title>Minor</Title><Layer><Name>gravel</Name><Title>Gravel roads</Title></Layer></Layer>
</Layer></Capability></WMS_Capabilities>
"""

EXCEPTION = """<?xml version="1.0"?><ServiceExceptionReport version="1.1.1">
<ServiceException code="InvalidParameterValue">{}</ServiceException></ServiceExceptionReport>"""

HTML = b"<!DOCTYPE html><html><head><title>Our maps</title></head><body>Welcome</body></html>"


def url(text: str) -> Url:
    """The URL of a text that is one."""
    found = read_url(text)
    assert found is not None
    return found


def page(
    body: bytes | str = b"",
    *,
    status: int = 200,
    content_type: str = "text/xml",
    location: str = "",
) -> Page:
    """An answer with these parts."""
    data = body.encode() if isinstance(body, str) else body
    target = url(location) if location else None
    headers = {"content-type": content_type}
    return Page(url(ENDPOINT), url(ENDPOINT), status, headers, data, 12.0, 1_700_000_000.0, location=target)


def candidate(address: str = ENDPOINT, *, weak: bool = False) -> Candidate:
    """The candidate that a person's typing makes, or the weak one of a link."""
    found = Detector(declarations()).of_url(url(address)) if weak else None
    return found or Detector(declarations()).candidate_at(url(address))


def run_interview(interview: Interview, answers: Mapping[str, Page | Failure]) -> tuple[Verdict, list[str]]:
    """The verdict, and the VERSION of each request: '' for none, `wmtver 1.0.0` for the oldest, 'plain' for no request.

    `answers` are by the same texts; '*' answers what has none of its own.
    """
    asked: list[str] = []
    try:
        ask = next(interview)
        while True:
            parameters = dict(query_parameters(ask.url))
            version = parameters.get("VERSION", "")
            if "WMTVER" in parameters:
                version = f"wmtver {parameters['WMTVER']}"
            if "REQUEST" not in parameters:
                version = "plain"
            asked.append(version)
            ask = interview.send(answers.get(version, answers["*"]) if "*" in answers else answers[version])
    except StopIteration as end:
        verdict: Verdict = end.value
        return verdict, asked


def interview(
    answers: Mapping[str, Page | Failure], address: str = ENDPOINT, *, weak: bool = False
) -> tuple[Verdict, list[str]]:
    """Hold the interview of a WMS at an address."""
    return run_interview(WmsProbe().interview(candidate(address, weak=weak)), answers)
