"""Decide which addresses a crawl refuses: by the operator's lists, stop rules, trap guards, the scope of the seeds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from geocrawl.model import Url
from geocrawl.settings import Settings
from geocrawl.urls import AddressRules, StopRules, TrapGuard, records_page, records_start


class Refusals:
    """Refuses addresses by operator's lists, stop rules, trap guards and the scope of the seeds (`ports.Refusals`)."""

    def __init__(self, settings: Settings, seeds: Iterable[Url], today: dt.date) -> None:
        self._by_text = lru_cache(maxsize=50_000)(text_rule(settings, today))
        self._scope = settings.scope
        self._inside: set[str] = set()
        for seed in seeds:
            self.admit(seed)

    def reason(self, url: Url) -> str:
        """Return the reason for refusing an address: a code such as stop:media, trap:calendar or scope; '' for none."""
        reason = self._by_text(url)
        return reason or ("" if self.is_inside(url) else "scope")

    def is_inside(self, url: Url) -> bool:
        """Return whether an address is in the scope of the seeds, whatever else may be said against a visit."""
        return self._scope == "any" or self._part(url) in self._inside

    def admit(self, url: Url) -> None:
        """Add the site or host of a page to the scope: a seed, or a page that a seed redirects to."""
        self._inside.add(self._part(url))

    def _part(self, url: Url) -> str:
        return url.host if self._scope == "host" else url.site


def text_rule(settings: Settings, today: dt.date) -> Callable[[Url], str]:
    """Return a function that returns the reason for refusing an address by its text alone, '' for none."""
    stop = StopRules.load(Path(settings.stop_rules) if settings.stop_rules else None)
    trap = TrapGuard(today)
    bound = records_bound(settings)
    listed = AddressRules(settings.allow, settings.deny)
    return lambda url: (
        listed.reason(url) or stop.reason(url) or trap.reason(url) or ("" if bound(url) else "trap:records")
    )


def records_bound(settings: Settings) -> Callable[[Url], bool]:
    """Return a function that returns whether an address is within the bounds on each catalogue's pages of records.

    Addresses that are not pages of records are always within them.
    """
    pages, records = settings.max_records_pages, settings.max_records

    def is_within(url: Url) -> bool:
        page = records_page(url)
        if page is None:
            return True
        return page < pages and not (records and (records_start(url) or 0) >= records)

    return is_within
