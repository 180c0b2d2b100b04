"""Decide which addresses a crawl refuses: by the operator's lists, stop rules, trap guards, the scope of the seeds.

A trap is what a site generates without end. It is judged by the URL and today's date, never by arrival; how many
queries of a path and pages of a host are visited is counted in the store.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from zlib import crc32

from geocrawl.model import ENDLESS_SITEMAPS, MISSING_FOLDER, SITEMAP, Document, Entry, Url
from geocrawl.settings import Settings
from geocrawl.urls import AddressRules, StopRules, folder_patterns, records_page, records_start


class Refusals:
    """Refuses addresses by operator's lists, stop rules, trap guards and the scope of the seeds (`ports.Refusals`)."""

    def __init__(self, settings: Settings, seeds: Iterable[Url], today: dt.date) -> None:
        self._by_text = lru_cache(maxsize=8_192)(text_rule(settings, today))
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
    return lambda url: listed.reason(url) or stop.reason(url) or trap.reason(url) or bound(url)


MANY_PAGES, MANY_RECORDS = "trap:records", "max-records"
"""Reasons for refusing a page of records; a stated total replaces the first bound, never that on records."""


def records_bound(settings: Settings) -> Callable[[Url], str]:
    """Return a function that returns by which bound on each catalogue's pages of records an address is refused, ''
    for one that is within them or no page of records.
    """
    pages, records = settings.max_records_pages, settings.max_records

    def reason(url: Url) -> str:
        page = records_page(url)
        if page is None:
            return ""
        if records and (records_start(url) or 0) >= records:
            return MANY_RECORDS
        return "" if page < pages else MANY_PAGES

    return reason


# --------------------------------------------------------------------------- folders without pages


_MISSING = frozenset({404, 410})
_MOST_MISSING = 10
"""Missing pages of a folder after which most of the others are not asked for, unless any was found."""
_ONE_IN = 16
_MOST_FOLDERS = 100_000


class MissingFolders:
    """Learns in which folders of a site there are no pages: references of a library that only name each other, versions
    of documentation that were taken away.

    Which pages of a folder are asked first depends on the order of visits. One in sixteen, chosen by its address, is
    asked in any case: if it is there, so are the others again. Folders that differ in numbers alone count as one.
    """

    def __init__(self) -> None:
        self._missing: dict[str, int] = {}
        """Folder → pages that were missing; 0: a page was found."""

    def reason(self, entry: Entry) -> str:
        """Return why a page is not asked for, '' when it is; start pages and pages that were read always are."""
        return MISSING_FOLDER if entry.depth and entry.validators is None and self.holds(entry.url) else ""

    def holds(self, url: Url) -> bool:
        """Return whether an address lies in a folder without pages, and is not to be asked for in spite of that."""
        if all(self._missing.get(folder, 0) < _MOST_MISSING for folder in folder_patterns(url)):
            return False
        return crc32(url.address.encode()) % _ONE_IN > 0

    def note(self, url: Url, status: int | None) -> None:
        """Count an answer by its status; None, and an error other than that a page is missing, says nothing."""
        if status is None or (status >= 400 and status not in _MISSING):
            return
        for folder in folder_patterns(url):
            if status not in _MISSING:
                self._missing[folder] = 0
            elif (known := self._missing.get(folder)) != 0:
                self._missing[folder] = (known or 0) + 1
        while len(self._missing) > _MOST_FOLDERS:
            del self._missing[next(iter(self._missing))]


# --------------------------------------------------------------------------- sitemaps without end


_MOST_SITEMAPS, _MOST_NESTED = 50, 40
"""Number of a host's sitemaps without a page, after which no further one is requested; and the smaller number for what
sitemaps.org, "Sitemap index", forbids: sitemaps on other hosts, and sitemaps of indexes that an index names."""
_MOST_KNOWN = 100_000


class EndlessSitemaps:
    """Counts the sitemaps of each host that name no page: indexes within indexes, empty and missing ones; and together
    those of all other hosts to which its indexes lead."""

    def __init__(self) -> None:
        self._named: dict[str, str] = {}
        """Identities of the sitemaps that indexes name → host of the first index."""
        self._without_page: dict[str, int] = {}
        """Account (`_account`) → sitemaps that were asked for and named no page."""
        self._nested: dict[str, int] = {}
        """Account → sitemaps that indexes within indexes name."""

    def reason(self, entry: Entry) -> str:
        """Return why a sitemap is not asked for, '' when it is, and for a page of any other kind."""
        account = self._account(entry.url)
        most = _MOST_SITEMAPS if account == entry.url.host else _MOST_NESTED
        is_held = entry.url.identity in self._named and self._without_page.get(account, 0) >= most
        return ENDLESS_SITEMAPS if is_held and entry.validators is None else ""

    def note_request(self, url: Url) -> None:
        """Count a request for a page, if an index names it as a sitemap."""
        if url.identity in self._named:
            self._without_page[self._account(url)] = self._without_page.get(self._account(url), 0) + 1

    def _account(self, url: Url) -> str:
        first = self._named.get(url.identity, url.host)
        return first if first == url.host else f"others of {first}"

    def note(self, document: Document) -> set[str]:
        """Remember the sitemaps that an index names, and return the identities of those beyond all bounds, which are
        not queued; a sitemap that names pages is not counted."""
        is_nested, account = document.url.identity in self._named, self._account(document.url)
        sitemaps = [link.url.identity for link in document.links if link.rel == SITEMAP]
        if is_nested and document.links and not sitemaps:
            self._without_page[account] = self._without_page.get(account, 1) - 1
        new = [identity for identity in sitemaps if identity not in self._named]
        room = max(0, _MOST_NESTED - self._nested.get(account, 0)) if is_nested else len(new)
        if is_nested:
            self._nested[account] = self._nested.get(account, 0) + len(new[:room])
        first = self._named.get(document.url.identity, document.url.host)
        self._named.update(dict.fromkeys(new[:room], first))
        for known in (self._named, self._without_page, self._nested):
            while len(known) > _MOST_KNOWN:
                del known[next(iter(known))]
        return set(new[room:])


# --------------------------------------------------------------------------- traps

# Words of calendars, whole words only, in path or query. Chinese and Japanese ones in the identity's escapes:
# 日历 日曆 日程 カレンダー.
_CALENDAR = re.compile(
    r"(?<![a-z])(?:calend[ae]rs?|kalend[ae]r|calendario|calendari|calendrier|kalendarz|kalendar|agenda|events?|eventos|eventi|"
    r"evenements?|veranstaltung(?:en|skalender)?|termine|terminkalender|wydarzenia|evenementen)(?![a-z])|"
    r"%e6%97%a5%e5%8e%86|%e6%97%a5%e6%9b%86|%e6%97%a5%e7%a8%8b|%e3%82%ab%e3%83%ac%e3%83%b3%e3%83%80%e3%83%bc"
)
# 2031-05 and 2031/5/17 (1800 to 2999), 203105 and 20310517 (1900 to 2099: most numbers are no dates), 5-2031, 17.5.2031
_YEAR_FIRST = re.compile(r"(?<!\d)(1[89]\d\d|2\d\d\d)[-/_.](\d{1,2})(?!\d)")
_COMPACT = re.compile(r"(?<!\d)(19\d\d|20\d\d)(0[1-9]|1[0-2])(?:[0-3]\d)?(?!\d)")
_YEAR_LAST = re.compile(r"(?<!\d)(\d{1,2})[-/_.](1[89]\d\d|2\d\d\d)(?!\d)")
_YEAR = re.compile(r"1[89]\d\d|2\d\d\d")
_MONTH = re.compile(r"0?[1-9]|1[0-2]")
_YEAR_NAMES = ("year", "yr", "yyyy", "y", "jahr", "annee", "ano", "anno", "jaar", "rok", "nian", "cal_year")
_MONTH_NAMES = ("month", "mon", "mm", "m", "monat", "mois", "mes", "mese", "maand", "miesiac", "yue", "cal_month")
_MAX_EXAMINED_CHARS = 4096
_MOST_CHARS = 2000
_MOST_REPEATS = 3
_MOST_MONTHS = 36
"""Months from today that a calendar's pages are followed."""


class TrapGuard:
    """Refuses addresses that look generated without end."""

    def __init__(self, today: dt.date) -> None:
        self._this_month = _months(today.year, today.month)

    def reason(self, url: Url) -> str:
        """Return 'trap:long', 'trap:repeat' or 'trap:calendar'; '' for an address that may be visited."""
        if len(url.address) > _MOST_CHARS:
            return "trap:long"
        path, _, query = url.identity[len(url.origin) :].lower()[:_MAX_EXAMINED_CHARS].partition("?")
        if self._repeats(path):
            return "trap:repeat"
        if self._far_date(path, query):
            return "trap:calendar"
        return ""

    def _repeats(self, path: str) -> bool:
        """Return whether one segment occurs three times.

        It does where relative links lead ever deeper. Numbers do not count: 11/11/11 is a date, 0/0/0 a tile.
        """
        if path.count("/") < _MOST_REPEATS:
            return False
        segments = path[1:].removesuffix("/").split("/")
        if len(segments) - len(set(segments)) + 1 < _MOST_REPEATS:
            return False
        return any(n >= _MOST_REPEATS and not segment.isdigit() for segment, n in Counter(segments).items())

    def _far_date(self, path: str, query: str) -> bool:
        """Return whether this is a calendar's page and every date in its URL is further than three years away."""
        if _YEAR.search(path) is None and _YEAR.search(query) is None:
            return False
        year, month = _named_month(query)
        if not (year and month) and _CALENDAR.search(path) is None and _CALENDAR.search(query) is None:
            return False
        dates = [*_written_months(path), *_written_months(query)]
        if year:
            dates.append(_months(year, month) if month else self._nearest_month(year))
        return bool(dates) and all(abs(date - self._this_month) > _MOST_MONTHS for date in dates)

    def _nearest_month(self, year: int) -> int:
        return min(max(self._this_month, _months(year, 1)), _months(year, 12))


def _months(year: int, month: int) -> int:
    """Return the number of months since the year 0, to measure distances by."""
    return 12 * year + min(max(month, 1), 12) - 1


def _named_month(query: str) -> tuple[int, int]:
    """Return (year, month) from parameters with such names; 0 for one that is missing or not a number."""
    values = dict(part.partition("=")[::2] for part in query.split("&")) if query else {}
    year = next((values[name] for name in _YEAR_NAMES if name in values), "")
    month = next((values[name] for name in _MONTH_NAMES if name in values), "")
    return int(year) if _YEAR.fullmatch(year) else 0, int(month) if _MONTH.fullmatch(month) else 0


def _written_months(text: str) -> Iterator[int]:
    """Yield the months of all dates in a text."""
    for found in (*_YEAR_FIRST.finditer(text), *_COMPACT.finditer(text)):
        yield _months(int(found[1]), int(found[2]))
    for found in _YEAR_LAST.finditer(text):
        yield _months(int(found[2]), int(found[1]))
