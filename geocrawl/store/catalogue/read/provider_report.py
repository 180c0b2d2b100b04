"""Read the report cards of providers: `geocrawl report --by provider`, a provider's page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, bindparam, case, func, select

from geocrawl.model.published import BROKEN, CardService, ProviderCard
from geocrawl.store.catalogue.read.published import texts_of
from geocrawl.store.database.connection import Connection
from geocrawl.store.database.quality import quality_parts
from geocrawl.store.database.schema.tables import ENDPOINT, SERVICE
from geocrawl.store.database.views import V_SERVICES

_service = V_SERVICES.c
_BEST = ENDPOINT.alias("its_best")
_LACKS = {
    f"lacks-{name}": part.share
    for name, part in quality_parts(_BEST).items()
    if name not in ("available", "conforming")
}
"""Code → the part of the quality that a service with this finding does not fulfil."""
_ENOUGH = {code: 0.75 if code == "lacks-described" else 1.0 for code in _LACKS}
"""Code → the share from which on nothing is said of it."""
_PROVIDER: ColumnElement[str] = case((_service.provider != "", _service.provider), else_=_service.site)
_COLUMNS = ("id", "kind", "title", "url", "health", "availability", "mean_ms", "quality", "deviations")
_SHOWN = V_SERVICES.join(SERVICE, SERVICE.c.id == _service.id).outerjoin(_BEST, _BEST.c.id == SERVICE.c.best_id)
_CARDS = (
    select(
        _PROVIDER.label("provider"),
        *(_service[name] for name in _COLUMNS),
        func.coalesce(_BEST.c.reason, "").label("reason"),
        *(share.label(code) for code, share in _LACKS.items()),
    )
    .select_from(_SHOWN)
    .order_by("provider", _service.id)
)
_ONE_CARD = _CARDS.where(bindparam("name") == _PROVIDER)
_COUNT = func.count().label("number")
_COUNTS = (
    select(_PROVIDER.label("provider"), _COUNT)
    .select_from(V_SERVICES)
    .group_by("provider")
    .order_by(_COUNT.desc(), "provider")
    .limit(bindparam("most"))
)


def provider_cards(connection: Connection, words: str = "") -> Iterator[ProviderCard]:
    """Yield the card of each provider whose name holds `words`, by name; one provider is read at a time."""
    rows = connection.execute(_CARDS).dicts()
    for provider, own in groupby(rows, key=lambda row: str(row["provider"])):
        if words.casefold() in provider.casefold():
            yield ProviderCard(provider, tuple(map(_card_service, own)))


def provider_card(connection: Connection, name: str) -> ProviderCard | None:
    """Return the card of the provider of just this name; None when no service has it."""
    services = tuple(map(_card_service, connection.execute(_ONE_CARD, {"name": name}).dicts()))
    return ProviderCard(name, services) if services else None


def provider_counts(connection: Connection, most: int) -> list[tuple[str, int]]:
    """Return (provider, number of services) of the providers with the most services."""
    return [(name, number) for name, number in connection.execute(_COUNTS, {"most": most})]


def _card_service(row: dict[str, Any]) -> CardService:
    is_broken = row["health"] in BROKEN and row["reason"] not in ("", "ok")
    lacks = [code for code, enough in _ENOUGH.items() if row[code] is not None and row[code] < enough]
    return CardService(
        **{name: row[name] for name in ("id", "kind", "title", "url", "health", "availability", "mean_ms", "quality")},
        findings=(*([row["reason"]] if is_broken else []), *dict.fromkeys(texts_of(row["deviations"])), *lacks),
    )
