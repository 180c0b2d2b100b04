"""Probe the addresses that a person names until each has a verdict, without a crawl, resumable and politely.

The crawl loop runs on a queue that contains only probes: with `--save` the catalogue's queue, else that of a scratch
database, which shares politeness with the catalogue (`fetch/guests.py`). A journal in the user's cache folder
stores the finished lines of a list until the whole list is done, so that the same command resumes an interrupted list.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from geocrawl.app import wiring
from geocrawl.app.run import run_session
from geocrawl.app.session import Session, SessionKind, with_stored_depth
from geocrawl.config import user_folder
from geocrawl.crawler.report import RunSummary
from geocrawl.errors import EnvironmentFault
from geocrawl.fetch.clock import SystemClock
from geocrawl.files import SECRET, make_folder
from geocrawl.model import Candidate, Endpoint, Entry, FrontierStats, Kind, Lease, SettlementResult, Url, Verdict, Visit
from geocrawl.ports import ContentCheck, Observer
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.urls.database import DatabaseUrl


@dataclass(frozen=True, slots=True)
class ProbeLine:
    """The result of the probe of one address."""

    url: str
    """The endpoint, without request parameters."""
    given: str
    """The address as a person named it; '' when a redirect led there."""
    kind: str
    status: str
    """valid, invalid; refused when robots.txt, the address guard or the operator's lists forbid the request."""
    reason: str
    title: str = ""
    version: str = ""
    layers: int = 0
    """Named layers."""
    deviations: tuple[str, ...] = ()
    detail: str = ""
    http_status: int | None = None
    content_type: str = ""
    elapsed_ms: float = 0.0
    moved_to: str = ""
    probed_at: float | None = None
    level: str = ""
    """Level of the content check: advertised, answers or delivers; '' without a check."""
    proof: tuple[Mapping[str, object], ...] | None = None
    """The attempts of the content check, each with layer, crs, outcome, milliseconds, detail, url; None without a
    check."""

    def as_json(self) -> dict[str, object]:
        """Return the fields under stable names: url, kind, status, reason, title, version, layers, deviations … `level`
        and `proof` only after a content check."""
        values = {**asdict(self), "deviations": list(self.deviations)}
        if self.proof is None:
            del values["level"], values["proof"]
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, object]) -> ProbeLine:
        """Return the line that `as_json` wrote."""
        names = cls.__dataclass_fields__
        known = {name: value for name, value in values.items() if name in names}
        for name in ("deviations", "proof"):
            value = known.get(name)
            if isinstance(value, list):
                known[name] = tuple(value)
        return cls(**known)  # type: ignore[arg-type]


_WHY_NOT = {
    "robots": "robots.txt forbids it (override: --ignore-robots)",
    "robots-unreachable": "robots.txt is unreachable; not probed (override: --ignore-robots)",
    "internal-error": "an error of geocrawl itself; standard error has its traceback",
    "guard": "a private address (use --allow-private to allow it)",
    "deny": "forbidden by the setting deny",
    "allow": "not in the setting allow",
    "forgotten": "its host was removed on request (`geocrawl forget --list`)",
    "resting": "its host is in back-off or busy with another process (`geocrawl status`); try again later",
}


def line_of(visit: Visit, given: str) -> ProbeLine:
    """Return the line of a settled probe. `given`: the address that a person named, '' when a redirect led there."""
    candidate, verdict = visit.lease.entry.candidate, visit.verdict
    assert candidate is not None, "a probe's lease carries its candidate"
    if visit.not_modified:  # the daemon's own probe of the endpoint; addresses that a person names are read whole
        return _line_of_not_modified(visit, candidate.endpoint, given)
    if verdict is None:
        why = _WHY_NOT.get(visit.reason, "")
        return ProbeLine(
            candidate.endpoint.url.address, given, candidate.endpoint.kind, "refused", visit.reason, detail=why
        )
    return _line_of_verdict(visit, verdict, candidate.endpoint, given)


def _line_of_not_modified(visit: Visit, endpoint: Endpoint, given: str) -> ProbeLine:
    return ProbeLine(
        endpoint.url.address,
        given,
        endpoint.kind,
        "valid",
        visit.reason,
        http_status=visit.http_status,
        elapsed_ms=round(visit.elapsed_ms, 1),
        probed_at=visit.at,
    )


def _line_of_verdict(visit: Visit, verdict: Verdict, endpoint: Endpoint, given: str) -> ProbeLine:
    service, report = verdict.service, visit.content_report
    return ProbeLine(
        url=endpoint.url.address,
        given=given,
        kind=service.kind if service else endpoint.kind,
        status=verdict.status,
        reason=verdict.reason,
        title=service.title if service else "",
        version=service.version if service else "",
        layers=sum(1 for layer in service.layers if layer.name) if service else 0,
        deviations=tuple(deviation.code for deviation in verdict.deviations),
        detail=verdict.detail,
        http_status=verdict.http_status,
        content_type=verdict.content_type,
        elapsed_ms=round(verdict.elapsed_ms, 1),
        moved_to=verdict.moved_to.address if verdict.moved_to else "",
        probed_at=visit.at,
        level=report.level if report else "",
        proof=tuple(asdict(attempt) for attempt in report.attempts) if report else None,
    )


def candidates_at(urls: Iterable[Url], kind: Kind | None = None) -> list[Candidate]:
    """Return the candidates at addresses: of the kind that a person names, or else of the kind that each looks like."""
    detector = wiring.make_detector()
    return [detector.candidate_at(url, kind) for url in urls]


def run_probes(
    settings: Settings,
    path: DatabaseUrl,
    candidates: Sequence[Candidate],
    *,
    observer: Observer,
    wants_lead: Callable[[Candidate, Candidate], bool],
    share_with: DatabaseUrl | None = None,
    say: Callable[[str], object] = lambda text: None,
    content_check: Callable[[ContentCheck], ContentCheck] = lambda check: check,
) -> RunSummary:
    """Probe the candidates until each has a verdict or a signal comes.

    `wants_lead(asked, named)`: whether to also probe the endpoint `named`, which an answer of `asked` names.
    `share_with`: the path of a catalogue with which to share politeness. `say` is called with a line for a person when
    another process's lease delays a probe, or politeness cannot be shared. `content_check`: as in `SessionKind`.
    """
    clock = SystemClock()
    retrying = wiring.retry_policy(settings, path, clock, observer)
    sharing = nullcontext() if share_with is None else wiring.shared_politeness(share_with, settings, clock, say)
    with sharing as politeness:

        def begin(store: Store) -> Session:
            stored = replace(with_stored_depth(settings, store), siblings=0, wait=True)
            kind = SessionKind(named_only=True, wants_lead=wants_lead, content_check=content_check)
            session = wiring.make_session(stored, store, clock, kind, guest_of=politeness, say=say)
            session.frontier.add_candidates(candidates, again=True)
            return session

        with retrying.opened(begin) as session:
            summary = run_session(session, observer, retrying, max_pages=0)
            retrying.call(lambda: session.frontier.put_back(candidates))
            return summary


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
    database: DatabaseUrl | None,
    list_file: Path | None,
    emit: Emit,
    share_with: DatabaseUrl | None = None,
    say: Callable[[str], object] = lambda text: None,
) -> ProbeResult:
    """Probe every address of a list, and call `emit` with a line for each.

    The lines come in the order of `given`; with `list_file` each comes as soon as its probe is settled. `kind`: the
    kind as which each address is probed; None: as what it looks like, then as what it answers as. `database`: the
    catalogue that stores the verdicts; None stores none. `share_with`: the path of a catalogue with which to share
    politeness; `say` is called with lines for a person about that. `list_file`: the file of the list, which makes it
    resumable. Targets of redirects to another host are probed, too, and have a line of their own.
    """
    journal = ProbeJournal.of(list_file, given, database, kind) if list_file else None
    candidates = {_key(candidate.endpoint): candidate for candidate in candidates_at(given, kind)}
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
def _workspace(database: DatabaseUrl | None) -> Iterator[DatabaseUrl]:
    """Yield the catalogue's path, or the path of a scratch database, which is removed in the end."""
    if database is not None:
        yield database
        return
    with scratch_database() as path:
        yield path


@contextmanager
def scratch_database() -> Iterator[DatabaseUrl]:
    """Yield the path of a database that is removed in the end."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-probe-") as folder:
        yield Path(folder) / "scratch.db"


def _key(endpoint: Endpoint) -> str:
    """Return the key of an address as one kind: each key is probed once."""
    return f"{endpoint.kind} {endpoint_place(endpoint)}"


def endpoint_place(endpoint: Endpoint) -> str:
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
        is_other_kind = asked_key != named_key and endpoint_place(asked.endpoint) == endpoint_place(named.endpoint)
        return self._any_kind and is_other_kind and asked_key in self._asked and named_key not in self._asked

    def settled(self, entry: Entry, visit: Visit, result: SettlementResult) -> None:
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


class ProbeJournal:
    """A file with the finished lines of a list, one JSON object a line, which is removed when the list is done."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of(cls, list_file: Path, given: Sequence[Url], database: DatabaseUrl | None, kind: Kind | None) -> ProbeJournal:
        """Return the journal of these addresses of a list, of probes as this kind for this catalogue.

        Raises EnvironmentFault when the user's cache folder cannot be made.
        """
        addresses = "\n".join(url.address for url in given)
        text = f"{list_file.resolve()}\n{database}\n{kind or ''}\n{addresses}"
        name = f"probe-{hashlib.sha256(text.encode()).hexdigest()[:24]}.jsonl"
        folder = user_folder("cache", os.environ)
        try:
            make_folder(folder)
        except OSError as error:
            raise EnvironmentFault(f"{folder}: {error.strerror}; the progress of the list is stored there") from None
        return cls(folder / name)

    def lines(self) -> Iterator[tuple[str, ProbeLine]]:
        """Yield (endpoint key, line) of an earlier run that was interrupted; an incomplete last line is skipped."""
        if not self._path.exists():
            return
        for text in self._path.read_text(encoding="utf-8").splitlines():
            try:
                values = json.loads(text)
            except ValueError:
                continue
            yield values["key"], ProbeLine.from_json(values["line"])

    def write(self, key: str, line: ProbeLine) -> None:
        """Append one line. Raises EnvironmentFault when it cannot be written."""
        text = json.dumps({"key": key, "line": line.as_json()}, ensure_ascii=False) + "\n"
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, SECRET)
            with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise EnvironmentFault(
                f"{self._path}: {error.strerror}; the progress of the list is stored there"
            ) from None

    def remove(self) -> None:
        """Remove the file: the list is done."""
        self._path.unlink(missing_ok=True)
