"""Check what came of a run: manners by the servers' log, the database by its rows, results by one crawler's results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from geocrawl.store.database.database import reading_connection
from tests.simulation.database import Engine
from tests.simulation.network import Exchange
from tests.simulation.run import Result, Run
from tests.simulation.scenario import Scenario
from tests.support.invariants import check_invariants

_SLACK_S = 1e-6
_SETTLED = """
SELECT address, purpose, CASE WHEN state = 'refused' AND reason = 'candidate' THEN 'failed' ELSE state END FROM url"""
"""What became of each address. A page that may be a service stays refused while its probe has no answer; one that was
reached by a redirect first fails."""
_OF_ONE_VISIT = 6
"""Requests of a visit that has begun before its host's requests of a day were spent: robots.txt, redirects."""


def simulate(scenario: Scenario, engine: Engine, *, reference: Result | None = None) -> Result:
    """Run a scenario and check it; `reference`: what one undisturbed crawler came to on the same web."""
    with engine.database() as place:
        run = Run(scenario, engine, place)
        run.run()
        result = Result(scenario)
        if not run.failures:
            _check_manners(run)
            _check_database(run)
            result.urls = set(run.rows(_SETTLED))
            result.catalogue = set(run.rows("SELECT kind, key, status FROM endpoint"))
            if reference is not None:
                _check_results(run, result, reference)
    result.failures, result.trace, result.digest = run.failures, run.trace, run.digest()
    result.seconds, result.steps = run.loop.time(), run.loop.steps
    result.longest_idle_s = run.watch.longest_idle_s
    result.settled, result.attempts = run.watch.settlements, run.watch.attempts
    return result


# --------------------------------------------------------------------------- the servers' log


def _check_manners(run: Run) -> None:
    log = run.network.log
    for exchange in log:
        if not run.network.web.is_allowed(exchange.address):
            run.fail(f"robots.txt forbids {exchange.address}")
    if run.scenario.fault == "clock":
        return  # leases and delays are times of the wall clock
    for host, of_host in _by(log, "host").items():
        _check_host(run, host, of_host)
    _check_ips(run, log)
    _check_pages(run)


def _by(log: Iterable[Exchange], name: str) -> dict[str, list[Exchange]]:
    found = defaultdict(list)
    for exchange in log:
        found[getattr(exchange, name)].append(exchange)
    return found


def _check_host(run: Run, host: str, log: Sequence[Exchange]) -> None:
    crawl_delay_s = run.network.web.hosts[host].crawl_delay_s
    for before, after in pairwise(log):
        # A process that is killed or paused right after it was told of a Crawl-delay has told nobody yet.
        is_known = before.process is after.process or not before.address.endswith("/robots.txt")
        delay_s = max(run.scenario.delay_s, crawl_delay_s if is_known else 0.0)
        if any(each.after_pause or each.after_stall for each in (before, after)):
            continue
        ended = min(before.ended or before.over_at, before.over_at)
        if after.begun < ended - _SLACK_S:
            run.fail(f"{host} was asked by two at once: {before.address} and {after.address} at {after.begun:.3f}")
        elif after.begun < ended + delay_s - 1e-3:
            run.fail(
                f"{host} was asked {after.begun - ended:.3f} s after its last answer, not {delay_s:g}: "
                f"{before.address}, then {after.address} at {after.begun:.3f}"
            )
    if most := run.scenario.requests_per_day:
        for day, count in Counter(exchange.day for exchange in log).items():
            if count > most + _OF_ONE_VISIT:
                run.fail(f"{host} was asked {count} times on day {day}, not {most}")


def _check_ips(run: Run, log: Sequence[Exchange]) -> None:
    settings = run.settings(1)
    gap_s = settings.ip_delay_factor * settings.delay_s
    lasts_s = 2 * settings.total_timeout_s  # the request of a process that is paused is counted no longer
    for ip, of_ip in _by(log, "ip").items():
        for place, exchange in enumerate(of_ip):
            if exchange.after_pause:
                continue
            under_way = [
                each
                for each in of_ip[:place]
                if min(each.ended or each.over_at, each.over_at, each.begun + lasts_s) > exchange.begun + _SLACK_S
            ]
            if len(under_way) >= settings.requests_per_ip:
                run.fail(f"{ip} was asked {len(under_way) + 1} at once at {exchange.begun:.3f}")
                return
            if place and exchange.begun - of_ip[place - 1].begun < gap_s - 1e-3:
                run.fail(
                    f"{ip} was asked {exchange.begun - of_ip[place - 1].begun:.3f} s after the request before, "
                    f"not {gap_s:g}, at {exchange.begun:.3f}"
                )
                return


def _check_pages(run: Run) -> None:
    most = run.scenario.max_pages
    crowd = [crawler for crawler in run.crawlers if crawler.process.name != "last"]
    if most and run.scenario.together and sum(crawler.pages for crawler in crowd) > most:
        run.fail(f"all together read {sum(crawler.pages for crawler in crowd)} pages, not {most}")
    if most:
        for crawler in crowd:
            if crawler.pages > most:
                run.fail(f"{crawler.process.name} read {crawler.pages} pages, not {most}")


# --------------------------------------------------------------------------- the database


def _check_database(run: Run) -> None:
    connection = reading_connection(run.place)
    try:
        check_invariants(connection)
    except AssertionError as error:
        run.fail(f"counters and rows differ: {' '.join(str(error).split())[:600]}")
    finally:
        connection.close()
    if (sound := run.engine.integrity(run.place)) != "ok":
        run.fail(f"the database is damaged: {sound}")
    if leased := run.rows("SELECT name, lease_owner FROM host WHERE lease_until > 0"):
        run.fail(f"leases are left: {leased}")


# --------------------------------------------------------------------------- the results


def _check_results(run: Run, result: Result, reference: Result) -> None:
    for what, found, wanted in (
        ("settled addresses", result.urls, reference.urls),
        ("the catalogue", result.catalogue, reference.catalogue),
    ):
        if found != wanted:
            more, less = sorted(map(str, found - wanted))[:4], sorted(map(str, wanted - found))[:4]
            run.fail(f"{what} differ from one crawler's: {more} in place of {less}")
    if twice := [each for each, count in run.watch.visited.items() if count > 1]:
        run.fail(f"visited more than once: {sorted(twice)}")
