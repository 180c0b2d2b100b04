"""With a full disk every command says so and ends: by itself, or within 15 seconds of one signal."""

from __future__ import annotations

import resource
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from geocrawl.demo.web import DemoWeb
from geocrawl.model import Kind, Service
from geocrawl.store.upkeep.backup import back_up
from tests.daemon.test_faults import fill, small_disk
from tests.support import forked
from tests.support.daemons import LIMIT_S, Place, wait_for
from tests.support.processes import clean_environment
from tests.support.samples import sampled
from tests.support.world import World, candidate, verdict

pytestmark = pytest.mark.machine

WMS = "http://maps.norvale-geoportal.example/geoserver/hydro/wms"
COMMANDS = {
    "crawl": ("crawl", "--db", "{db}", "{web}"),
    "daemon": ("daemon", "--db", "{db}", "{web}"),
    "probe": ("probe", "--save", "--db", "{db}", "{web}", WMS),
    "harvest": ("harvest", "--db", "{db}", "{web}", "http://catalogue.example/csw"),
    "export": ("export", "--db", "{whole}", "--format", "gpkg", "--out", "{disk}/e.gpkg"),
    "export as text": ("export", "--db", "{whole}", "--format", "csv", "--out", "{disk}/e.csv"),
    "export for QGIS": ("export", "--db", "{whole}", "--format", "qgis", "--out", "{disk}/qgis"),
    "publish": ("publish", "--db", "{whole}", "--out", "{disk}/site"),
    "report": ("report", "--db", "{whole}", "--month", "2026-01", "--out", "{disk}/r.html"),
    "stats": ("stats", "--db", "{whole}", "--picture", "kinds", "--out", "{disk}/k.svg"),
    "seeds add": ("seeds", "add", "--db", "{db}", "http://a.example/", "http://b.example/"),
    "watch add": ("watch", "add", "--db", "{db}", "1", "--to", "file:{disk}/notices"),
    "backup": ("backup", "--db", "{whole}", "{disk}/b.db"),
    "migrate to it": ("migrate", "{whole}", "{disk}/n.db"),
    "migrate from it": ("migrate", "{db}", "{whole}.copy"),
    "restore": ("restore", "--db", "{db}", "{backup}"),
    "merge": ("merge", "--db", "{db}", "1", "2"),
    "split": ("split", "--db", "{db}", "1", "2"),
    "forget": ("forget", "--db", "{db}", "maps.example"),
    "retry": ("retry", "--db", "{db}"),
    "check": ("check", "--repair", "--db", "{db}"),
}
WORDS = ("disk is full", "disk fails", "No space left", "free some space")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalogue of two services."""
    path = tmp_path_factory.mktemp("whole") / "c.db"
    world = World(path)
    world.seed("a.example/")
    for host in ("maps", "geo"):
        world.record(candidate(f"{host}.example/wms"), verdict(service=Service(Kind.WMS, "1.3.0", host)), 5.0)
    world.store.close()
    back_up(path, path.with_name("b.db"))
    return path


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as demo:
        yield demo


def wait_until_said(said: Path, process: forked.Started) -> None:
    """Wait until a command has ended or speaks of the disk; who waits for room goes on after that."""
    end = time.monotonic() + 45
    while process.poll() is None and time.monotonic() < end:
        if said.exists() and any(words in said.read_text() for words in WORDS):
            return
        time.sleep(0.05)


@pytest.mark.parametrize("name", sampled(COMMANDS, "backup", "probe"))
def test_a_command_whose_disk_is_full_says_so_and_ends(name: str, whole: Path, web: DemoWeb, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        database = disk / "c.db"
        shutil.copyfile(whole, database)
        fill(disk / "other")
        places = {"db": database, "disk": disk, "whole": whole, "backup": whole.with_name("b.db")}
        words = [
            word for part in COMMANDS[name] for word in (("--proxy", web.proxy_url) if part == "{web}" else (part,))
        ]
        command, said = [word.format(**places) for word in words], tmp_path / "said"
        environment = clean_environment(tmp_path)
        process = forked.start(command, env=environment, out=said, err=said)
        try:
            wait_until_said(said, process)
            assert process.wait(5) in (1, 3), "ended by itself"
        except TimeoutError:
            process.send_signal(signal.SIGINT)
            assert process.wait(LIMIT_S) in (0, 3, 130), "ended by one signal"
        text = said.read_text()
        assert any(each in text for each in WORDS), text
        assert "Traceback" not in text and "written again" not in text, text
        (disk / "other").unlink()
        assert forked.geocrawl(("check", "--db", str(database)), env=environment).returncode in (0, 1, 2)
        assert not list(disk.glob(".*.part*"))


@pytest.mark.long
@pytest.mark.parametrize("lost", ["disk", "size of files", "disk of two processes"])
def test_a_crawl_that_loses_its_room_ends_and_the_next_one_goes_on(lost: str, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk, DemoWeb() as web:
        place, log = Place(tmp_path / "home", db=disk / "c.db"), tmp_path / "said"
        options = ("--processes", "2") if "two" in lost else ("--workers", "2")
        crawl = ("crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0.25", "--db", str(place.db), *options)
        process = forked.start(crawl, env=clean_environment(place.folder), out=log, err=log)
        try:
            wait_for(lambda: len(place.settled()) >= 5, "a few visits")
            before = place.settled()
            if lost == "size of files":
                wal = place.db.with_name("c.db-wal").stat().st_size
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (wal, resource.RLIM_INFINITY))
            else:
                fill(disk / "other")
            assert process.wait(LIMIT_S) == 3, "it ended by itself"
        finally:
            process.kill()
            process.wait()
        assert any(each in log.read_text() for each in WORDS) and "Traceback" not in log.read_text()
        (disk / "other").unlink(missing_ok=True)
        assert before <= place.settled() and place.intact()
        place.command("crawl", "--proxy", web.proxy_url, "--delay", "0")
        assert web.expected_valid <= place.valid()
