"""Describe in words how each kind is recognised and proved."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass

from geocrawl.model import Kind
from geocrawl.model.kinds import KindDeclaration


@dataclass(frozen=True, slots=True)
class KindRow:
    """A row of `geocrawl kinds`: how one kind is recognised and proved."""

    kind: Kind
    name: str
    recognised: tuple[str, ...]
    """Phrases: parameters, forms of path, documents."""
    proof: str
    """Description of an answer that proves the kind."""
    content: bool
    """Whether there is a content check for valid services."""

    def as_json(self) -> dict[str, object]:
        """Return the fields under stable names."""
        return asdict(self)


def overview(kinds: Sequence[KindDeclaration], asked: AbstractSet[Kind]) -> tuple[KindRow, ...]:
    """Return a row for each kind, in the order of `Kind`; `asked`: the kinds with a content check."""
    rows = (KindRow(each.kind, each.name, _recognised(each), each.proof, each.kind in asked) for each in kinds)
    order = list(Kind)
    return tuple(sorted(rows, key=lambda row: order.index(row.kind)))


def _recognised(declared: KindDeclaration) -> tuple[str, ...]:
    """Return phrases that describe how a kind is recognised."""
    phrases = []
    if declared.services:
        phrases.append(f"SERVICE={min(declared.services, key=len).upper()}")
    if declared.requests:
        phrases.append(f"REQUEST={'|'.join(sorted(declared.requests))}")
    if forms := [form.example for form in declared.paths]:
        more = f" ({len(forms) - 1} more)" if len(forms) > 1 else ""
        phrases.append(f"a path like {forms[0].partition('example.org')[2]}{more}")
    if declared.found_beside:
        phrases.append(declared.found_beside)
    if declared.roots or declared.namespaces:
        phrases.append("its capabilities as a page" if declared.services else "its document as a page")
    if declared.keys or declared.relations:
        phrases.append("its JSON as a page")
    return tuple(phrases)
