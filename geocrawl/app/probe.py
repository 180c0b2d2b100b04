"""Probe the addresses that a person names until each has a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from geocrawl.app import wiring
from geocrawl.app.run import run_session
from geocrawl.app.session import Session, SessionKind, with_stored_depth
from geocrawl.crawler.summary import RunSummary
from geocrawl.model import Candidate, Kind, Url
from geocrawl.urls.database import Place

if TYPE_CHECKING:
    from geocrawl.ports import Observer
    from geocrawl.settings import Settings
    from geocrawl.store import Store


def candidates_at(urls: Iterable[Url], kind: Kind | None = None) -> list[Candidate]:
    """Return the candidates at addresses: of the kind that a person names, or else of the kind that each looks like."""
    detector = wiring.make_detector()
    return [detector.candidate_at(url, kind) for url in urls]


def run_probes(
    settings: Settings,
    path: Place,
    candidates: Sequence[Candidate],
    *,
    observer: Observer,
    wants_lead: Callable[[Candidate, Candidate], bool],
    share_with: Place | None = None,
    say: Callable[[str], object] = lambda text: None,
) -> RunSummary:
    """Probe the candidates until each has a verdict or a signal comes.

    `wants_lead(asked, named)`: whether to also probe the endpoint `named`, which an answer of `asked` names.
    `share_with`: the path of a catalogue with which to share politeness. `say` is called with a line for a person when
    another process's lease delays a probe, or politeness cannot be shared.
    """
    clock = wiring.system_clock()
    retrying = wiring.retry_policy(settings, path, clock, observer)
    with wiring.shared_politeness(share_with, settings, clock, say) as sharing:

        def begin(store: Store) -> Session:
            stored = replace(with_stored_depth(settings, store), siblings=0)
            if sharing is not None:  # the scratch session's lease has to outlast the wait for another process's
                stored = replace(stored, lease_s=2 * stored.lease_s)
            kind = SessionKind(named_only=True, wants_lead=wants_lead)
            session = wiring.make_session(stored, store, clock, kind, share_with=sharing)
            session.frontier.add_candidates(candidates, again=True)
            return session

        with retrying.opened(begin) as session:
            summary = run_session(session, observer, retrying, max_pages=0)
            retrying.call(lambda: session.frontier.put_back(candidates))
            return summary
