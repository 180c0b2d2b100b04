"""Every setting with its unit, default and a line of help; one flat frozen dataclass, no I/O, cheap to import.

A setting has one name in four spellings: `max_pages` in TOML, `GEOCRAWL_MAX_PAGES` in the environment and
`--max-pages` on the command line. `config.py` reads them; `docs/settings.md` is printed from this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MIB = 1024 * 1024
DEFAULT_STRATEGY = "fusion"
"""Of a database that was not crawled before: ahead of every other on recorded and made webs (docs/decisions/008)."""


def _setting(default: Any, help_: str, *, unit: str = "", secret: bool = False) -> Any:
    metadata = {"help": help_, "unit": unit, "secret": secret}
    if isinstance(default, (dict, list)):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """What holds for one host, `[sites."maps.example.org"]` in TOML."""

    user: str = _setting("", "user name for HTTP basic authentication")
    password: str = _setting("", "password that goes with it", secret=True)
    proxy: str = _setting("", "'direct' passes the proxy by; a URL takes another one; '' the common one", secret=True)
    delay_s: float | None = _setting(
        None,
        "between two requests to it, in place of the common delay; a longer Crawl-delay holds all the same",
        unit="s",
    )
    max_pages: int = _setting(0, "pages of it, in place of max_pages_per_host; 0: the common limit", unit="pages")
    requests_per_day: int = _setting(0, "of it, in place of requests_per_host_per_day; 0: the common limit")
    max_body_bytes: int = _setting(0, "longest body read from it; 0: the common limit", unit="bytes")
    not_before: str = _setting("", "pages with an older Last-Modified are not read (YYYY-MM-DD)")
    not_after: str = _setting("", "pages with a newer Last-Modified are not read (YYYY-MM-DD)")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one run."""

    # what and how far
    db: str = _setting("", "catalogue: a path or sqlite:/// URL; '' means geocrawl.db in the user's data folder")
    strategy: str = _setting("", "order of visits; '' means the one stored in the database, or fusion")
    topic: str = _setting("", "what to look for (geocrawl topics list); '' means the stored one, or WMS")
    max_pages: int = _setting(1000, "pages answered in one run", unit="pages")
    max_depth: int = _setting(5, "links from a seed (gws: 5)", unit="links")
    max_time_s: float = _setting(0.0, "longest run; 0: no limit", unit="s")
    workers: int = _setting(5, "visits under way at once (gws: 5)")
    allow: tuple[str, ...] = _setting(
        (),
        "nothing else is asked: domains (example.org), top-level domains (.cn), addresses with * (example.org/geo/*)",
    )
    deny: tuple[str, ...] = _setting((), "never asked, as pages or as services; spelt as in allow")
    scope: str = _setting("any", "pages visited, relative to the seeds: any, site or host")
    respect_nofollow: bool = _setting(False, "skip links marked rel=nofollow")
    set: Mapping[str, str] = _setting({}, "constants of strategies, such as gws.lambda")
    dump_every: int = _setting(1000, "what a strategy learnt is stored anew after this many visits", unit="visits")
    store_pages: bool = _setting(False, "keep pages of the topic, compressed, in the database")
    store_pages_min_score: float = _setting(0.1, "page filter: the strategy's least page score of a page to be kept")
    page_store_bytes: int = _setting(256 * MIB, "kept in all, compressed; the lowest scores go first", unit="bytes")
    patience_s: float = _setting(30.0, "a crawl with only resting hosts left ends after this wait", unit="s")
    database_patience_s: float = _setting(
        120.0, "a crawl waits so long for a locked database or a full disk (the daemon as long as it takes)", unit="s"
    )
    lease_s: float = _setting(300.0, "a lease not settled by then is given to another worker", unit="s")
    settle_s: float = _setting(8.0, "time for visits under way to end when the crawl is stopped", unit="s")

    # what is asked of a service beyond its capabilities
    maps: bool = _setting(True, "ask a valid service for content (a map, a tile, a feature, a record)")
    map_layers: int = _setting(3, "items of a service that are asked for, at most")
    map_requests: int = _setting(8, "requests for content of one service at one visit, at most")
    map_requests_per_host: int = _setting(200, "requests for content of one host in one run, at most")
    thumbnail_bytes: int = _setting(64 * MIB, "thumbnails kept in all; the oldest go first; 0: none", unit="bytes")
    siblings: int = _setting(
        50, "endpoints of one host that are asked in one run because another kind of service answers there; 0: none"
    )

    # being a guest
    user_agent: str = _setting("", "User-Agent; '' means geocrawl/VERSION (+contact)")
    contact: str = _setting("", "where a site's owner can reach you, a URL or mail address; goes into the User-Agent")
    delay_s: float = _setting(1.0, "between two requests to one host", unit="s")
    requests_per_host_per_day: int = _setting(
        0, "requests to one host a day (UTC), robots.txt and content included; a visit under way is ended; 0: no limit"
    )
    max_crawl_delay_s: float = _setting(120.0, "a longer Crawl-delay is taken as this", unit="s")
    max_retry_after_s: float = _setting(86400.0, "a longer Retry-After is taken as this", unit="s")
    backoff_first_s: float = _setting(60.0, "first rest of a failing host, doubling from then on", unit="s")
    backoff_max_s: float = _setting(86400.0, "longest rest of a failing host", unit="s")
    backoff_after: int = _setting(3, "connection failures in a row before a host rests (429 and 503: at once)")
    backoff_forgive_s: float = _setting(1800.0, "errors older than this are forgiven", unit="s")
    robots_ttl_s: float = _setting(86400.0, "how long a robots.txt is believed", unit="s")
    robots_error_ttl_s: float = _setting(3600.0, "rest of an origin whose robots.txt cannot be had", unit="s")
    ignore_robots: bool = _setting(False, "only for `geocrawl probe`, typed by a person")
    max_attempts: int = _setting(3, "tries of one URL before it is given up")
    retry_first_s: float = _setting(600.0, "wait before the second try, doubling from then on", unit="s")

    # the daemon
    pages_per_day: int = _setting(10_000, "pages that the daemon visits a day (UTC); 0: no limit", unit="pages")
    traffic_per_day_bytes: int = _setting(
        0,
        "received by the daemon a day (UTC); at nine tenths pages stop, at the whole all rests; 0: no limit",
        unit="bytes",
    )
    hours: str = _setting("", "hours (UTC) in which the daemon visits pages, such as 22-6; '' means all day")
    due_per_tick: int = _setting(500, "services or pages put into the queue again at one look at what is due")
    revisit_first_s: float = _setting(
        7 * 86400.0, "first wait before a seed or a page that named services is read again", unit="s"
    )
    revisit_least_s: float = _setting(86400.0, "shortest such wait, where pages change often", unit="s")
    revisit_most_s: float = _setting(60 * 86400.0, "longest such wait, where they do not", unit="s")
    not_modified_s: float = _setting(
        30 * 86400.0,
        "how long a server's 'not modified' (304) is believed until all is read anew; 0: it is never asked for",
        unit="s",
    )
    max_db_bytes: int = _setting(
        0, "over it waiting pages of the lowest tier go first, then kept pages, thumbnails; 0: no limit", unit="bytes"
    )
    keep_probes_days: int = _setting(400, "how long single probes are kept; health and changes stay", unit="days")

    # network
    proxy: str = _setting(
        "", "HTTP proxy, http://[user:password@]host:port; else http_proxy and https_proxy", secret=True
    )
    allow_private: bool = _setting(False, "also ask loopback, private and link-local addresses")
    connect_timeout_s: float = _setting(10.0, "to connect", unit="s")
    read_timeout_s: float = _setting(30.0, "between two pieces of an answer", unit="s")
    total_timeout_s: float = _setting(30.0, "for one request, from the name look-up to the last byte", unit="s")
    page_body_bytes: int = _setting(5 * MIB, "longest page, decoded", unit="bytes")
    probe_body_bytes: int = _setting(128 * MIB, "most that is read of a capabilities document", unit="bytes")
    map_body_bytes: int = _setting(8 * MIB, "longest image, tile or feature, decoded", unit="bytes")
    robots_body_bytes: int = _setting(500 * 1024, "of a robots.txt, the rest is not read (RFC 9309, 2.5)", unit="bytes")
    max_ratio: float = _setting(200.0, "decoded to sent bytes, past the first MiB")
    ratio_free_bytes: int = _setting(1 * MIB, "decoded bytes before the ratio counts", unit="bytes")
    max_encodings: int = _setting(2, "Content-Encodings stacked on one answer")
    header_bytes: int = _setting(64 * 1024, "longest header block", unit="bytes")
    max_redirects: int = _setting(5, "redirects followed for one URL")
    max_idle_connections: int = _setting(256, "connections kept open between requests", unit="connections")

    # guards (urls.py and store/): chosen by the URL, not by arrival
    max_url_chars: int = _setting(2000, "longest address that is kept", unit="characters")
    max_segment_repeats: int = _setting(3, "same path segment this often is a trap")
    max_queries_per_path: int = _setting(5000, "addresses that differ only in the query")
    max_scripts_per_page: int = _setting(5, "linked scripts and configurations read for a page, at most; 0: none")
    max_records_pages: int = _setting(200, "pages of records of one catalogue, by their number", unit="pages")
    max_records: int = _setting(0, "records of one catalogue, by their number; 0: no limit", unit="records")
    max_pages_per_host: int = _setting(100_000, "pages of one host")
    max_hosts_per_site: int = _setting(2000, "hosts of one registered domain, chosen by their names; 0: no limit")
    max_fruitless_per_pattern: int = _setting(
        300, "requests to addresses that differ in numbers and values alone, while they bring nothing; 0: no limit"
    )
    max_alike_services: int = _setting(
        500, "services of such addresses on one site before a person has to look (geocrawl release); 0: no limit"
    )
    calendar_years: int = _setting(3, "calendar pages further than this from today are a trap", unit="years")
    stop_rules: str = _setting("", "file with more stop rules, beside the built-in ones")

    # logs and exports
    export_secrets: bool = _setting(
        False,
        "exports, search, show, probe and seeds list give keys, tokens and passwords in addresses; else *** stands",
    )
    metrics_file: str = _setting("", "for Prometheus' textfile collector, written by the daemon each minute; '': none")
    log_visits: bool = _setting(False, "two log lines for each visit: what was leased, and how it ended")
    log_json: bool = _setting(False, "log lines as JSON")
    quiet: bool = _setting(False, "only warnings and the result")
    sites: Mapping[str, SiteSettings] = _setting({}, "per-host settings")

    def delay_of_s(self, host: str) -> float:
        """Seconds between two requests to this host (canonical name): its own or the common ones."""
        site = self.sites.get(host)
        return self.delay_s if site is None or site.delay_s is None else site.delay_s

    def pace_s(self, host: str, crawl_delay_s: float | None) -> float:
        """The same, when robots.txt of the host names this Crawl-delay: the longer of both."""
        return max(self.delay_of_s(host), min(crawl_delay_s or 0.0, self.max_crawl_delay_s))

    def max_pages_of(self, host: str) -> int:
        """Pages of this host (canonical name): its own or the common limit."""
        site = self.sites.get(host)
        return site.max_pages if site is not None and site.max_pages else self.max_pages_per_host

    def requests_per_day_of(self, host: str) -> int:
        """Requests to this host (canonical name) a day: its own or the common limit; 0: none."""
        site = self.sites.get(host)
        return site.requests_per_day if site is not None and site.requests_per_day else self.requests_per_host_per_day
