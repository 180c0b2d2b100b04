"""Probe a list of addresses without a crawl, resumable and politely.

The crawl loop runs on a queue that contains only probes: with `--save` the catalogue's queue, else that of a scratch
database, which shares politeness with the catalogue (`shared_politeness.py`). A journal in the user's cache folder
stores the finished lines of a list until the whole list is done, so that the same command resumes an interrupted list.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app.probe import candidates_at, run_probes
from geocrawl.app.probe_journal import ProbeJournal
from geocrawl.app.probe_line import ProbeLine, line_of
from geocrawl.model import Candidate, Endpoint, Entry, FrontierStats, Kind, Lease, Settled, Url, Visit
from geocrawl.urls.database import Place

if TYPE_CHECKING:
    from geocrawl.settings import Settings


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """Counts of the probes of a list."""

    asked: int
    valid: int
    left: int
    """Addresses without a verdict."""
    stopped: str = "done"
    """Why the run ended (`RunSummary.stopped`)."""
    interrupted: bool = False
    """Whether Ctrl-C ended it."""


Emit = Callable[[ProbeLine], None]


def run_probe(
    settings: Settings,
    given: Sequence[Url],
    *,
    kind: Kind | None = None,
    database: Place | None,
    list_file: Path | None,
    emit: Emit,
    share_with: Place | None = None,
    say: Callable[[str], object] = lambda text: None,
) -> ProbeResult:
    """Probe every address of a list, and call `emit` with a line for each.

    The lines come in the order of `given`; with `list_file` each comes as soon as its probe is settled. `kind`: the
    kind as which each address is probed; None: as what it looks like, then as what it answers as. `database`: the
    catalogue that stores the verdicts; None stores none. `share_with`: the path of a catalogue with which to share
    politeness; `say` is called with lines for a person about that. `list_file`: the file of the list, which makes it
    resumable. Targets of redirects to another host are probed, too, and have a line of their own.
    """
    journal = ProbeJournal.of(list_file, database, kind) if list_file else None
    candidates = {_key(each.endpoint): each for each in candidates_at(given, kind)}
    asked = {key: candidate.evidence.link for key, candidate in candidates.items()}
    lines = _Lines(asked, emit if list_file else None, journal, any_kind=kind is None)
    for key, line in journal.lines() if journal else ():
        lines.add(key, line)
    todo = [candidate for key, candidate in candidates.items() if key not in lines.done]
    with _workspace(database) as path:
        summary = run_probes(
            settings, path, todo, observer=lines, wants_lead=lines.wants_lead, share_with=share_with, say=say
        )
    left = [key for key in candidates if key not in lines.done]
    if not list_file:
        for line in lines.in_order():
            emit(line)
    if journal and not left:
        journal.remove()
    return ProbeResult(len(lines.done), lines.valid, len(left), summary.stopped, interrupted=summary.interrupted)


@contextmanager
def _workspace(database: Place | None) -> Iterator[Place]:
    """Yield the catalogue's path, or the path of a scratch database, which is removed in the end."""
    if database is not None:
        yield database
        return
    with tempfile.TemporaryDirectory(prefix="geocrawl-probe-") as folder:
        yield Path(folder) / "scratch.db"


def _key(endpoint: Endpoint) -> str:
    """Return the key of an address as one kind: each key is probed once."""
    return f"{endpoint.kind} {_place(endpoint)}"


def _place(endpoint: Endpoint) -> str:
    """Return an endpoint's key without the trailing slash that some kinds have, so that it is equal for all kinds."""
    return endpoint.key.rstrip("/")


class _Lines:
    """`ports.Observer` that makes a line for each address, about the last kind that the address was asked as."""

    def __init__(
        self, asked: Mapping[str, str], emit: Emit | None, journal: ProbeJournal | None, *, any_kind: bool
    ) -> None:
        """`asked`: key → address as a person named it. `any_kind`: probe an address that answers as another kind as
        that kind, too."""
        self._any_kind = any_kind
        self._first_asked: dict[str, str] = {}
        """Key of an address that is probed as a second kind → its key in the first probe."""
        self._asked = asked
        self._emit = emit
        self._journal = journal
        self._lines: dict[str, ProbeLine] = {}
        self.done: set[str] = set()
        self.valid = 0

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        """Show nothing."""

    def noted(self, text: str) -> None:
        """Write a line for a person to standard error."""
        sys.stderr.write(f"geocrawl: {text}\n")

    def leased(self, lease: Lease) -> None:
        """Show nothing."""

    def wants_lead(self, asked: Candidate, named: Candidate) -> bool:
        """Return whether `named` is the address of the list that was `asked`, under another kind not probed yet."""
        asked_key, named_key = _key(asked.endpoint), _key(named.endpoint)
        is_other_kind = asked_key != named_key and _place(asked.endpoint) == _place(named.endpoint)
        return self._any_kind and is_other_kind and asked_key in self._asked and named_key not in self._asked

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        """Make the line of a settled probe, unless the address is about to be probed as another kind."""
        candidate = entry.candidate
        assert candidate is not None, "only probes are leased here"
        if visit.fault:
            self.noted(f"internal error at {candidate.endpoint.url.address}\n{visit.fault}")
        key = _key(candidate.endpoint)
        for lead in visit.verdict.leads if visit.verdict else ():
            if visit.verdict and visit.verdict.service is None and self.wants_lead(candidate, lead):
                self._first_asked[_key(lead.endpoint)] = key
                return
        key = self._first_asked.get(key, key)
        line = line_of(visit, self._asked.get(key, ""))
        if self._journal:
            self._journal.write(key, line)
        self.add(key, line)

    def add(self, key: str, line: ProbeLine) -> None:
        """Count a line and pass it on."""
        self.done.add(key)
        self._lines[key] = line
        self.valid += line.status == "valid"
        if self._emit:
            self._emit(line)

    def in_order(self) -> Iterable[ProbeLine]:
        """Return the lines in the order of the list, targets of redirects last."""
        keys = [*self._asked, *(key for key in self._lines if key not in self._asked)]
        return (self._lines[key] for key in keys if key in self._lines)
