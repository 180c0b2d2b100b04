"""The kinds in words: how each is recognised, for people."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass

from geocrawl.detect.kinds import KINDS, KindRule
from geocrawl.detect.paths import known_servers
from geocrawl.model import Kind


@dataclass(frozen=True, slots=True)
class KindRow:
    """What `geocrawl kinds` says of one kind."""

    kind: Kind
    name: str
    recognised: tuple[str, ...]
    """Phrases: parameters, forms of path, documents."""
    proof: str
    """What an answer must be."""
    content: bool
    """Whether a valid service is asked for content."""

    def as_json(self) -> dict[str, object]:
        """The fields under stable names."""
        return asdict(self)


def overview(proved: AbstractSet[Kind], asked: AbstractSet[Kind]) -> tuple[KindRow, ...]:
    """A row for each kind that can be proved; `asked`: those that can be asked for content."""
    return tuple(
        KindRow(rule.kind, rule.name, _recognised(rule), rule.proof, rule.kind in asked)
        for rule in KINDS
        if rule.kind in proved
    )


def _recognised(rule: KindRule) -> tuple[str, ...]:
    phrases = []
    if rule.services:
        phrases.append(f"SERVICE={min(rule.services, key=len).upper()}")
    if rule.requests:
        phrases.append(f"REQUEST={'|'.join(sorted(rule.requests))}")
    if forms := [server.example for server in known_servers().servers if server.kind is rule.kind]:
        more = f" ({len(forms) - 1} more)" if len(forms) > 1 else ""
        phrases.append(f"a path like {forms[0].partition('example.org')[2]}{more}")
    if rule.beside:
        phrases.append(rule.beside)
    if rule.roots or rule.namespaces:
        phrases.append("its capabilities as a page" if rule.services else "its document as a page")
    if rule.keys or rule.rels:
        phrases.append("its JSON as a page")
    return tuple(phrases)
