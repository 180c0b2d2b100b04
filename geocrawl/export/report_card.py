"""Write report cards of providers: what they offer, how available it is, what is broken and how to mend it.

Cards are for whoever runs the servers: lines for a terminal, JSON for programs, a page of HTML to send."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TextIO

from geocrawl.export.mending import explain
from geocrawl.export.report import END, head, link, table, text
from geocrawl.model.catalogue import CardEntry, ProviderCard, Service
from geocrawl.model.kinds import short_name
from geocrawl.sanitize import masked, plain
from geocrawl.wording import counted, percent

_MOST_NAMED = 5
"""Most services that a finding names."""


def card_lines(card: ProviderCard) -> Iterator[str]:
    """Yield a card as lines for people."""
    yield plain(card.provider, 200)
    yield f"  {summary(card)}"
    for code, services in card.findings:
        about = explain(code)
        yield f"  {code}: {about.meaning or 'not described'} ({counted(len(services), 'service')})"
        yield f"    mend it:  {about.mend or 'see docs/deviations.md'}"
        if about.standard:
            yield f"    standard: {about.standard}"
        for service in services[:_MOST_NAMED]:
            yield f"    {service.id:>6}  {masked(plain(service.url, 300))}"
        if len(services) > _MOST_NAMED:
            yield f"            and {len(services) - _MOST_NAMED:,} more"
    if not card.findings:
        yield "  nothing to mend was found"


def summary(card: ProviderCard) -> str:
    """Return a card in one sentence."""
    share = "" if card.availability is None else f", {percent(card.availability)} of probes valid"
    working = f"{counted(len(card.services), 'service')}, {card.working:,} of them working"
    return f"{working}{share}; quality {card.quality} of 100"


def card_json(card: ProviderCard) -> Mapping[str, object]:
    """Return a card as values for JSON."""
    findings = [
        {
            "code": code,
            **{name: each for name, each in asdict(explain(code)).items() if name != "done"},
            "services": [service.id for service in services],
        }
        for code, services in card.findings
    ]
    return {
        "provider": plain(card.provider),
        "working": card.working,
        "availability": card.availability,
        "quality": card.quality,
        "services": [_entry(entry) for entry in card.entries],
        "findings": findings,
    }


def _entry(entry: CardEntry) -> Mapping[str, object]:
    service = entry.service
    values = {name: getattr(service, name) for name in ("id", "kind", "health", "availability", "mean_ms", "quality")}
    return values | {"title": plain(service.title), "url": masked(service.url), "findings": entry.findings}


def write_cards_html(cards: Iterable[ProviderCard], stream: TextIO) -> int:
    """Write a page with all cards; return their number. It runs no script and loads nothing."""
    stream.writelines(head("Geospatial web services by provider"))
    count = 0
    for count, card in enumerate(cards, 1):  # noqa: B007 the last number is the count
        stream.writelines(_card_html(card))
    stream.write(END)
    return count


def _card_html(card: ProviderCard) -> Iterator[str]:
    yield f"<h2>{text(card.provider)}</h2>\n<p>{summary(card)}.</p>\n"
    if card.findings:
        yield from table(("what is wrong", "how to mend it", "standard", "services"), map(_finding, card.findings))
    yield from table(
        ("number", "kind", "service", "health", "available", "quality", "address"), map(_row, card.services)
    )


def _finding(found: tuple[str, list[Service]]) -> tuple[str, ...]:
    code, services = found
    about, more = explain(code), len(services) - _MOST_NAMED
    named = ", ".join(str(service.id) for service in services[:_MOST_NAMED]) + (
        f" and {more:,} more" if more > 0 else ""
    )
    return f"{text(about.meaning)} ({code})", text(about.mend), text(about.standard), named


def _row(service: Service) -> tuple[str, ...]:
    shown = (str(service.id), short_name(service.kind), service.title, service.health, percent(service.availability))
    return (*map(text, shown), str(service.quality), link(service.url))
