"""Every setting: its name, type with range and unit, default, help and option; flat frozen values without I/O.

A setting has one name in three spellings: `max_pages` in TOML, `GEOCRAWL_MAX_PAGES` in the environment and
`--max-pages` on the command line. `config/` reads them, `cli/options.py` makes the options of each command from
them, and `docs/settings.md` is printed from them.

The types convert what people write (`setting_types.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from geocrawl.setting_types import (
    AtLeastOne,
    Contact,
    Count,
    Day,
    Duration,
    Entries,
    HoursOfDay,
    Integer,
    MailServer,
    MediaTypes,
    Networks,
    Number,
    Proxy,
    Sender,
    SiteProxy,
    Size,
    Text,
    Tiles,
)


@dataclass(frozen=True, slots=True)
class Option:
    """How commands spell a setting; a setting without one is read from the environment and from files only."""

    commands: tuple[str, ...] = ()
    """Commands that have the option, such as 'seeds check'; none: every command that works on a catalogue."""
    name: str = ""
    """'' for `--` and the setting's name with hyphens. The option of a true/false setting flips its default."""
    short: str = ""
    """One-letter name, such as `-q`."""
    alias: str = ""
    """Another long name, under which people look for it."""
    helps: Mapping[str, str] = field(default_factory=dict)
    """By command: the help of the option where it differs."""
    metavar: str = ""
    """Placeholder of the value in help; '' for N, DURATION or SIZE, as the unit says."""


def setting(
    default: Any,
    help_: str,
    *,
    unit: str = "",
    empty: str = "",
    secret: bool = False,
    option: Option | None = None,
    unused: str = "",
    fixed: bool = False,
) -> Any:
    """Return a field; `unit` names what is counted, `empty` says what 0, '' or an empty list means.

    `unused`: the run, 'crawl' or 'daemon', in which the setting has no effect. `fixed`: a daemon under way keeps its
    value when it reads its configuration again.
    """
    metadata = {"help": help_, "unit": unit, "empty": empty, "secret": secret, "option": option}
    metadata |= {"unused": unused, "fixed": fixed}
    if isinstance(default, (dict, list)):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class SiteSettings:
    """Settings of one host, `[sites."maps.example.org"]` in TOML; a single origin can only have user and password."""

    user: Text = setting("", "user name for HTTP basic authentication; of a host: only for https and its default port")
    password: Text = setting("", "password for HTTP basic authentication", secret=True)
    proxy: SiteProxy = setting(
        "", "HTTP proxy for this host, or 'direct' for none", empty="the common proxy", secret=True
    )
    delay_s: Duration | None = setting(
        None,
        "delay between two requests to this host, instead of the common delay; a longer Crawl-delay still applies",
    )
    max_pages: Count = setting(
        0, "maximum pages of this host, instead of max_pages_per_host", unit="pages", empty="the common limit"
    )
    requests_per_day: Count = setting(
        0, "maximum requests to this host a day, instead of requests_per_host_per_day", empty="the common limit"
    )
    max_body_bytes: Size = setting(0, "longest body read from this host", empty="the common limits")
    not_before: Day = setting("", "skip pages with an older Last-Modified (YYYY-MM-DD)")
    not_after: Day = setting("", "skip pages with a newer Last-Modified (YYYY-MM-DD)")
    types: MediaTypes = setting((), "media types of the pages to read, such as text/html or text/*", empty="any")
    every_s: Duration = setting(0.0, "time between two probes of each service of this host", empty="by its health")


MIB = 1024 * 1024
DEFAULT_PROXIES = ("127.0.0.1/32", "::1/128")
"""A reverse proxy on this machine."""
SLOW_S = 30.0
"""How long a run waits for nothing but slow services, unless `wait` is set."""
PAGES_SHARE = 0.9
"""Share of a day's traffic that page visits may use. The rest is reserved for probes, so that services are watched
until the end of the day."""
DEFAULT_STRATEGY = "fusion"
"""Strategy of a new database: it beat every other on recorded and made webs (docs/decisions/008)."""
NO_DEPTH_LIMIT = 1_000_000
"""Depth that no page reaches: crawls without `--max-depth` have no limit."""
_AT_WORK_S = 10.0
"""Longest time for which a server is assumed to keep working on a request that was cut off, seconds."""

_RUNS = ("crawl", "harvest", "daemon")
_REQUESTS = (*_RUNS, "probe", "check-list", "identify", "seeds check")
"""Commands that send requests."""
_PAGES = ("pages list", "pages show", "pages export")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of one run."""

    # what and how far
    db: Text = setting(
        "",
        "catalogue: a path, sqlite:///path or postgresql://user@host/name",
        empty="geocrawl.db in the user's data folder",
        option=Option(metavar="URL"),
        fixed=True,
    )
    strategy: Text = setting(
        "",
        "order of visits: fusion, gws, bfs … (`geocrawl strategies` lists them)",
        empty="the one stored in the database, else fusion",
        option=Option(("crawl",), metavar="NAME"),
    )
    topic: Text = setting(
        "",
        "topic to look for (`geocrawl topics list`)",
        empty="the one stored in the database, else WMS",
        option=Option(("crawl",), metavar="NAME"),
    )
    max_pages: Count = setting(
        1000,
        "maximum pages of one run",
        unit="pages",
        empty="no limit",
        option=Option(("crawl",)),
        unused="daemon",
    )
    max_depth: Annotated[Count, Field(le=NO_DEPTH_LIMIT)] = setting(
        NO_DEPTH_LIMIT,
        "maximum link distance from a start page (the default: no limit, depth only costs)",
        unit="links",
        option=Option(("crawl",)),
    )
    max_time_s: Duration = setting(
        0.0,
        "longest run, such as 90, 10m or 2h",
        empty="no limit",
        option=Option(("crawl", "harvest")),
        unused="daemon",
    )
    workers: Annotated[Integer, Field(ge=1, le=1000)] = setting(
        64, "number of concurrent requests", option=Option(_REQUESTS)
    )
    max_waiting: Count = setting(
        200,
        "maximum visits that wait for a delay or a slow server beside the concurrent requests",
        unit="visits",
        empty="none",
    )
    processes: Annotated[Integer, Field(ge=1, le=64)] = setting(
        1,
        "number of processes (use one per CPU core); they share --workers and all limits",
        option=Option(
            ("crawl", "mine"),
            helps={"mine": "number of processes that read WAT and WARC files (use one per CPU core)"},
        ),
        unused="daemon",
    )
    economy: Annotated[Number, Field(le=1)] = setting(
        0.5,
        "skip pages whose expected value is below this share of the best queued page",
        empty="read everything",
        option=Option(("crawl", "daemon"), metavar="SHARE"),
    )
    allow: Entries = setting(
        (),
        "visit nothing else: domains (example.org), top-level domains (.cn), addresses with * (example.org/geo/*)",
        option=Option(("crawl",), metavar="ENTRY"),
    )
    deny: Entries = setting(
        (),
        "never visit these, as pages or as services; written as in allow",
        option=Option(("crawl",), metavar="ENTRY"),
    )
    scope: Literal["any", "site", "host"] = setting(
        "any",
        "which pages to visit, relative to the start pages: any, same site or same host",
        option=Option(("crawl",), metavar="any|site|host"),
    )
    respect_nofollow: bool = setting(False, "skip links marked rel=nofollow")
    set: Mapping[str, str] = setting(
        {},
        "constant of a strategy, such as gws.lambda=0.7 (`geocrawl strategies` lists them)",
        option=Option(("crawl",), metavar="KEY=VALUE"),
    )
    dump_every: Count = setting(1000, "store what the strategy has learnt after this many visits", unit="visits")
    store_pages: bool = setting(
        False, "keep pages on the topic, compressed, in the database", option=Option(("crawl",))
    )
    store_pages_min_score: Number = setting(0.0, "minimum nearness of kept pages to the topic", empty="the model's own")
    page_store_bytes: Size = setting(
        256 * MIB, "maximum size of all kept pages, compressed; those with the lowest scores are deleted first"
    )
    patience_s: Duration = setting(
        3600.0,
        "how long to wait for resting hosts, or for a network or proxy that is down, before the crawl ends (the daemon "
        "waits for a network without limit)",
        option=Option(("crawl", "harvest", "probe")),
    )
    wait: bool = setting(
        False, "wait for slow services to the end, not 30 s", option=Option(("crawl", "harvest")), unused="daemon"
    )
    database_patience_s: Duration = setting(
        120.0,
        "how long a crawl waits for a locked database; for a full disk, 10 s at most (the daemon: without limit)",
        unused="daemon",
    )
    lease_s: Annotated[Duration, Field(gt=0)] = setting(
        300.0, "time after which an unsettled lease may go to another worker"
    )
    settle_s: Duration = setting(8.0, "time for current requests to finish when the crawl is stopped")

    # what is requested of a service beyond its capabilities
    maps: bool = setting(
        True,
        "request content from valid services: a map, a tile, a feature, a record",
        option=Option(("crawl", "harvest"), name="--no-maps"),
    )
    map_layers: Count = setting(3, "maximum items of a service whose content is requested")
    map_requests: Count = setting(8, "maximum content requests to one service in one visit")
    probe_time_s: Duration = setting(
        60.0, "time that a service's answers may take in one visit; then nothing more is requested of it"
    )
    map_requests_per_host: Count = setting(
        200, "maximum content requests to one host in one run, or in a day of the daemon"
    )
    thumbnail_bytes: Size = setting(64 * MIB, "maximum size of all thumbnails; the oldest go first", empty="none")
    siblings: Count = setting(
        50,
        "maximum endpoints of one host that are probed for other kinds of a service in one run, or in a day of the "
        "daemon",
        empty="none",
    )
    detect: Literal["all", "paper"] = setting("all", "signs of services: all, or those of the paper of gws alone")
    guesses: Count = setting(3, "maximum places of one host that are asked because of its software", empty="none")

    # politeness
    user_agent: Text = setting(
        "",
        "User-Agent header",
        empty="geocrawl/VERSION (+CONTACT), or a short description of geocrawl if no contact is set",
        option=Option(_REQUESTS, metavar="TEXT"),
    )
    contact: Contact = setting(
        "",
        "how the owner of a site can reach you, a URL or mail address; part of the User-Agent",
        option=Option(_REQUESTS, metavar="TEXT"),
    )
    delay_s: Duration = setting(1.0, "delay between two requests to one host", option=Option(_REQUESTS))
    requests_per_ip: Count = setting(
        2, "maximum requests at once to one IP address, however many hosts it has", empty="no limit"
    )
    ip_delay_factor: Number = setting(
        0.5, "time between two requests to one IP address, as a share of the host's delay (without Crawl-delay)"
    )
    requests_per_host_per_day: Count = setting(
        0,
        "maximum requests to one host a day (UTC), including robots.txt and content; a visit under way is cut short",
        empty="no limit",
    )
    max_crawl_delay_s: Duration = setting(120.0, "maximum Crawl-delay; a longer one is shortened to this")
    max_retry_after_s: Duration = setting(86400.0, "maximum Retry-After; a longer one is shortened to this")
    backoff_first_s: Duration = setting(60.0, "first back-off of a failing host; each further one doubles")
    backoff_max_s: Duration = setting(86400.0, "longest back-off of a failing host")
    backoff_after: AtLeastOne = setting(
        3, "failures in a row before a back-off (429 or 503 of several addresses: at once)"
    )
    trouble_window_s: Duration = setting(
        600.0,
        "a server error (5xx) counts for its address only, unless another address of the host has one within this time",
    )
    robots_ttl_s: Duration = setting(86400.0, "how long a robots.txt is cached, and its rules outlive other answers")
    robots_error_ttl_s: Duration = setting(3600.0, "wait before a robots.txt that cannot be read is asked for again")
    ignore_robots: bool = setting(
        False,
        "ignore robots.txt, at your own responsibility; only for `geocrawl probe` and `check-list`",
        option=Option(("probe", "check-list")),
        unused="crawl daemon",
    )
    max_attempts: Annotated[AtLeastOne, Field(le=100)] = setting(3, "maximum attempts to visit one URL")
    retry_first_s: Duration = setting(600.0, "wait before the second attempt; each further one doubles")

    # the daemon
    pages_per_day: Count = setting(
        10_000, "maximum pages that the daemon visits a day (UTC)", unit="pages", empty="no limit", unused="crawl"
    )
    traffic_per_day_bytes: Size = setting(
        0,
        "maximum bytes that the daemon receives a day (UTC); page visits stop at nine tenths of it, all requests at "
        "the limit",
        empty="no limit",
        unused="crawl",
    )
    hours: HoursOfDay = setting(
        "", "hours (UTC) in which the daemon visits pages, such as 22-6", empty="all day", unused="crawl"
    )
    revisit_first_s: Duration = setting(
        7 * 86400.0, "first wait before a start page, or a page that named services, is read again"
    )
    revisit_least_s: Duration = setting(86400.0, "shortest such wait, for pages that change often")
    revisit_most_s: Duration = setting(60 * 86400.0, "longest such wait, for pages that do not change")
    not_modified_s: Duration = setting(
        30 * 86400.0,
        "how long a server's answer 'not modified' (304) is accepted before the page is read in full again",
        empty="no conditional requests",
    )
    max_db_bytes: Size = setting(
        0,
        "largest size of the database; above it, these are deleted in this order: cached robots.txt, history, layers "
        "of services that are gone, queued pages of the lowest tier, kept pages, thumbnails",
        empty="no limit",
        unused="crawl",
    )
    keep_probes_days: Count = setting(
        7,
        "how long single probes are kept; their sums of an hour, a day, a month, health and changes are kept for ever",
        unit="days",
        unused="crawl",
    )

    # network
    proxy: Proxy = setting(
        "",
        "HTTP proxy for every request, such as http://proxy.example:3128",
        empty="http_proxy and https_proxy of the environment",
        secret=True,
        option=Option(_REQUESTS, metavar="URL"),
    )
    allow_private: bool = setting(
        False,
        "allow loopback, private and link-local addresses",
        option=Option((*_REQUESTS, "watch add", "watch import", "watch send")),
    )
    strict_tls: bool = setting(
        False,
        "reject services whose certificate is expired, self-signed, for another name or without its chain, or whose "
        "TLS is older than 1.2, instead of noting that with the service (pages are never read from these)",
        option=Option(_REQUESTS),
    )
    dns_timeout_s: Annotated[Duration, Field(gt=0)] = setting(10.0, "longest wait for the look-up of a host's name")
    connect_timeout_s: Annotated[Duration, Field(gt=0)] = setting(10.0, "longest wait for a connection")
    read_timeout_s: Annotated[Duration, Field(gt=0)] = setting(30.0, "longest wait between two pieces of an answer")
    total_timeout_s: Annotated[Duration, Field(gt=0)] = setting(30.0, "longest request, from connection to last byte")
    page_body_bytes: Annotated[Size, Field(gt=0)] = setting(5 * MIB, "longest page, decoded")
    probe_body_bytes: Annotated[Size, Field(gt=0)] = setting(
        128 * MIB, "longest capabilities document; the rest is not read"
    )
    host_scripts_bytes: Size = setting(64 * MIB, "maximum bytes of a host's scripts and configurations in a run")
    map_body_bytes: Size = setting(8 * MIB, "longest image, tile or feature, decoded")
    header_bytes: Size = setting(64 * 1024, "longest header block")
    reading_in_loop_bytes: Size = setting(
        64 * 1024,
        "longest answer that is read in the crawl's own process; longer ones and images are read in others",
    )
    reading_processes: Count = setting(
        2,
        "maximum processes that read answers",
        empty="none: every answer but images is read in the crawl's own process",
    )
    max_redirects: Count = setting(5, "maximum redirects followed for one URL")
    max_idle_connections: Count = setting(
        2000,
        "maximum connections kept open between requests; fewer where this process may open few files",
        unit="connections",
    )

    # guards (urls/ and store/): they choose by the URL, not by arrival
    max_queries_per_path: Count = setting(5000, "maximum addresses that differ only in the query")
    max_scripts_per_page: Count = setting(10, "maximum scripts and configurations read for one page", empty="none")
    max_scripts_per_host: Count = setting(
        300, "maximum scripts and configurations of one host in a run, and as many more as hold services"
    )
    max_records_pages: Count = setting(
        200,
        "maximum pages of records of a catalogue whose lists state no total",
        unit="pages",
        option=Option(("harvest",), name="--max-pages"),
    )
    max_records: Count = setting(
        0, "maximum records of one catalogue", unit="records", empty="no limit", option=Option(("harvest",))
    )
    max_pages_per_host: Count = setting(100_000, "maximum pages of one host")
    max_hosts_per_site: Count = setting(
        2000, "maximum hosts of one registered domain, chosen by their names", empty="no limit"
    )
    max_fruitless_per_pattern: Count = setting(
        300,
        "maximum visits to addresses that differ only in numbers and values, while they bring nothing",
        empty="no limit",
    )
    max_late_per_pattern: Count = setting(
        10_000,
        "further visits to such addresses that listings name, about so many chosen by address, when nothing else waits "
        "(to others: max_fruitless_per_pattern)",
        empty="none",
    )
    max_alike_services: Count = setting(
        500,
        "maximum services of one site whose addresses differ only in numbers and values; the site is then quarantined "
        "until `geocrawl release`",
        empty="no limit",
    )
    browser: bool = setting(False, "read pages that need script in Chromium", option=Option(("crawl", "daemon")))
    browser_path: Text = setting("", "the Chromium to start", empty="the first of chromium, google-chrome … in PATH")
    browser_pages_per_host: Count = setting(
        5, "maximum pages of a host in a browser in one run, or in a day of the daemon"
    )
    browser_time_s: Duration = setting(20.0, "longest time for the scripts of a page, without waits for requests")
    browser_requests: Count = setting(40, "maximum requests of the scripts of one page")
    browser_memory_bytes: Size = setting(1024 * MIB, "maximum memory of the browser with all its processes")
    stop_rules: Text = setting("", "file of stop rules in addition to the built-in ones")

    # logs and exports
    export_secrets: bool = setting(
        False,
        "print keys, tokens and passwords in addresses in full, not as ***",
        option=Option(
            ("probe", "check-list", "search", "show", "export", "seeds list", *_PAGES),
            name="--secrets",
        ),
    )
    trusted_proxies: Networks = setting(
        DEFAULT_PROXIES,
        "addresses and networks (CIDR) of reverse proxies before `geocrawl serve`, whose X-Forwarded-For names its "
        "visitors",
        empty="none",
        unused="crawl daemon",
    )
    base_map: Tiles = setting(
        "",
        "the address of the tiles (Web Mercator) under the maps of `geocrawl serve`, with {z}, {x} and {y}; visitors "
        "load them from there",
        empty="the outlines of countries that are shipped",
        unused="crawl daemon",
    )
    base_map_credit: Text = setting(
        "", "whom the maps name for the tiles of `base_map`", empty="nobody", unused="crawl daemon"
    )
    csw_python: Text = setting(
        "", "the Python with pycsw that `geocrawl serve --csw` starts", empty="the one that `make csw-env` makes"
    )
    metrics_file: Text = setting(
        "", "file for Prometheus' textfile collector, written by the daemon", empty="none", unused="crawl"
    )
    mail_server: MailServer = setting(
        "", "mail server for `geocrawl watch --to mail:…`, HOST or HOST:PORT", empty="no mail"
    )
    mail_security: Literal["starttls", "tls", "none"] = setting(
        "starttls", "encryption to the mail server: starttls, tls or none"
    )
    mail_from: Sender = setting("", "sender of mails, ADDRESS or NAME <ADDRESS>", empty="the recipient")
    mail_user: Text = setting("", "user name at the mail server", empty="no login")
    mail_password: Text = setting("", "password at the mail server", secret=True)
    log_visits: bool = setting(
        False,
        "log two lines for each visit: what was leased, and how it ended",
        option=Option(_RUNS, short="-v", alias="--verbose"),
        fixed=True,
    )
    log_json: bool = setting(False, "log as JSON", option=Option(_RUNS), fixed=True)
    log_file: Text = setting(
        "",
        "file to which log lines are appended instead of standard error; the display on a terminal stays",
        empty="standard error",
        option=Option(_RUNS, metavar="FILE"),
        fixed=True,
    )
    quiet: bool = setting(
        False, "print only warnings and the result", option=Option((*_REQUESTS, "mine"), short="-q"), fixed=True
    )
    sites: Mapping[str, SiteSettings] = setting({}, "settings of single hosts, and passwords of single origins")

    def delay_of_s(self, host: str) -> float:
        """Return the delay in seconds between two requests to a host (canonical name): its own, else the common one."""
        site = self.sites.get(host)
        return self.delay_s if site is None or site.delay_s is None else site.delay_s

    def pace_s(self, host: str, crawl_delay_s: float | None) -> float:
        """Return the longer of `delay_of_s` and of the Crawl-delay in the host's robots.txt, in seconds."""
        return max(self.delay_of_s(host), min(crawl_delay_s or 0.0, self.max_crawl_delay_s))

    @property
    def at_work_s(self) -> float:
        """Return the seconds for which a server may still work on a request that was cut off.

        A server need not notice that its client is gone. Few servers need longer, and a crawl that is started again
        should not wait for the slowest.
        """
        return min(self.total_timeout_s, _AT_WORK_S)

    def credentials_of(self, host: str, origin: str) -> tuple[str, str] | None:
        """Return user and password for an origin (canonical): its own, else those of its host; None for none.

        Those of a host are for https on the default port: on another port another program may listen, and http can be
        read on the way.
        """
        site = self.sites.get(origin)
        if site is None and origin == (f"https://[{host}]" if ":" in host else f"https://{host}"):
            site = self.sites.get(host)
        return (site.user, site.password) if site is not None and site.user else None

    def max_pages_of(self, host: str) -> int:
        """Return the limit of pages of a host (canonical name): its own, else the common one."""
        site = self.sites.get(host)
        return site.max_pages if site is not None and site.max_pages else self.max_pages_per_host

    def requests_per_day_of(self, host: str) -> int:
        """Return the daily limit of requests to a host (canonical name): its own, else the common one; 0: no limit."""
        site = self.sites.get(host)
        return site.requests_per_day if site is not None and site.requests_per_day else self.requests_per_host_per_day
