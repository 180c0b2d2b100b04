"""Probe a list of addresses without a crawl, politely; a list that was stopped is continued.

The crawl's own loop runs on a frontier of probes only: the catalogue's with `--save`, else that of a scratch database
(`shared_politeness.py`); in both cases politeness is shared with other processes on the catalogue. The finished lines
of a list are noted in a journal in the user's cache folder until the whole list is done, so the same command continues
where it was stopped.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.app.probe import given_candidate, run_probes
from geocrawl.errors import EnvironmentFault
from geocrawl.model import Candidate, Endpoint, Entry, FrontierStats, Kind, Lease, Settled, Url, Visit

if TYPE_CHECKING:
    from geocrawl.settings import Settings


@dataclass(frozen=True, slots=True)
class ProbeLine:
    """One address and what it proved to be."""

    url: str
    """The endpoint, without request parameters."""
    given: str
    """The address as it was given; '' when a redirect led there."""
    kind: str
    status: str
    """valid, invalid; refused when robots.txt or the address guard forbids the question."""
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
    """advertised, answers or delivers; '' when no content was asked for."""
    proof: tuple[Mapping[str, object], ...] | None = None
    """An entry a layer tried: layer, crs, outcome, milliseconds, detail, url; None when no content was asked for."""

    def as_json(self) -> dict[str, object]:
        """The fields under stable names: url, kind, status, reason, title, version, layers, deviations … `level` and
        `proof` when content was asked for."""
        values = {**asdict(self), "deviations": list(self.deviations)}
        if self.proof is None:
            del values["level"], values["proof"]
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, object]) -> ProbeLine:
        """The line that `as_json` wrote."""
        names = cls.__dataclass_fields__
        known = {name: value for name, value in values.items() if name in names}
        for name in ("deviations", "proof"):
            value = known.get(name)
            if isinstance(value, list):
                known[name] = tuple(value)
        return cls(**known)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a survey did."""

    asked: int
    valid: int
    left: int
    interrupted: bool


_WHY_NOT = {
    "robots": "robots.txt forbids it (--ignore-robots asks all the same)",
    "robots-unreachable": "robots.txt cannot be had, so nothing may be asked now (--ignore-robots asks all the same)",
    "guard": "a private address (--allow-private asks it)",
    "deny": "the setting deny names it",
    "allow": "the setting allow does not name it",
    "forgotten": "its host is left alone on request (`geocrawl forget --list`)",
    "resting": "its host rests, or another process asks it all the time (`geocrawl status`); try again later",
}


def line_of(visit: Visit, given: str) -> ProbeLine:
    """The line of a settled probe."""
    candidate, verdict = visit.lease.entry.candidate, visit.verdict
    assert candidate is not None, "a probe's lease carries its candidate"
    endpoint = candidate.endpoint
    if visit.not_modified:  # one that was due while others are asked; who is named by a person is read whole
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
    if verdict is None:
        return ProbeLine(
            endpoint.url.address, given, endpoint.kind, "refused", visit.reason, detail=_WHY_NOT.get(visit.reason, "")
        )
    service = verdict.service
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
        level=visit.proof.level if visit.proof else "",
        proof=tuple(asdict(each) for each in visit.proof.attempts) if visit.proof else None,
    )


Emit = Callable[[ProbeLine], None]


def run_probe(
    settings: Settings,
    given: Sequence[Url],
    *,
    kind: Kind | None = None,
    database: Path | None,
    campaign: Path | None,
    emit: Emit,
    share_with: Path | None = None,
    say: Callable[[str], object] = lambda text: None,
) -> ProbeResult:
    """Ask every given address; `emit` gets a line for each as it is settled (in the given order when there is no list).

    `kind`: what each is asked as; None: as what it looks like, then as what it answers as.
    `database` keeps the verdicts; None forgets them. `beside`: a catalogue that is only asked what it knows of hosts'
    politeness, and told (`say` is told what comes of that). `campaign` is the list's file, which makes it resumable.
    Redirects to another host are asked too and give a line of their own.
    """
    journal = Journal.of(campaign, database, kind) if campaign else None
    candidates = {_key(each.endpoint): each for each in (given_candidate(url, kind) for url in given)}
    asked = {key: candidate.evidence.link for key, candidate in candidates.items()}
    survey = _Survey(asked, emit if campaign else None, journal, any_kind=kind is None)
    for earlier in journal.lines() if journal else ():
        survey.take(earlier)
    todo = [candidate for key, candidate in candidates.items() if key not in survey.done]
    with _workspace(database) as path:
        summary = run_probes(
            settings, path, todo, observer=survey, wants_lead=survey.follows, share_with=share_with, say=say
        )
    left = [key for key in candidates if key not in survey.done]
    if not campaign:
        for line in survey.in_order():
            emit(line)
    if journal and not left:
        journal.remove()
    return ProbeResult(len(survey.done), survey.valid, len(left), interrupted=summary.stopped == "signal")


@contextmanager
def _workspace(database: Path | None) -> Iterator[Path]:
    """The catalogue, or a scratch database that goes when the survey ends."""
    if database is not None:
        yield database
        return
    with tempfile.TemporaryDirectory(prefix="geocrawl-probe-") as folder:
        yield Path(folder) / "scratch.db"


def _key(endpoint: Endpoint) -> str:
    """What is asked once: an address as one kind."""
    return f"{endpoint.kind} {_place(endpoint)}"


def _place(endpoint: Endpoint) -> str:
    """What endpoints of any kind at one address share: some kinds' keys end in a slash, others' never do."""
    return endpoint.key.rstrip("/")


class _Survey:
    """Observes the loop: a line for each address that was asked, on the last kind that it was asked as."""

    def __init__(self, asked: Mapping[str, str], emit: Emit | None, journal: Journal | None, *, any_kind: bool) -> None:
        """`any_kind`: an address that answers as another kind is asked as that."""
        self._any_kind = any_kind
        self._first_asked: dict[str, str] = {}
        """What is asked as another kind than at first → what was asked."""
        self._asked = asked
        self._emit = emit
        self._journal = journal
        self._lines: dict[str, ProbeLine] = {}
        self.done: set[str] = set()
        self.valid = 0

    def started(self, stats: Callable[[], FrontierStats], notes: Sequence[str]) -> None:
        pass

    def noted(self, text: str) -> None:
        sys.stderr.write(f"geocrawl: {text}\n")

    def leased(self, lease: Lease) -> None:
        pass

    def follows(self, asked: Candidate, named: Candidate) -> bool:
        """Whether `named` is an address that was given, as the kind that it answers as."""
        asked_key, named_key = _key(asked.endpoint), _key(named.endpoint)
        is_other_kind = asked_key != named_key and _place(asked.endpoint) == _place(named.endpoint)
        return self._any_kind and is_other_kind and asked_key in self._asked and named_key not in self._asked

    def settled(self, entry: Entry, visit: Visit, result: Settled) -> None:
        candidate = entry.candidate
        assert candidate is not None, "a survey leases probes only"
        key = _key(candidate.endpoint)
        for lead in visit.verdict.leads if visit.verdict else ():
            if visit.verdict and visit.verdict.service is None and self.follows(candidate, lead):
                self._first_asked[_key(lead.endpoint)] = key
                return  # it is asked again, as what it is
        key = self._first_asked.get(key, key)
        line = line_of(visit, self._asked.get(key, ""))
        if self._journal:
            self._journal.write(key, line)
        self.take((key, line))

    def take(self, keyed: tuple[str, ProbeLine]) -> None:
        """Count a line and pass it on."""
        key, line = keyed
        self.done.add(key)
        self._lines[key] = line
        self.valid += line.status == "valid"
        if self._emit:
            self._emit(line)

    def in_order(self) -> Iterable[ProbeLine]:
        """Lines in the order in which the addresses were given, redirects' targets last."""
        keys = [*self._asked, *(key for key in self._lines if key not in self._asked)]
        return (self._lines[key] for key in keys if key in self._lines)


class Journal:
    """Finished lines of a list, one JSON object a line, until the list is done."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of(cls, campaign: Path, database: Path | None, kind: Kind | None) -> Journal:
        """The journal of this list with this content, asked as this kind, for this catalogue."""
        from geocrawl.config import user_folder

        text = f"{campaign.resolve()}\n{database}\n{kind or ''}\n".encode() + campaign.read_bytes()
        name = f"probe-{hashlib.sha256(text).hexdigest()[:24]}.jsonl"
        folder = user_folder("cache", os.environ)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise EnvironmentFault(f"{folder}: {error.strerror}; the survey's progress is kept there") from None
        return cls(folder / name)

    def lines(self) -> Iterator[tuple[str, ProbeLine]]:
        """(endpoint key, line) of an earlier, interrupted survey; a torn last line is passed over."""
        if not self._path.exists():
            return
        for text in self._path.read_text(encoding="utf-8").splitlines():
            try:
                values = json.loads(text)
            except ValueError:
                continue
            yield values["key"], ProbeLine.from_json(values["line"])

    def write(self, key: str, line: ProbeLine) -> None:
        """Append one line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "line": line.as_json()}, ensure_ascii=False) + "\n")

    def remove(self) -> None:
        """The list is done."""
        self._path.unlink(missing_ok=True)
