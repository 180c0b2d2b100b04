"""Describe the result of a probe, for people, for programs and for the journal of a list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from geocrawl.model import Endpoint, Verdict, Visit


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
        proof=tuple(asdict(each) for each in report.attempts) if report else None,
    )
