"""Probe given addresses until each has a verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app import wiring
from geocrawl.app.session import Session, as_stored
from geocrawl.crawler.summary import RunSummary
from geocrawl.model import Candidate, Kind, Url

if TYPE_CHECKING:
    from geocrawl.ports import Observer
    from geocrawl.settings import Settings
    from geocrawl.store.engine.database import Database


def given_candidate(url: Url, kind: Kind | None = None) -> Candidate:
    """What a person typed, as a candidate: whatever its address looks like, it is asked as what they call it."""
    return wiring.make_detector().given(url, kind)


def run_probes(
    settings: Settings,
    path: Path,
    candidates: Sequence[Candidate],
    *,
    observer: Observer,
    follows: Callable[[Candidate, Candidate], bool],
    beside: Path | None = None,
    say: Callable[[str], object] = lambda text: None,
) -> RunSummary:
    """Probe the candidates, and what `follows(asked, named)` of the endpoints that they name, until each has a verdict
    or a signal comes.

    `beside`: a catalogue whose politeness is shared, when it is there (`SharedPoliteness`; `say` is told about it).
    """
    clock = wiring.system_clock()
    retrying = wiring.retry_policy(settings, path, clock, observer)
    with wiring.shared_politeness(beside, settings, clock, say) as guest:

        def begin(database: Database) -> Session:
            stored = replace(as_stored(settings, database), siblings=0)
            if guest is not None:  # our own lease has to outlast the wait for another's
                stored = replace(stored, lease_s=2 * stored.lease_s)
            session = Session(stored, database, clock, learning=False, follows=follows, guest=guest)
            session.frontier.add_candidates(candidates, again=True)
            return session

        with retrying.opened(begin) as session:
            return asyncio.run(session.run(observer, retrying, max_pages=0))
