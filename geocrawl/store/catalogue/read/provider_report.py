"""Read the report cards of providers: `geocrawl report --by provider`, a provider's page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, func, select

from geocrawl.model.catalogue import BROKEN, CardEntry, ProviderCard, Service
from geocrawl.store.catalogue.services import selected_columns, service_of
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.quality import quality_parts
from geocrawl.store.database.schema.tables import SERVICE
from geocrawl.store.database.views import BEST, SERVICES, service_columns

_LACKS = {
    f"lacks-{name}": part.share for name, part in quality_parts(BEST).items() if name not in ("available", "conforming")
}
"""Code → the part of the quality that a service with this finding does not fulfil."""
_ENOUGH = {code: 0.75 if code == "lacks-described" else 1.0 for code in _LACKS}
"""Code → the share from which on nothing is said of it."""
_PROVIDER: ColumnElement[str] = case(
    (SERVICE.c.provider != "", SERVICE.c.provider), else_=func.coalesce(BEST.c.site, SERVICE.c.site)
)
_REASON = func.coalesce(BEST.c.reason, "")
_CARDS = (
    select(_PROVIDER.label("name"), _REASON, *_LACKS.values(), *selected_columns(Service, service_columns(BEST)))
    .select_from(SERVICES)
    .order_by("name", SERVICE.c.id)
)
_ONE_CARD = _CARDS.where(bindparam("wanted") == _PROVIDER)
_NAMES = select(_PROVIDER.label("name")).select_from(SERVICES).subquery("providers")
_COUNT = func.count().label("number")
_COUNTS = (
    select(_NAMES.c.name, _COUNT)
    .group_by(_NAMES.c.name)
    .order_by(_COUNT.desc(), _NAMES.c.name)
    .limit(bindparam("most"))
)


def provider_cards(connection: Connection, words: str = "") -> Iterator[ProviderCard]:
    """Yield the card of each provider whose name holds `words`, by name; one provider is read at a time."""
    for provider, own in groupby(connection.execute(_CARDS), key=lambda row: str(row[0])):
        if words.casefold() in provider.casefold():
            yield ProviderCard(provider, tuple(map(_entry, own)))


def provider_card(connection: Connection, name: str) -> ProviderCard | None:
    """Return the card of the provider of just this name; None when no service has it."""
    entries = tuple(map(_entry, connection.execute(_ONE_CARD, {"wanted": name})))
    return ProviderCard(name, entries) if entries else None


def provider_counts(connection: Connection, most: int) -> list[tuple[str, int]]:
    """Return (provider, number of services) of the providers with the most services, named as their cards are."""
    return [(name, number) for name, number in connection.execute(_COUNTS, {"most": most})]


def _entry(row: Sequence[Any]) -> CardEntry:
    _, reason, *rest = row
    service = service_of(rest[len(_LACKS) :])
    is_broken = service.health in BROKEN and reason not in ("", "ok")
    shares = zip(_ENOUGH.items(), rest, strict=False)
    lacks = [code for (code, enough), share in shares if share is not None and share < enough]
    return CardEntry(service, (*([reason] if is_broken else []), *dict.fromkeys(service.deviations), *lacks))
