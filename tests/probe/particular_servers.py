"""A small map server on loopback that draws each place in its colour, and is as particular as a test makes it.

`prove` probes it as a crawl does: capabilities, then content, within the budget of requests for one service.
"""

from __future__ import annotations

import io
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

import numpy as np
from PIL import Image

from geocrawl.detect import Detector
from geocrawl.model import (
    Candidate,
    ContentReport,
    Endpoint,
    Evidence,
    Failure,
    FailureCode,
    Kind,
    Level,
    Page,
    Url,
    Verdict,
)
from geocrawl.probe.registry import content_checks, declarations, probes
from geocrawl.settings import Settings
from geocrawl.urls import read_url
from tests.support.interviews import with_picture


@dataclass(frozen=True)
class Request:
    """One request that reached the server; parameter names in upper case."""

    path: str
    parameters: Mapping[str, str]
    names: tuple[str, ...] = ()
    """Names of the parameters as they were sent."""

    def get(self, name: str) -> str:
        return self.parameters.get(name, "")


@dataclass(frozen=True)
class Reply:
    """What the server sends."""

    body: bytes
    media_type: str = "image/png"
    status: int = 200


Answer = Callable[[Request], Reply]


@dataclass
class Served:
    """A running server and the requests that reached it."""

    base: str
    requests: list[Request] = field(default_factory=list)

    @property
    def of_content(self) -> list[Request]:
        """Return the requests for content: not those for a description of the service or of its fields."""
        described = ("getcapabilities", "describefeaturetype")
        return [each for each in self.requests if each.get("REQUEST").lower() not in described]


@contextmanager
def serving(answer: Callable[[Request, str], Reply]) -> Iterator[Served]:
    """Serve `answer(request, base address)` on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            sent = parse_qsl(query, keep_blank_values=True)
            request = Request(path, {name.upper(): value for name, value in sent}, tuple(name for name, _ in sent))
            served.requests.append(request)
            reply = answer(request, served.base)
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.media_type)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Served(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def probed(
    kind: Kind, document: str, answer: Answer, *, path: str = "", lower_case_only: bool = False
) -> tuple[ContentReport, list[Request]]:
    """Probe a service with this document, in which `{base}` is its address and `{other}` one of another host.

    All other requests are answered by `answer`.

    Return the report on its content, and the requests for that. `lower_case_only`: it knows no other names.
    """

    def reply(request: Request, base: str) -> Reply:
        if lower_case_only and "request" not in request.names:
            return refused("Missing parameter: request")
        if request.get("REQUEST").lower() == "getcapabilities":
            other = base.replace("127.0.0.1", "localhost")
            return Reply(document.replace("{base}", base).replace("{other}", other).encode(), "text/xml")
        return answer(request)

    with serving(reply) as served:
        report = prove(kind, f"{served.base}/{kind}{path}")[1]
    return report, served.of_content


def delivers(report: ContentReport) -> bool:
    """Return whether content came."""
    return report.level is Level.DELIVERS


def prove(kind: Kind, address: str) -> tuple[Verdict, ContentReport]:
    """Probe a service of this kind at an address, then check its content."""
    url = read_url(address)
    assert url is not None
    given = Detector(declarations()).candidate_at(url)
    candidate = Candidate(Endpoint(kind, given.endpoint.key, given.endpoint.url), Evidence("given"))
    interview = next(probe for probe in probes() if probe.kind is kind).interview(candidate)
    try:
        ask = next(interview)
        while True:
            ask = interview.send(_fetched(ask.url))
    except StopIteration as end:
        verdict: Verdict = end.value
    assert verdict.service is not None, verdict.detail
    check = next(check for check in content_checks(layers=Settings().map_layers) if check.kind is kind)
    return verdict, _checked(check.run(candidate.endpoint, verdict.service))


def _checked(check: object) -> ContentReport:
    left = Settings().map_requests
    try:
        ask = next(check)  # type: ignore[call-overload]
        while True:
            over = Failure(ask.url, FailureCode.BUDGET, "enough")
            ask = check.send(with_picture(_fetched(ask.url) if left > 0 else over))  # type: ignore[attr-defined]
            left -= 1
    except StopIteration as end:
        report: ContentReport = end.value
        return report


def _fetched(url: Url) -> Page | Failure:
    try:
        answer = urllib.request.urlopen(url.address, timeout=240)
    except urllib.error.HTTPError as error:
        answer = error
    except urllib.error.URLError as error:
        return Failure(url, FailureCode.DNS, str(error.reason))
    with answer:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Page(url, url, answer.status, headers, answer.read(), 1.0, 0.0)


# --------------------------------------------------------------------------- maps


def drawn(request: Request, *, written_as: str = "PNG", swapped: bool = False) -> Reply:
    """The map that a GetMap request asks for, coloured by longitude and latitude.

    `swapped`: EPSG:4326 of 1.3.0 is read with longitude first.
    """
    west, south, east, north = map(float, request.get("BBOX").split(","))
    code = request.get("CRS") or request.get("SRS")
    if request.get("VERSION") == "1.3.0" and code == "EPSG:4326" and not swapped:
        west, south, east, north = south, west, north, east
    unit = 111_319.490793 if code not in ("EPSG:4326", "CRS:84") else 1.0
    width, height = int(request.get("WIDTH")), int(request.get("HEIGHT"))
    across, down = np.meshgrid(np.arange(width), np.arange(height))
    longitude = (west + across / width * (east - west)) / unit
    latitude = (north - down / height * (north - south)) / unit
    colours = (longitude * 2 % 256, latitude * 5 % 256, (longitude + latitude) % 256)
    image = Image.fromarray(np.stack(colours, axis=2).astype(np.uint8))
    written = io.BytesIO()
    image.save(written, written_as)
    return Reply(written.getvalue(), f"image/{written_as.lower()}")


def blank(request: Request) -> Reply:
    """An image of one colour in the requested size."""
    written = io.BytesIO()
    Image.new("RGB", (int(request.get("WIDTH")), int(request.get("HEIGHT"))), "white").save(written, "PNG")
    return Reply(written.getvalue())


def refused(text: str, code: str = "", status: int = 200) -> Reply:
    """A service exception of WMS."""
    attribute = f' code="{code}"' if code else ""
    body = f"<ServiceExceptionReport><ServiceException{attribute}>{text}</ServiceException></ServiceExceptionReport>"
    return Reply(body.encode(), "text/xml", status)
