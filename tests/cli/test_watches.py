"""`geocrawl watch` and `report`: from the command to what a receiver gets, once."""

from __future__ import annotations

import csv
import hashlib
import hmac
import io
import json
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from geocrawl.app.findings import check_connection
from geocrawl.daemon.jobs import Jobs
from geocrawl.fetch.clock import SystemClock
from geocrawl.model.watches import MOST_FAILURES
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.store.upkeep.daemon_lock import DaemonLock
from tests.store.upkeep.test_watches import RIVERS, ROADS
from tests.support.commands import CommandResult, geocrawl
from tests.support.published import HOSTILE
from tests.support.receivers import Hook, MailServer
from tests.support.world import World, candidate, verdict

TAGS = frozenset(
    {
        *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "dl", "dt", "dd"),
        *("table", "thead", "tbody", "tr", "th", "td", "a"),
    }
)


class Catalogue:
    """A catalogue whose services die at will."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.probe("a.example/wms", ok=True)

    def probe(self, at: str, *, ok: bool, times: int = 1) -> None:
        world = World(self.path)
        world.clock.time = time.time()
        service = ROADS if at.startswith("a.") else RIVERS
        for _ in range(times):
            said = verdict("ok", service) if ok else verdict("timeout-read")
            world.record(candidate(at), said, world.clock.now())
        world.store.close()

    def run(self, *arguments: str) -> CommandResult:
        return geocrawl(*arguments, "--db", str(self.path))


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue(tmp_path / "crawl.db")


def test_a_webhook_is_told_once_that_a_service_died(catalogue: Catalogue, hook: Hook) -> None:
    added = catalogue.run("watch", "add", "1", "--to", hook.address, "--allow-private", "--secret", "key")
    assert added.code == 0, added.err
    assert "Watch 1: service 1, 1 service now" in added.out and "sesame" not in added.out and "key" not in added.out
    catalogue.probe("a.example/wms", ok=False, times=4)
    for expected in ("1 new notice, 1 message sent.\n", "0 new notices, 0 messages sent.\n"):
        sent = catalogue.run("watch", "send", "--allow-private")
        assert (sent.code, sent.out) == (0, expected), sent.err
    ((_, headers, body),) = hook.received
    assert headers["geocrawl-signature"] == "sha256=" + hmac.new(b"key", body, hashlib.sha256).hexdigest()
    assert [each["what"] for each in json.loads(body)["notices"]] == ["died"]


def test_another_interval_of_a_watch_that_is_there_takes_the_place_of_the_former_one(catalogue: Catalogue) -> None:
    def every() -> list[float]:
        with Store.open(catalogue.path, clock=SystemClock(), create=False) as store:
            return [row[0] for row in store.connection.execute("SELECT every_s FROM endpoint")]

    assert catalogue.run("watch", "add", "1").code == 0
    told = [catalogue.run("watch", "add", "1", "--every", each).out for each in ("5m", "10m")]
    assert told == ["Watch 1: service 1, the pace of its health → 5m\n", "Watch 1: service 1, 5m → 10m\n"]
    assert every() == [600.0]
    same = catalogue.run("watch", "add", "1", "--every", "10m")
    assert same.code == 2 and "watch 1 tells nobody of that already" in same.err
    assert catalogue.run("watch", "add", "1", "--every", "2m", "--to", "mail:a@b.example").code == 2, "no mail server"
    assert catalogue.run("watch", "add", "alive:yes", "--every", "2m").code == 0
    assert every() == [120.0], "the shorter interval holds"
    assert catalogue.run("watch", "remove", "2").code == 0
    assert every() == [600.0], "what is left holds again"


def test_a_mail_is_sent_once_when_a_search_finds_something_new(
    catalogue: Catalogue, mails: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOCRAWL_MAIL_SERVER", mails.address)
    monkeypatch.setenv("GEOCRAWL_MAIL_SECURITY", "none")
    assert catalogue.run("watch", "add", "rivers", "kind:wms", "--to", "mail:a@b.example").code == 0
    catalogue.probe("b.example/wms", ok=True)
    assert catalogue.run("watch", "send").out == "1 new notice, 1 message sent.\n"
    assert catalogue.run("watch", "send").out == "0 new notices, 0 messages sent.\n"
    ((_, mail),) = mails.received
    assert mail["Subject"] == "geocrawl: Rivers is new"


def test_a_receiver_that_is_away_gets_the_notice_later(catalogue: Catalogue, hook: Hook) -> None:
    catalogue.run("watch", "add", "http://a.example/wms", "--to", hook.address, "--allow-private")
    catalogue.probe("a.example/wms", ok=False, times=4)
    hook.status = 503
    failed = catalogue.run("watch", "send", "--allow-private")
    assert failed.code == 3 and "answered with status 503" in failed.err and "sesame" not in failed.err
    (listed,) = json.loads(catalogue.run("watch", "list", "--json").out)
    assert (listed["waiting"], listed["failures"], listed["error"]) == (1, 1, "answered with status 503")
    hook.status = 200
    assert catalogue.run("watch", "send", "--allow-private").out == "0 new notices, 1 message sent.\n"
    refused = catalogue.run("watch", "list")
    assert "status 503" not in refused.out and "sesame" not in refused.out


def alarm(catalogue: Catalogue) -> str:
    """Return what `check` warns about while a daemon runs that visits."""
    with Store.open(catalogue.path, clock=SystemClock()) as store:
        lock, now = DaemonLock(store.database), time.time()
        lock.acquire(now)
        findings, _ = check_connection(store.connection, now, silent_s=60.0)
        lock.release()
    return "".join(finding.text for finding in findings if finding.severity and finding.subject == "watches")


def test_watches_that_tell_nobody_are_an_alarm_of_check_and_status(catalogue: Catalogue, tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.mkdir()
    assert catalogue.run("watch", "add", "1", "--to", f"file:{told}/notices").code == 0
    told.rename(tmp_path / "away")
    state = json.loads(catalogue.run("check", "--json").out)
    assert (state["state"], state["text"][:19], state["alive"]) == ("critical", "daemon: not running", 1)
    catalogue.probe("a.example/wms", ok=False, times=4)
    for _ in range(MOST_FAILURES):
        assert "given up" not in alarm(catalogue) and catalogue.run("watch", "send").code != 0
        assert "1 notice since" in alarm(catalogue) and "No such file" in alarm(catalogue)
    said = catalogue.run("check").out
    assert said.startswith("GEOCRAWL CRITICAL - daemon") and "\nWARNING - watches: 1 given up" in said
    metrics = catalogue.run("metrics").out
    for sample in ('finding{subject="watches"} 1', 'notices_late{watch="1"} 1', 'watch_file_lost{watch="1"} 1'):
        assert f"geocrawl_{sample}\n" in metrics
    given_up = "1 given up after ten failed deliveries; watch 1: its file "
    assert alarm(catalogue).startswith(given_up) and given_up in catalogue.run("status").out
    (tmp_path / "away").rename(told)
    assert catalogue.run("watch", "send").code == 0 and alarm(catalogue) == ""
    assert "watch_file_lost{" not in catalogue.run("metrics").out and "watches" not in catalogue.run("check").out
    assert catalogue.run("forget", "a.example").code == 0
    catalogue.run("watch", "send")
    nothing = "1 without their service: `geocrawl watch list`"
    assert alarm(catalogue) == nothing and nothing in catalogue.run("status").out


def test_private_receivers_need_permission(catalogue: Catalogue, hook: Hook) -> None:
    refused = catalogue.run("watch", "add", "1", "--to", hook.address)
    assert refused.code == 2 and "private network; allow_private" in refused.err
    catalogue.run("watch", "add", "1", "--to", hook.address, "--allow-private")
    catalogue.probe("a.example/wms", ok=False, times=4)
    assert catalogue.run("watch", "send").code == 3 and hook.received == []


@pytest.mark.parametrize(
    ("arguments", "code", "clear"),
    [
        (["add", "99", "--to", "file:/tmp/notices.jsonl"], 1, "no service 99"),
        (["add", "http://none.example/wms", "--to", "file:/tmp/notices.jsonl"], 1, "no service was found there"),
        (["add", "alive:soon", "--to", "file:/tmp/notices.jsonl"], 2, "expected a time"),
        (["add", "", "--to", "file:/tmp/notices.jsonl"], 2, "names no service and no query"),
        (["add", " ", "-", "--to", "file:/tmp/notices.jsonl"], 2, "names no service and no query"),
        (["add", "1", "--to", "anna"], 2, "expected a web address, mail:ADDRESS or file:PATH"),
        (["add", "1", "--to", "mail:a@b.example"], 2, "mail_server names no server"),
        (["remove", "7"], 1, "There is no watch 7"),
        (["downtime", "--remove", "7"], 1, "There is no downtime 7"),
        (["downtime", "1"], 2, "give --to (when it ends), --weekly"),
        (["downtime", "1", "--to", "tomorrow"], 2, "--to 'tomorrow': expected a time such as"),
        (["downtime", "1", "--to", "2030-01-01", "--zone", "CEST"], 2, "--zone 'CEST': expected the name"),
        (["downtime", "1", "--weekly", "sunday"], 2, "--weekly 'sunday': expected days and hours"),
        (["downtime", "roads", "--to", "2030-01-01"], 2, "'roads': expected the number or address of a service"),
        (["downtime", "b.example", "--to", "2030-01-01"], 1, "no service of this host"),
        (["downtime"], 0, "No downtimes"),
        (["ack", "1"], 2, "service 1 is well"),
        (["add", "no-such-service", "--every", "30s"], 2, "--every 30s: expected 1 minute to 30 days"),
        (["add", "1", "--every", "31d"], 2, "expected 1 minute to 30 days, such as 5m"),
        (["list"], 0, "No watches"),
    ],
)
def test_wrong_use_is_one_clear_line(catalogue: Catalogue, arguments: list[str], code: int, clear: str) -> None:
    said = catalogue.run("watch", *arguments)
    assert said.code == code and clear in " ".join(said.err.split())


def test_a_downtime_is_planned_and_an_acknowledgement_shown_by_status_and_history(catalogue: Catalogue) -> None:
    when = ("--weekly", "mon-sun 00:00-00:00", "--zone", "Europe/Berlin", "--note", "backup of the server")
    planned = catalogue.run("watch", "downtime", "a.example", *when)
    assert planned.code == 0 and "Downtime 1: host a.example, mon-sun 00:00-00:00 Europe/Berlin, from" in planned.out
    catalogue.probe("a.example/wms", ok=False, times=4)
    history = catalogue.run("history", "1").out
    assert "  alive since" in history and "excused: 4 failures in downtimes" in history
    assert "downtime 1: mon-sun 00:00-00:00 Europe/Berlin" in history and "(backup of the server)" in history
    assert catalogue.run("watch", "downtime", "--remove", "1").out == "Downtime 1 removed.\n"
    catalogue.probe("a.example/wms", ok=False, times=2)
    known = catalogue.run("watch", "ack", "http://a.example/wms", "--note", "ticket 212")
    assert known.code == 0 and "Downtime 1: service 1, acknowledged" in known.out, known.err
    status = catalogue.run("status").out
    assert "downtime    service 1 (acknowledged); `geocrawl watch downtime`" in status
    (listed,) = json.loads(catalogue.run("watch", "downtime", "--json").out)
    assert (listed["service_id"], listed["ends_at"], listed["lasts"], listed["note"]) == (1, None, "now", "ticket 212")
    catalogue.probe("a.example/wms", ok=True, times=2)
    assert "downtime  " not in catalogue.run("status").out
    assert json.loads(catalogue.run("watch", "downtime", "--json").out)[0]["lasts"] == "over"


async def test_the_daemon_sends_by_itself(catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue.run("watch", "add", "1", "--to", f"file:{tmp_path}/notices.jsonl")
    catalogue.probe("a.example/wms", ok=False, times=4)
    logged: list[str] = []
    clock = SystemClock()
    with Store.open(catalogue.path, clock=clock) as store:
        frontier = store.frontier(Settings(), store.catalog())
        jobs = Jobs(Settings(), store, frontier, clock, lambda event, **values: logged.append(event))
        assert await jobs.watches() == {"notices": 1, "messages": 1, "not_delivered": 0}
        assert await jobs.watches() == {"notices": 0, "messages": 0, "not_delivered": 0}
    assert logged == ["notices delivered"]
    assert json.loads((tmp_path / "notices.jsonl").read_text())["notices"][0]["service"]["title"] == "Roads"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name == "href"]
        assert not any(name.startswith("on") for name, _ in attrs)


def month() -> str:
    return time.strftime("%Y-%m", time.gmtime())


def test_the_report_counts_what_happened(catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue.probe("a.example/wms", ok=False, times=4)
    catalogue.probe("b.example/wms", ok=True)
    rows = list(csv.DictReader(io.StringIO(catalogue.run("report", "--month", month(), "--format", "csv").out)))
    found = {row["title"]: row for row in rows}
    assert (found["Roads"]["probes"], found["Roads"]["valid"], found["Roads"]["availability"]) == ("5", "1", "0.2000")
    assert found["Roads"]["went_down"].startswith(month()) and found["Rivers"]["went_down"] == ""
    assert found["Rivers"]["is_new"] == "1"
    out = tmp_path / "report.html"
    assert catalogue.run("report", "--month", month(), "--out", str(out)).out == f"2 services written to {out}\n"
    page = out.read_text("utf-8")
    asked, _, _ = page.partition("<h2>")
    assert f"<dt>period</dt><dd>{month()}, in UTC</dd>\n<dt>catalogue</dt><dd>crawl.db</dd>\n<dt>question</dt>" in asked
    assert "<dt>answer</dt><dd>1 went down, 0 came back, 0 lost layers, 2 new. Services that were found" in asked
    assert "Went down: 1" in page and "New: 2" in page and "Least available: 1" in page and "20.0%" in page
    assert "found, probed or changed: 0;" in catalogue.run("report", "--month", "2001-01").out


def test_inspire_judges_a_month_where_enough_probes_tell(catalogue: Catalogue) -> None:
    catalogue.probe("b.example/wms", ok=True, times=2)
    catalogue.probe("a.example/wms", ok=False, times=120)
    rows = csv.DictReader(io.StringIO(catalogue.run("report", "--month", month(), "--inspire").out))
    found = {row["title"]: row for row in rows}
    assert (found["Roads"]["probes"], found["Roads"]["is_available"]) == ("121", "0")
    assert float(found["Roads"]["available_high"]) < 0.99
    few = found["Rivers"]
    assert few["available_low"] == few["is_available"] == few["is_fast"] == "" and few["within_s"] == "5"
    told = json.loads(catalogue.run("report", "--month", month(), "--inspire", "--json").out)
    assert {row["title"]: row["is_available"] for row in told} == {"Roads": False, "Rivers": None}
    assert json.loads(catalogue.run("report", "--month", "2001-01", "--inspire", "--json").out) == []


def test_a_provider_is_told_what_is_broken_and_how_to_mend_it(catalogue: Catalogue, tmp_path: Path) -> None:
    catalogue.probe("a.example/wms", ok=False, times=4)
    catalogue.probe("b.example/wms", ok=True)
    said = catalogue.run("report", "--by", "provider").out
    assert "timeout-read: no answer came in time (1 service)" in said and "mend it:" in said and "standard:" in said
    [roads] = [
        each for each in json.loads(catalogue.run("report", "--by", "provider", "--json").out) if not each["working"]
    ]
    assert roads["findings"][0]["code"] == "timeout-read", "what is down comes first"
    assert roads["services"][0]["health"] == "down"
    out = tmp_path / "cards.html"
    assert "written to" in catalogue.run("report", "--by", "provider", "--out", str(out)).out
    read = Tags()
    read.feed(out.read_text("utf-8"))
    assert set(read.tags) <= TAGS and "no answer came in time" in out.read_text("utf-8")
    assert catalogue.run("report", "--by", "provider", "--provider", "nobody").code == 1
    assert catalogue.run("report", "--by", "country").code == 2 and catalogue.run("report").code == 2


def test_hostile_titles_are_text_in_the_report(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    world = World(path)
    world.clock.time = time.time()
    for number, title in enumerate(HOSTILE):
        text = title.encode("utf-8", "replace").decode()
        service = replace(ROADS, title=text, provider=text, fingerprint=f"h{number}")
        world.record(candidate(f"h{number}.example/wms?token=sesame"), verdict("ok", service), world.clock.now())
    world.store.close()
    said = geocrawl("report", "--month", month(), "--db", str(path))
    read = Tags()
    read.feed(said.out)
    assert set(read.tags) <= TAGS
    assert len(read.links) == len(HOSTILE) and all(str(link).startswith("http://h") for link in read.links)
    assert "default-src 'none'" in said.out and "sesame" not in said.out
    cards = tmp_path / "cards.html"
    assert geocrawl("report", "--by", "provider", "--out", str(cards), "--db", str(path)).code == 0
    read = Tags()
    read.feed(cards.read_text("utf-8"))
    assert set(read.tags) <= TAGS and "sesame" not in cards.read_text("utf-8")
    table = geocrawl("report", "--month", month(), "--format", "csv", "--db", str(path)).out
    for row in csv.reader(io.StringIO(table)):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row)


@pytest.mark.parametrize("text", ["2026", "2026-13", "last", "9999-12", "2026-10-01", ""])
def test_a_month_that_is_none_is_one_clear_line(catalogue: Catalogue, text: str) -> None:
    said = catalogue.run("report", "--month", text)
    told = "expected a month such as 2026-10" if text else "name a month, such as --month 2026-10"
    assert said.code == 2 and told in said.err
