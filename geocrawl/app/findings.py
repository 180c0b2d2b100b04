"""Check a set-up and a running system: each check yields a `Finding`, with what to do where something is to be done.

The checks are grouped by what they need: settings, this machine, a database, and the state of a catalogue with its
daemon. `geocrawl doctor`, `config check`, `check`, `status` and the metrics show their findings, and a start refuses
settings that cannot be used. The types in `settings.py` check what a value's text can tell; what takes a look at
strategies, topics or files is read here by the very functions that a run reads it with.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

from geocrawl.config import check, database_path
from geocrawl.crawler.report import QueueTable, queue_table
from geocrawl.errors import EnvironmentFault, GeocrawlError, UsageError
from geocrawl.fetch.proxy import proxy_at, proxy_from_environment
from geocrawl.files import refuse_database
from geocrawl.model import FrontierStats
from geocrawl.model.watches import LateWatch
from geocrawl.priority import registry
from geocrawl.sanitize import plain
from geocrawl.settings import DEFAULT_STRATEGY, Settings
from geocrawl.store import Connection, OpenSnapshot, Store
from geocrawl.urls.database import DatabaseUrl
from geocrawl.wording import counted, moment, span

if TYPE_CHECKING:
    from geocrawl.store.frontier.status import CatalogStatus

LEAST_FREE_BYTES = 500_000_000
CLOCK_S = 60.0
"""So far the last visit may lie in the future: clocks of several machines differ a little."""
SILENT_S = 6 * 3600.0
"""A daemon that has settled no visit for so long is to be looked at."""
HEARTBEAT_S = 30.0
"""Seconds without a heartbeat after which a daemon counts as silent; it writes one every five seconds."""
MOST_DUE = 10_000
"""So many endpoints may be due for a probe before the daemon counts as too slow."""
_CONNECT_S = 3.0


def queue_of(stats: FrontierStats, options: Mapping[str, str]) -> QueueTable:
    """Return the queue as a table, with the names that its strategy has for it under the options that people set."""
    names = registry.tier_names(stats.strategy, options)
    return queue_table(stats, names, discards_zero=registry.discards_zero(stats.strategy, options))


class Severity(IntEnum):
    """How bad a finding is, as the exit codes of monitoring plugins (Nagios)."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check says of one subject."""

    code: str
    """Stable name of the state, such as `daemon-paused`."""
    severity: Severity
    subject: str
    """The disk, the daemon, the watches …, before which the sentence is read."""
    sentence: str
    advice: str = ""
    """What to do; '' where nothing is to be done."""
    value: float | None = None
    """The figure behind the finding: free bytes, endpoints that are due …"""

    @property
    def text(self) -> str:
        """Return the sentence and the advice."""
        return f"{self.sentence}: {self.advice}" if self.advice else self.sentence


def worst(findings: Sequence[Finding]) -> Finding:
    """Return the worst finding, the first of several."""
    return max(findings, key=lambda finding: finding.severity)


# --------------------------------------------------------------------------- settings


def check_settings(
    options: Mapping[str, object], environ: Mapping[str, str], cwd: Path, files: Sequence[Path] | None = None
) -> tuple[list[Finding], Settings | None]:
    """Return the findings about the settings in force, and the settings, None when they cannot be read.

    `files` replaces the usual configuration files.
    """
    problems = [f"{file}: no such file" for file in files or () if not file.is_file()]
    more, configuration = check(options, environ=environ, cwd=cwd, files=files)
    problems += more
    findings = [Finding("settings-invalid", Severity.CRITICAL, "settings", problem) for problem in problems]
    if configuration is None or findings:
        return findings, None
    for field, fault in _unusable(configuration.settings):
        sentence = f"{configuration.origin_of(field)}: {fault}"
        findings.append(Finding("settings-unusable", Severity.CRITICAL, "settings", sentence))
    good = Finding("settings-good", Severity.OK, "settings", "all can be used here")
    return findings or [good], configuration.settings


def check_contact(settings: Settings) -> Finding:
    """Return whether owners of sites can reach whoever crawls them."""
    if settings.contact or settings.user_agent:
        return Finding("contact-good", Severity.OK, "contact", "owners of sites are told whom to ask")
    advice = "owners of sites cannot reach you; set `contact` (--contact, GEOCRAWL_CONTACT)"
    return Finding("contact-missing", Severity.WARNING, "contact", "none is set", advice)


def demand_usable(settings: Settings, record: Path | None = None) -> None:
    """Raise UsageError or EnvironmentFault for the first setting, variable of the environment or file to `record` into
    with which no run can begin."""
    from geocrawl.fetch.tls import trusted_certificates

    _look_at_output(str(record or ""))
    proxy_from_environment(os.environ)
    trusted_certificates()
    for field, read in _OF_RUNS:
        _look(field, read, settings)


def _unusable(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the field and the fault of each setting that cannot be used here."""
    for field, read in (*_OF_RUNS, *_OF_COMMANDS):
        try:
            _look(field, read, settings)
        except GeocrawlError as fault:
            yield field, str(fault)


def _look(field: str, read: _Read, settings: Settings) -> None:
    """Read a setting as a run does. Raises UsageError, also for a path at which this user may not look."""
    try:
        read(settings)
    except OSError as error:
        raise UsageError(f"{field} {plain(str(error.filename), 100)}: {error.strerror}") from None


def _read_strategy(settings: Settings) -> None:
    registry.strategy_options(settings.strategy or DEFAULT_STRATEGY)


def _read_topic(settings: Settings) -> None:
    if settings.topic:
        from geocrawl.priority.topics import find_topic, topics_folder

        find_topic(settings.topic, topics_folder())


def _read_constants(settings: Settings) -> None:
    """Read the constants of every strategy that has some, also of one that does not run: its turn may come."""
    for name in dict.fromkeys(key.partition(".")[0] if "." in key else DEFAULT_STRATEGY for key in settings.set):
        registry.make_strategy(name, settings.set)


def _read_stop_rules(settings: Settings) -> None:
    from geocrawl.urls.stop import StopRules

    StopRules.load(Path(settings.stop_rules) if settings.stop_rules else None)


def _find_browser(settings: Settings) -> None:
    if settings.browser:
        from geocrawl.browser.renderer import find_chromium

        find_chromium(settings.browser_path)
    elif settings.browser_path and not shutil.which(settings.browser_path):
        raise EnvironmentFault(f"browser_path: {settings.browser_path} is not a program that can be run")


def _look_at_output(name: str) -> None:
    """Raise UsageError for a file into which nothing can be written, whoever tries."""
    if not name:
        return
    path = Path(name).expanduser()
    refuse_database(path)
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: the folder {path.parent} does not exist")


def _look_at_catalogue(settings: Settings) -> None:
    place = database_path(settings, os.environ) if settings.db else None
    if not isinstance(place, Path):
        return
    if place.is_dir():
        raise UsageError(f"db {place}: is a folder; name a file")
    if place.exists() and not place.is_file():
        raise UsageError(f"db {place}: is no file, but a device or a pipe")
    above = next(folder for folder in (*place.parents, Path("/")) if folder.exists())  # what lacks below is made
    if not above.is_dir():
        raise UsageError(f"db {place}: {above} is no folder")


def _find_csw_python(settings: Settings) -> None:
    path = Path(settings.csw_python).expanduser()
    if settings.csw_python and not (path.is_file() and os.access(path, os.X_OK)):
        raise UsageError(f"csw_python: {path} is not a program that can be run")


_Read = Callable[[Settings], None]
_OF_RUNS: tuple[tuple[str, _Read], ...] = (
    ("strategy", _read_strategy),
    ("topic", _read_topic),
    ("set", _read_constants),
    ("stop_rules", _read_stop_rules),
    ("browser_path", _find_browser),
    ("log_file", lambda settings: _look_at_output(settings.log_file)),
    ("db", _look_at_catalogue),
)
"""Settings without which crawls and the daemon cannot begin."""
_OF_COMMANDS: tuple[tuple[str, _Read], ...] = (
    ("metrics_file", lambda settings: _look_at_output(settings.metrics_file)),
    ("csw_python", _find_csw_python),
)
"""Settings of single commands, and one that the daemon tries again and again."""


# --------------------------------------------------------------------------- this machine


def check_machine(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the state of disk, permissions, name service and proxies. No site is asked."""
    place = database_path(settings, environ)
    if isinstance(place, Path):
        folder = next(parent for parent in place.absolute().parents if parent.exists())
        yield _check_disk(folder)
        yield _check_permissions(folder, place)
    yield _check_names()
    yield from _check_proxies(settings, environ)


def check_unit(unit: Path, text: Callable[[], str]) -> Finding:
    """Return whether the installed unit of systemd is that of this program.

    `text` returns this program's unit, and raises EnvironmentFault when the service could not start the program.
    """
    if not unit.exists():
        return Finding("unit-missing", Severity.OK, "unit", "not installed (`geocrawl service install`)")
    try:
        is_current = unit.read_text("utf-8", "replace") == text()
    except (GeocrawlError, OSError) as error:
        return Finding("unit-unusable", Severity.WARNING, "unit", str(error))
    if is_current:
        return Finding("unit-good", Severity.OK, "unit", str(unit))
    advice = "run `geocrawl service install` again"
    return Finding("unit-outdated", Severity.WARNING, "unit", f"{unit} is not that of this program", advice)


def _check_disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    sentence = f"{folder}: {free / 2**30:,.1f} GiB free"
    if free >= LEAST_FREE_BYTES:
        return Finding("disk-good", Severity.OK, "disk", sentence, value=free)
    return Finding("disk-full", Severity.CRITICAL, "disk", sentence, "make room, or move the database (--db)", free)


def _check_permissions(folder: Path, place: Path) -> Finding:
    for path in (folder, place):
        if path.exists() and not os.access(path, os.R_OK | os.W_OK):
            sentence, advice = f"{path}: this user may not write it", "run as its owner, or use --db"
            return Finding("permissions-lacking", Severity.CRITICAL, "permissions", sentence, advice)
    return Finding("permissions-good", Severity.OK, "permissions", f"{place} may be written")


def _check_names() -> Finding:
    """Return whether /etc/resolv.conf names a name service. None is asked."""
    try:
        lines = Path("/etc/resolv.conf").read_text("utf-8", "replace").splitlines()
    except OSError as error:
        sentence = f"/etc/resolv.conf: {error.strerror}: names of hosts cannot be looked up"
        return Finding("names-unreadable", Severity.CRITICAL, "names", sentence)
    servers = [words[1] for words in map(str.split, lines) if len(words) > 1 and words[0] == "nameserver"]
    if not servers:
        advice = "add `nameserver ADDRESS`, or use a proxy"
        return Finding("names-missing", Severity.CRITICAL, "names", "/etc/resolv.conf names no server", advice)
    return Finding("names-good", Severity.OK, "names", f"looked up at {', '.join(servers)}")


def _check_proxies(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield whether each proxy that is set answers, and to this user. No site is asked."""
    from geocrawl.fetch.own_faults import trouble_of

    try:
        environment = proxy_from_environment(environ)
    except GeocrawlError as error:
        yield Finding("proxy-invalid", Severity.CRITICAL, "proxy", str(error))
        return
    addresses = dict.fromkeys(filter(None, (settings.proxy, environment.http, environment.https)))
    for proxy in filter(None, (proxy_at(address, "proxy") for address in addresses)):
        if trouble := asyncio.run(trouble_of(proxy, _CONNECT_S)):
            advice = "start or mend it, put the user and password into its address, or unset the setting"
            yield Finding("proxy-away", Severity.CRITICAL, "proxy", f"{proxy.address} {trouble}", advice)
        else:
            yield Finding("proxy-good", Severity.OK, "proxy", f"{proxy.address} answers")
    if not addresses:
        yield Finding("proxy-none", Severity.OK, "proxy", "none is set")


# --------------------------------------------------------------------------- database


def check_database(
    database: AbstractContextManager[Connection],
    now: float | None = None,
    *,
    silent_s: float = SILENT_S,
    needs_daemon: bool = True,
) -> tuple[list[Finding], CatalogStatus | None]:
    """Open a database; return the findings about it, its daemon and its catalogue, and its status, None when it cannot
    be read.

    `now`: this machine's time; None: the database's. `needs_daemon`, `silent_s`: as in `check_status`.
    """
    try:
        with database as connection:
            at = connection.now() if now is None else now
            return check_connection(connection, at, silent_s=silent_s, needs_daemon=needs_daemon)
    except GeocrawlError as error:
        return [Finding("database-unusable", Severity.UNKNOWN, "database", str(error))], None


def status_at(place: DatabaseUrl) -> CatalogStatus:
    """Return the state of a catalogue, its queue and its daemon. Raises DatabaseFault when it cannot be read."""
    from geocrawl.store.frontier.status import read_status

    with Store.open_readonly(place) as connection:
        return read_status(connection, connection.now())


def check_connection(
    connection: Connection, now: float, *, silent_s: float = SILENT_S, needs_daemon: bool = True
) -> tuple[list[Finding], CatalogStatus]:
    """Return the findings about an open database, and its status. Raises DatabaseFault when it cannot be read."""
    from geocrawl.store.frontier.status import read_status  # a start of a crawl checks settings alone

    status, place = read_status(connection, now), connection.path
    good = Finding("database-good", Severity.OK, "database", f"{place}: {counted(status.services, 'service')}")
    return [good, *check_status(status, place, now, silent_s=silent_s, needs_daemon=needs_daemon)], status


# --------------------------------------------------------------------------- daemon and catalogue


def check_status(
    status: CatalogStatus, place: DatabaseUrl, now: float, *, silent_s: float = SILENT_S, needs_daemon: bool = True
) -> Iterator[Finding]:
    """Yield the state of the daemon and its work, of the clock, and of the catalogue.

    `needs_daemon`: whether it is bad that no daemon runs where none was killed; `silent_s`: for how long a daemon may
    settle no visit.
    """
    yield _check_daemon(status, now, needs_daemon)
    if status.running:
        yield _check_visits(status, now, silent_s)
        yield _check_due(status)
    yield _check_clock(status, now)
    yield _check_snapshot(status.open_snapshot, place)
    yield from _check_network(status)
    yield _check_killers(status)
    yield _check_watches(status)
    yield _check_sites(status)


def _check_daemon(status: CatalogStatus, now: float, needs_daemon: bool) -> Finding:
    holder, resume = status.daemon, "`geocrawl resume`"
    if holder is None or not status.running:
        severity = Severity.CRITICAL if needs_daemon or holder else Severity.OK
        killed = f" (process {holder.pid} on {holder.machine} was killed)" if holder else ""
        if status.paused:
            return Finding("daemon-missing", severity, "daemon", f"not running{killed}; paused", resume)
        start = "`systemctl start geocrawl`, or `geocrawl daemon`" if severity else ""
        return Finding(
            "daemon-killed" if holder else "daemon-missing", severity, "daemon", f"not running{killed}", start
        )
    process = f"process {holder.pid} on {holder.machine} for {span(now - holder.since)}"
    if now - holder.beat > HEARTBEAT_S:
        sentence = f"running, {process}, but nothing written for {span(now - holder.beat)}"
        advice = "the database may be locked or its disk full; see its log"
        return Finding("daemon-silent", Severity.WARNING, "daemon", sentence, advice, now - holder.beat)
    if status.paused:
        return Finding("daemon-paused", Severity.WARNING, "daemon", f"paused, {process}", resume)
    state = plain(holder.state, 200) or "starting"
    if state.startswith("waiting: "):
        return Finding("daemon-waiting", Severity.WARNING, "daemon", f"running, {process}, but {state}", "see its log")
    return Finding("daemon-good", Severity.OK, "daemon", f"running, {process}; {state}")


def _check_visits(status: CatalogStatus, now: float, silent_s: float) -> Finding:
    last = status.last_visit_at
    if last is None:
        return Finding(
            "visits-missing", Severity.WARNING, "visits", "none yet", "`geocrawl seeds add URL`, and its log"
        )
    sentence = f"the last one {span(now - last)} ago"
    if now - last > silent_s:
        advice = "`geocrawl status` shows what the queue waits for"
        return Finding("visits-silent", Severity.WARNING, "visits", sentence, advice, now - last)
    return Finding("visits-good", Severity.OK, "visits", sentence, value=now - last)


def _check_due(status: CatalogStatus) -> Finding:
    sentence = f"{counted(status.due, 'endpoint')} due for a probe"
    if status.due > MOST_DUE:
        advice = "the daemon cannot keep up; raise workers, traffic_per_day"
        return Finding("probes-late", Severity.WARNING, "probes", sentence, advice, status.due)
    return Finding("probes-good", Severity.OK, "probes", sentence, value=status.due)


def _check_clock(status: CatalogStatus, now: float) -> Finding:
    last = status.last_visit_at
    if last is not None and last > now + CLOCK_S:
        sentence = f"the last visit was at {moment(last)} UTC, which is to come"
        return Finding("clock-behind", Severity.WARNING, "clock", sentence, "set the machine's clock", last - now)
    return Finding("clock-good", Severity.OK, "clock", f"{moment(now)} UTC, not before the last visit")


def _check_network(status: CatalogStatus) -> Iterator[Finding]:
    """Yield that somebody on the way seems to answer in the place of services, if it is so."""
    if status.network is not None:
        hosts, answer = status.network
        shown = ", ".join(hosts[:5]) + (f" and {len(hosts) - 5:,} more" if len(hosts) > 5 else "")
        sentence = f"the network on the way answers for {counted(len(hosts), 'host')} ({shown}): {answer}"
        advice = "what is seen is held as unconfirmed; look for a login page, a filter, a proxy or an outage on the way"
        yield Finding("network-suspected", Severity.CRITICAL, "network", sentence, advice, len(hosts))


def _check_snapshot(snapshot: OpenSnapshot | None, place: DatabaseUrl) -> Finding:
    """Return what keeps the database from cleaning up, and what to do."""
    if snapshot is None:
        return Finding("snapshot-none", Severity.OK, "snapshot", "nothing keeps the database from cleaning up")
    if snapshot.log_bytes is not None:
        sentence = (
            f"the write-ahead log has grown to {snapshot.log_bytes / 2**20:,.0f} MiB, because a program still reads an "
            "old state of the file, or writes much at once"
        )
        advice = f"`fuser {place}` lists who has it open: end the one that hangs"
        return Finding("snapshot-open", Severity.WARNING, "snapshot", sentence, advice, snapshot.log_bytes)
    sentence = (
        f"open for {span(snapshot.age_s or 0.0)} ({plain(snapshot.holder, 120)}), so the server keeps old rows, and "
        "tables grow"
    )
    advice = f"end that program, or run SELECT pg_terminate_backend({snapshot.pid})"
    return Finding("snapshot-open", Severity.WARNING, "snapshot", sentence, advice, snapshot.age_s)


def _check_killers(status: CatalogStatus) -> Finding:
    """Return which addresses wait for a person, because they got two processes killed that visited nothing else."""
    if not status.killers:
        return Finding("killers-none", Severity.OK, "kills", "no address is set aside")
    sentence = (
        f"{counted(len(status.killers), 'address')} ended geocrawl twice: {', '.join(map(plain, status.killers[:5]))}"
    )
    advice = "report it; `geocrawl retry --reason killed` visits them again"
    return Finding("killers-waiting", Severity.WARNING, "kills", sentence, advice, len(status.killers))


def _check_watches(status: CatalogStatus) -> Finding:
    """Return which watches tell nobody of anything, and whose notices do not arrive."""
    counts = {
        "given up after ten failed deliveries": status.watches_given_up,
        "without their service": status.watches_of_nothing,
    }
    idle = [f"{count:,} {state}" for state, count in counts.items() if count]
    lost = [f"watch {number}: its file {plain(path, 200)} is gone" for number, path in lost_files(status)]
    late = [*map(_late, status.watches_late)]
    if idle or lost or late:
        code = "watches-idle" if idle else "watches-late"
        sentence = "; ".join((*idle, *lost[:10], *late))
        return Finding(code, Severity.WARNING, "watches", sentence, "`geocrawl watch list`")
    return Finding("watches-good", Severity.OK, "watches", "none is given up or without its service, and none is late")


def lost_files(status: CatalogStatus) -> list[tuple[int, str]]:
    """Return the watches (number, file) whose file is gone, or the folder of one that was not written yet."""
    return [
        (number, path)
        for number, path, was_written in status.watched_files
        if not (Path(path).exists() if was_written else Path(path).parent.is_dir())
    ]


def _late(watch: LateWatch) -> str:
    """Return what waits for a recipient, since when, and why."""
    who, why = f"watch {watch.id} to {plain(watch.recipient, 100)}", plain(watch.last_error, 120)
    if watch.since is None:
        return f"{who}: {why}"
    tried = f"{counted(watch.failures, 'failed attempt')} ({why})" if watch.failures else "not sent"
    return f"{who}: {counted(watch.unsent, 'notice')} since {moment(watch.since)}, {tried}"


def _check_sites(status: CatalogStatus) -> Finding:
    """Return which sites wait for a person to say whether their many similar services are real."""
    if not status.held_sites:
        return Finding("sites-none", Severity.OK, "sites", "none is quarantined")
    names = ", ".join(plain(each.site, 80) for each in status.held_sites[:3])
    sentence = f"{counted(len(status.held_sites), 'site')} quarantined: {names}"
    advice = "`geocrawl release SITE` if its services are real, else `geocrawl forget SITE`"
    return Finding("sites-quarantined", Severity.WARNING, "sites", sentence, advice, len(status.held_sites))
