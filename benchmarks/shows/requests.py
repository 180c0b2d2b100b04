"""Count the requests of the content checks for the recorded capabilities, of servers that deliver or refuse everything.

The answers are made here, without a network: every image or feature that is asked for, or an exception that names no
reason. `docs/accommodations.md` has the figures.
"""

from __future__ import annotations

import io
import statistics
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
from PIL import Image

from benchmarks.shows.corpus import is_valid, judge
from geocrawl.model import Failure, FailureCode, Kind, Page, Service, Url
from geocrawl.ports import ContentCheck
from geocrawl.probe.registry import content_checks, probes
from geocrawl.settings import Settings
from tests.support.interviews import candidate
from tests.support.particular_servers import Reply, refused
from tests.support.places import shared_folder

_KINDS = (Kind.WMS, Kind.WMTS, Kind.WFS)
_FEATURES = Reply(b"<FeatureCollection><featureMember><a/></featureMember></FeatureCollection>", "text/xml")

_Answer = Callable[[Kind, Url], Reply]


def main(arguments: list[str]) -> None:
    """Print, for each kind, the median and the most requests a service."""
    if arguments:
        raise SystemExit("python -m benchmarks.shows requests has no options")
    documents = shared_folder() / "corpus" / "documents"
    for kind in _KINDS:
        check = next(each for each in content_checks(layers=Settings().map_layers) if each.kind is kind)
        services = _services(kind, documents / str(kind))
        for name, answer in (("delivers", _deliver), ("refuses", _refuse)):
            counts = [_requests(check, body, service, answer) for body, service in services]
            asked = [count for count in counts if count]
            print(
                f"   {kind} that {name} everything: {len(asked)} of {len(counts)} asked, "
                f"median {statistics.median_low(asked)}, most {max(asked)}"
            )


def _services(kind: Kind, folder: Path) -> list[tuple[bytes, Service]]:
    probe = next(each for each in probes() if each.kind is kind)
    verdicts = ((path.read_bytes(), judge(probe, path)) for path in sorted(folder.iterdir()))
    return [(body, each.service) for body, each in verdicts if is_valid(each) and each.service is not None]


def _requests(check: ContentCheck, body: bytes, service: Service, answer: _Answer) -> int:
    """Return the number of requests; the capabilities, where the check reads them again, count as one."""
    interview = check.run(candidate(check.kind).endpoint, service)
    made, most = 0, Settings().map_requests
    try:
        ask = next(interview)
        while True:
            reply = Reply(body, "text/xml") if "GetCapabilities" in ask.url.address else answer(check.kind, ask.url)
            made += 1
            page = Page(ask.url, ask.url, reply.status, {"content-type": reply.media_type}, reply.body, 1.0, 0.0)
            ask = interview.send(page if made <= most else Failure(ask.url, FailureCode.BUDGET, "enough"))
    except StopIteration:
        return min(made, most)


def _refuse(_kind: Kind, _url: Url) -> Reply:
    return refused("refused")


def _deliver(kind: Kind, url: Url) -> Reply:
    """Return what was asked for: a feature, or an image full of colours in the requested size."""
    if kind is Kind.WFS:
        return _FEATURES
    asked = {name.upper(): value for name, value in parse_qsl(url.address.partition("?")[2])}
    width, height = int(asked.get("WIDTH", 256)), int(asked.get("HEIGHT", 256))
    across, down = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    written = io.BytesIO()
    Image.fromarray(np.stack([across, down, across * 0 + 90], 2).astype(np.uint8)).save(written, "PNG")
    return Reply(written.getvalue())
