"""Study and measure a user's own crawl, recorded by `geocrawl crawl --record` (`recorded_worlds.recording`).

A recording comes without truth. The fixed judge alone decides which pages are relevant, and the services that any
strategy of the contest found (the pool) count as reachable. The number of requests for addresses that were not recorded
is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from geocrawl.lab.contest.judge import PageJudge
from geocrawl.lab.contest.measure import Score, area, at_share
from geocrawl.lab.contest.study import Study
from geocrawl.lab.recorded_worlds.recording import RecordedWeb
from geocrawl.lab.recorded_worlds.replay import Request
from geocrawl.lab.recorded_worlds.world import TOPIC_KIND
from geocrawl.model import Page
from geocrawl.page.document import PageReader
from geocrawl.urls import endpoint_key, read_url


def study_recording(web: RecordedWeb, judge: PageJudge) -> Study:
    """Return the judge's verdict on every recorded page; a recording has no other truth."""
    reader, judged, pages = PageReader(), set(), set()
    for key, record in web.warc.records.items():
        stored, url = web.warc.read(key), read_url(key)
        if stored is None or url is None or record.kind != "page" or 300 <= record.status < 400:
            continue
        headers = {name.lower(): value for name, value in stored.headers}
        document = reader.read(Page(url, url, stored.status, headers, stored.body, 0.0, 0.0), depth=0)
        bare = key.partition("://")[2]
        pages.add(bare)
        if judge.is_relevant(document.title, document.text):
            judged.add(bare)
    return Study(
        world=web.name,
        pages=web.pages,
        relevant=frozenset(),
        reachable=frozenset(pages),
        judged=frozenset(judged),
        oracle=(),
        sha256=web.sha256,
        has_truth=False,
    )


def measure_recording(log: Sequence[Request], catalogue: Sequence[tuple[str, str]], budget: int) -> Score:
    """Return the score of a crawl as if its own finds were all reachable services; `pooled` corrects that."""
    first: dict[str, int] = {}
    pages = 0
    for request in log:
        pages += request.is_page
        if request.kind == "service" and request.status == 200:
            first.setdefault(_endpoint(request.url), pages)
    keys = {_endpoint(address) for address, kind in catalogue if kind == TOPIC_KIND}
    pages_at_finds = {key: max(1, first[key]) for key in keys if key in first}
    times = tuple(sorted(pages_at_finds.values()))
    return Score(
        pages=pages,
        service_requests=sum(request.kind == "service" for request in log),
        found=len(times),
        reachable=len(times),
        recall=1.0 if times else 0.0,
        precision=round(len(times) / pages, 6) if pages else 0.0,
        pages_50=at_share(times, 0.5),
        pages_90=at_share(times, 0.9),
        pages_100=at_share(times, 1.0),
        area=area(times, len(times), budget),
        false_accepts=(),
        pages_at_finds=times,
        curve=times,
        endpoints=tuple(sorted(pages_at_finds)),
    )


def pooled(scores: Mapping[int, Score], budget: int) -> dict[int, Score]:
    """Return the scores with the services that any of the crawls found counted as reachable."""
    pool = len({endpoint for score in scores.values() for endpoint in score.endpoints})
    return {
        number: replace(
            score,
            reachable=pool,
            recall=round(score.found / pool, 6) if pool else 0.0,
            area=area(score.curve, pool, budget),
        )
        for number, score in scores.items()
    }


def _endpoint(address: str) -> str:
    url = read_url(address)
    return endpoint_key(url) if url is not None else address
