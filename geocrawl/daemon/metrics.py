"""Write the counts of `status` and the findings of `check` for Prometheus.

The file is for node_exporter's textfile collector; the daemon writes it every minute. It contains no addresses, is
readable by all, and appears whole or not at all. A failure to write it is logged once and never ends the daemon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from geocrawl.app.findings import Finding, check_connection, lost_files
from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.export.files import opened
from geocrawl.files import refuse_database
from geocrawl.store import Connection
from geocrawl.store.frontier.status import CatalogStatus


def write_metrics(status: CatalogStatus, findings: Sequence[Finding], max_traffic_bytes: int, out: Path | None) -> None:
    """Write the metrics to `out`, None for standard output. Raises EnvironmentFault when it cannot be written."""
    with opened(out) as stream:
        stream.writelines(f"{line}\n" for line in prometheus(status, findings, max_traffic_bytes))
    if out is not None and out.is_file():
        out.chmod(0o644)  # the service's umask bars other users from its files, but the collector is one


class MetricsFile:
    """The file of metrics that a daemon writes again and again."""

    def __init__(self, name: str, max_traffic_bytes: int, log: Callable[..., object]) -> None:
        """Write metrics to the file `name`; '' for none. `log(event, **values)` writes a line."""
        self._path = Path(name).expanduser() if name else None
        self._max_traffic_bytes = max_traffic_bytes
        self._log = log
        self._trouble = ""

    def write(self, connection: Connection, now: float) -> None:
        """Write the metrics. Logs once that the file cannot be written, and once that it can be again.

        Raises DatabaseFault when the database cannot be read.
        """
        if self._path is None:
            return
        (findings, status), trouble = check_connection(connection, now), ""
        try:
            refuse_database(self._path, connection.path)
            if self._path.exists() and not self._path.is_file():  # a pipe would block the daemon until somebody reads
                raise UsageError(f"{self._path}: is not a file")
            write_metrics(status, findings, self._max_traffic_bytes, self._path)
        except (EnvironmentFault, UsageError, OSError) as error:
            trouble = str(error)
        if bool(trouble) != bool(self._trouble):
            self._log("metrics are not written" if trouble else "metrics are written again", error=trouble or None)
        self._trouble = trouble


def prometheus(status: CatalogStatus, findings: Sequence[Finding], max_traffic_bytes: int) -> Iterator[str]:
    """Yield the lines of the text exposition format, version 0.0.4.

    All metrics are gauges: the counts of a day begin at zero again at midnight UTC.
    """
    yield from _family("up", "1 while a daemon runs.", [("", int(status.running))])
    yield from _family("paused", "1 while the daemon is paused.", [("", int(status.paused))])
    severities = {finding.subject: int(finding.severity) for finding in findings}
    yield from _family(
        "finding", "Findings of `geocrawl check`: 0 ok, 1 warning, 2 critical.", _labelled("subject", severities)
    )
    yield from _family("services", "Services in the catalogue.", [("", status.services)])
    yield from _family("layers", "Named layers in the catalogue.", [("", status.layers)])
    yield from _family("endpoints", "Endpoints by last verdict.", _labelled("status", status.endpoints))
    yield from _family("health", "Endpoints that ever were valid, by health.", _labelled("state", status.health))
    yield from _family("due", "Endpoints whose next probe is due.", [("", status.due)])
    yield from _family("today", "The daemon's counts of this day (UTC).", _labelled("what", status.today))
    watched = "1 while an address of the service answers, by number of the services that are asked at an interval."
    answering = {str(number): int(answers) for number, answers in status.watched.items()}
    yield from _family("watched_up", watched, _labelled("service", answering))
    given_up = "Watches whose notices could not be delivered ten times in a row."
    yield from _family("watches_given_up", given_up, [("", status.watches_given_up)])
    late = "Notices that wait, by watch: an attempt failed, or nobody sent them for an hour."
    waiting = {str(watch.id): watch.unsent for watch in status.watches_late}
    yield from _family("notices_late", late, _labelled("watch", waiting))
    lost = {str(number): 1 for number, _ in lost_files(status)}
    yield from _family("watch_file_lost", "1 for a watch whose file is gone, or its folder.", _labelled("watch", lost))
    of_nothing = "Watches of a service that is no longer in the catalogue."
    yield from _family("watches_of_nothing", of_nothing, [("", status.watches_of_nothing)])
    traffic = "Bytes that the daemon may receive a day (UTC); 0: no limit."
    yield from _family("traffic_limit_bytes", traffic, [("", max_traffic_bytes)])
    states = {str(state): count for state, count in status.frontier.states.items()}
    yield from _family("pages", "Pages by state.", _labelled("state", states))
    tiers = {str(tier): count for tier, count in status.frontier.waiting_by_tier.items()}
    yield from _family("waiting", "Waiting pages by tier.", _labelled("tier", tiers))
    yield from _family("probes_waiting", "Probes in the queue.", [("", status.frontier.probes_waiting)])
    yield from _family(
        "hosts_resting", "Hosts with queued URLs that are in back-off.", [("", status.frontier.hosts_resting)]
    )


def _family(name: str, help_: str, samples: list[tuple[str, int]]) -> Iterator[str]:
    yield f"# HELP geocrawl_{name} {help_}"
    yield f"# TYPE geocrawl_{name} gauge"
    for labels, value in samples:
        yield f"geocrawl_{name}{labels} {value}"


def _labelled(label: str, values: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(f'{{{label}="{name}"}}', value) for name, value in values.items()]
