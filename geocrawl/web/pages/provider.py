"""Show the providers, and the report card of one: its services, what is broken and how to mend it."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from geocrawl.export.mending import explain
from geocrawl.export.report_card import card_json
from geocrawl.model.catalogue import ProviderCard
from geocrawl.web.answers import Problem
from geocrawl.web.site import base_url, document, page, site_of

_MOST_PROVIDERS = 300
_ALL_PROVIDERS = 1_000_000
_MOST_SERVICES = 200


async def provider_page(request: Request) -> Response:
    """Return the card of the provider that is named, else some of the providers, those with the most services first."""
    if not request.query_params.get("name"):
        return page(request, "providers.html", await _some_providers(request))
    card = await _card(request)
    findings = [(code, explain(code), services) for code, services in card.findings]
    shown = card.services[:_MOST_SERVICES]
    return page(request, "provider.html", {"card": card, "findings": findings, "services": shown})


async def provider_document(request: Request) -> Response:
    """Return the same for programs."""
    if not request.query_params.get("name"):
        some = await _some_providers(request)
        pages = {"next": some["next"], "prev": some["previous"]}
        return document(
            {
                "numberMatched": some["total"],
                "numberReturned": len(some["providers"]),
                "providers": [{"provider": name, "services": number} for name, number in some["providers"]],
                "links": [
                    {"href": f"{base_url(request)}/providers?f=json&offset={offset}", "rel": rel}
                    for rel, offset in pages.items()
                    if offset is not None
                ],
            }
        )
    card = await _card(request)
    return document(lambda: card_json(card))


async def _some_providers(request: Request) -> dict[str, Any]:
    """Return the providers from the `offset` that a request names, and where those before and after them begin."""
    asked = request.query_params.get("offset", "")
    begin = min(int(asked), _ALL_PROVIDERS) if asked.isascii() and asked.isdecimal() and len(asked) < 9 else 0
    counts = await site_of(request).reader.read(lambda catalogue: catalogue.providers(_ALL_PROVIDERS))
    end = begin + _MOST_PROVIDERS
    return {
        "providers": counts[begin:end],
        "total": len(counts),
        "previous": max(begin - _MOST_PROVIDERS, 0) if begin else None,
        "next": end if end < len(counts) else None,
    }


async def _card(request: Request) -> ProviderCard:
    name = request.query_params["name"]
    card = await site_of(request).reader.read(lambda catalogue: catalogue.provider(name))
    if card is None:
        raise Problem(404, f"no service names the provider “{name[:80]}”")
    return card
