"""Commands as people type them: what they print, how they end, and that nothing foreseen ends in a traceback."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from geocrawl.app.probe import candidates_at
from geocrawl.demo import DemoWeb
from geocrawl.fetch.clock import SystemClock
from geocrawl.settings import Settings
from geocrawl.store import Store
from geocrawl.urls import endpoint_key, read_url
from tests.support import forked
from tests.support.daemons import LIMIT_S, wait_for
from tests.support.loopback import Handler, Server, running
from tests.support.processes import clean_environment
from tests.support.samples import sampled
from tests.support.world import ManualClock

pytestmark = pytest.mark.machine

Run = Callable[..., subprocess.CompletedProcess[str]]
Begin = Callable[..., tuple[forked.Started, Path, Path]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    kept = {
        name: value for name, value in os.environ.items() if not name.lower().startswith(("geocrawl", "http", "xdg"))
    }
    return kept | {"HOME": str(home), "COLUMNS": "200", "GEOCRAWL_SIBLINGS": "0"}


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]) -> Run:
    return lambda *arguments: forked.geocrawl(arguments, env=environment, cwd=tmp_path)


@pytest.fixture
def begin(tmp_path: Path, environment: dict[str, str]) -> Begin:
    """Starts a command; returns it, and the files with what it prints."""
    out, err = tmp_path / "out", tmp_path / "err"

    def start(*arguments: str) -> tuple[forked.Started, Path, Path]:
        return forked.start(arguments, env=environment, cwd=tmp_path, out=out, err=err), out, err

    return start


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


@pytest.fixture(scope="module")
def catalogue(web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a person whose catalogue was crawled once, for tests that work on copies."""
    folder = tmp_path_factory.mktemp("crawled")
    command = ("crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0", "--quiet")
    done = forked.geocrawl(command, env=clean_environment(folder, GEOCRAWL_SIBLINGS="0"), cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def crawled(run: Run, catalogue: Path, tmp_path: Path) -> Run:
    shutil.copytree(catalogue, tmp_path / "home", dirs_exist_ok=True)
    return run


WRONG_USE = [
    (("crawl", "notaurl"), 2, "is not a web address"),
    (("crawl", "--seeds", "missing.txt"), 2, "missing.txt"),
    (("crawl", "http://a.example/", "--strategy", "dfs"), 2, "did you mean bfs"),
    (("crawl", "http://a.example/", "--strategy", "gws", "--set", "gws.lamda=1"), 2, "did you mean gws.lambda"),
    (("crawl", "http://a.example/", "--strategy", "gws", "--set", "gws.lambda=2"), 2, "from 0 to 1"),
    (("crawl", "http://a.example/", "--set", "gws.lambda"), 2, "expected KEY=VALUE"),
    (("crawl", "http://a.example/", "--scope", "universe"), 2, "one of any, site, host"),
    (("crawl", "http://a.example/", "--proxy", "socks://127.0.0.1:1"), 2, "expected a proxy such as http://"),
    (("crawl", "http://a.example/", "--db", "mysql://a/b"), 2, "mysql"),
    (("crawl", "http://a.example/", "--db", "postgresql://u:secret@127.0.0.1:9/b"), 3, "cannot be reached"),
    (("crawl", "http://a.example/", "--db", "rubbish.db"), 3, "is not a SQLite database"),
    (("crawl", "http://a.example/", "--max-depth", "9" * 20), 2, "at most 1,000,000"),
    (("probe",), 2, "nothing to probe"),
    (("retry", "--host", "a\udcffb"), 2, "is not a host"),
    (("search", "a\udcffb"), 2, "'a\\udcffb' is not text in UTF-8"),
    (("search", "--bbox", "1,2,3"), 2, "expected W,S,E,N"),
    (("search", "--bbox", "0,50,10,40"), 2, "south below north"),
    (("search", "--format", "xml"), 2, "expected table, json, jsonl or csv"),
    (("status",), 3, "no such database"),
    (("status", "--db", "rubbish.db"), 3, "is not a SQLite database"),
    (("status", "--db", "."), 3, "is a folder; --db names a file in it"),
    (("show", "1"), 3, "no such database"),
    (("export",), 3, "no such database"),
    (("retry",), 3, "no such database"),
    (("config", "check", "wrong.toml"), 2, "did you mean max_pages"),
    (("train", "topic", "missing.jsonl", "--out", "m.json"), 3, "missing.jsonl"),
    (("train", "links", "rubbish.db", "--out", "m.json"), 2, "rubbish.db"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), WRONG_USE, ids=[" ".join(case[0]) for case in WRONG_USE])
def test_what_cannot_be_meant_gets_one_line_and_its_exit_code(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    (tmp_path / "rubbish.db").write_text("rubbish")
    (tmp_path / "wrong.toml").write_text("max_page = 3\n")
    done = run(*arguments)
    assert done.returncode == code
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert (tmp_path / "rubbish.db").read_text() == "rubbish"


def test_a_database_newer_than_the_program_is_refused_and_left_alone(crawled: Run, tmp_path: Path) -> None:
    path = next((tmp_path / "home").rglob("geocrawl.db"))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    for command in (("status",), ("crawl", "http://a.example/"), ("search", "water")):
        done = crawled(*command)
        assert (done.returncode, "newer geocrawl" in done.stderr) == (3, True)


def test_rubbish_lines_of_a_seeds_file_are_numbered_and_the_rest_is_used(
    run: Run, tmp_path: Path, web: DemoWeb
) -> None:
    (tmp_path / "seeds.txt").write_text(f"# start\nrubbish\n\n{web.seeds[0]}\nftp://b.example/\n")
    done = run("crawl", "--seeds", "seeds.txt", "--proxy", web.proxy_url, "--max-depth", "0", "--json")
    assert "seeds.txt, line 2: not a web address" in done.stderr
    assert "seeds.txt, line 5: not a web address" in done.stderr
    assert json.loads(done.stdout)["pages"] == 1


def test_an_unreachable_seed_ends_with_1_and_why_tells_the_cause(run: Run) -> None:
    done = run("crawl", "http://127.0.0.1:9/", "--delay", "0")
    assert (done.returncode, "--allow-private" in done.stdout) == (1, True)
    assert "refused (guard)" in run("why", "http://127.0.0.1:9/").stdout
    done = run("crawl", "http://127.0.0.1:9/x", "--delay", "0", "--allow-private")
    assert done.returncode == 1
    assert "failed (refused)" in run("why", "http://127.0.0.1:9/x").stdout


def test_status_names_the_file_that_it_read_and_makes_none(run: Run, tmp_path: Path) -> None:
    done = run("status")
    assert str(tmp_path / "home") in done.stderr
    assert list((tmp_path / "home").rglob("*.db")) == []


def test_a_catalogue_can_be_seen_searched_and_exported(crawled: Run, tmp_path: Path, web: DemoWeb) -> None:
    valid = len(web.expected_valid)
    status = json.loads(crawled("status", "--json").stdout)
    assert f"endpoints: {status['endpoints']['valid']} valid" in crawled("status").stdout
    found = json.loads(crawled("search", "地图", "--alive", "--format", "json").stdout)
    assert found
    assert all("地图" in row["title"] or row["layers"] for row in found)
    assert found[0]["title"] in crawled("show", str(found[0]["id"])).stdout
    assert crawled("search", 'hostile" OR (NEAR *').returncode == 1
    assert crawled("export", "--format", "csv", "--out", "out.csv").returncode == 0
    header, *rows = (tmp_path / "out.csv").read_text().splitlines()
    assert header.startswith("url,kind,status,title,version,layers,first_seen,last_ok")
    lines = [json.loads(line) for line in crawled("export", "--format", "jsonl").stdout.splitlines()]
    assert len(lines) == len(rows) == sum(status["endpoints"].values()) - status["endpoints"]["unknown"]
    verdicts = [line["status"] for line in lines if line["kind"] == "wms"]
    assert (verdicts.count("valid"), verdicts.count("invalid")) == (valid, len(web.expected_invalid))
    assert sum(",valid," in row for row in rows) == status["endpoints"]["valid"]


def test_what_is_typed_in_utf8_is_read_in_a_locale_without_it(
    crawled: Run, environment: dict[str, str], tmp_path: Path
) -> None:
    posix = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "geocrawl"]

    def in_posix(*arguments: str) -> str:
        return subprocess.run(
            [*command, *arguments], env=environment | posix, cwd=tmp_path, capture_output=True, check=True
        ).stdout.decode()

    assert in_posix("export", "地图", "--out", "地图.csv") == "5 endpoints written to 地图.csv\n"
    assert (tmp_path / "地图.csv").exists()
    assert "/%E5%9C%B0%E5%9B%BE" in in_posix("recognise", "http://a.example/地图?service=wms")


def test_why_tells_rank_parent_and_verdict(crawled: Run, web: DemoWeb) -> None:
    key = sorted(web.expected_valid)[0]
    told = crawled("why", f"http://{key}").stdout
    assert "valid (ok)" in told
    assert "found by" in told
    page = next(address for address, depth in web.content.depths.items() if depth == 2)
    told = crawled("why", page).stdout
    assert "visited, depth 2" in told
    assert "value" in told and "features" in told
    assert "features that speak for it: " in told and "features that speak against it: " in told
    assert crawled("why", "http://never.example/").returncode == 1


def test_probe_gives_one_json_object_a_line_in_the_order_asked(run: Run, web: DemoWeb) -> None:
    good, bad = sorted(web.expected_valid)[0], sorted(web.expected_invalid)[0]
    done = run("probe", f"http://{bad}", f"http://{good}", "--proxy", web.proxy_url, "--delay", "0", "--json")
    first, second = [json.loads(line) for line in done.stdout.splitlines()]
    assert (first["status"], first["reason"]) == ("invalid", web.expected_invalid[bad])
    assert (second["status"], second["kind"], second["layers"] > 0) == ("valid", "wms", True)
    assert done.returncode == 0
    assert run("probe", f"http://{bad}", "--proxy", web.proxy_url, "--delay", "0").returncode == 1


def test_probe_obeys_robots_unless_told_otherwise(run: Run, web: DemoWeb) -> None:
    (key,) = web.content.refused
    options = (f"http://{key}", "--proxy", web.proxy_url, "--delay", "0", "--json")
    assert json.loads(run("probe", *options).stdout)["status"] == "refused"
    assert json.loads(run("probe", *options, "--ignore-robots").stdout)["status"] != "refused"


def test_a_list_is_probed_saved_and_not_asked_again(run: Run, tmp_path: Path, web: DemoWeb) -> None:
    keys = [*sorted(web.expected_valid), *sorted(web.expected_invalid)]
    (tmp_path / "list.csv").write_text("name,url\n" + "".join(f"x,http://{key}\n" for key in keys))
    options = ("probe", "--file", "list.csv", "--save", "--proxy", web.proxy_url, "--delay", "0", "--json")
    lines = [json.loads(line) for line in run(*options).stdout.splitlines()]
    assert {line["status"] for line in lines} == {"valid", "invalid"}
    assert len(lines) == len(keys)
    status = json.loads(run("status", "--json").stdout)
    others = [line for line in lines if line["kind"] != "wms"]
    assert {line["kind"] for line in others} == {"wfs"}
    assert status["endpoints"] == {"valid": len(web.expected_valid) + len(others), "invalid": len(web.expected_invalid)}


def test_a_saved_probe_asks_for_its_own_addresses_alone(run: Run, tmp_path: Path, web: DemoWeb) -> None:
    first, second, *waiting = sorted(web.expected_valid)
    options = ("--save", "--proxy", web.proxy_url, "--delay", "0", "--json", "--db", "c.db")
    assert run("probe", f"http://{second}", *options).returncode == 0
    candidates = candidates_at(url for url in map(read_url, (f"http://{key}" for key in waiting)) if url)
    with Store.open(tmp_path / "c.db", clock=SystemClock()) as store:
        settings = Settings()
        store.frontier(settings, store.catalog()).add_candidates(candidates)
        assert store.database.connection.execute("UPDATE url SET retry_at = 1 WHERE state = 'visited'").rowcount
    before = len(web.requests)
    done = run("probe", f"http://{first}", *options)
    assert [json.loads(line)["status"] for line in done.stdout.splitlines()] == ["valid"]
    host = first.partition("/")[0]
    assert {request.url.partition("://")[2].partition("/")[0] for request in web.requests[before:]} == {host}
    assert json.loads(run("status", "--json", "--db", "c.db").stdout)["frontier"]["probes_waiting"] >= len(waiting)
    again = [json.loads(line)["status"] for line in run("probe", f"http://{first}", *options).stdout.splitlines()]
    assert again == ["valid"]


def test_an_interrupted_list_goes_on_where_it_was(run: Run, begin: Begin, tmp_path: Path) -> None:
    with DemoWeb(latency_s=0.1) as web:
        keys = sorted(web.expected_valid)
        (tmp_path / "list.txt").write_text("".join(f"http://{key}\n" for key in keys))
        options = ("probe", "--file", "list.txt", "--proxy", web.proxy_url, "--delay", "0", "--json", "--workers", "1")
        process, out, _ = begin(*options)
        wait_for(lambda: out.exists() and "\n" in out.read_text(), "a first verdict")
        process.send_signal(signal.SIGTERM)
        process.wait(LIMIT_S)
        early = out.read_text().splitlines()
    with DemoWeb() as web:
        lines = run(*(web.proxy_url if word == options[4] else word for word in options)).stdout.splitlines()
        again = [request.url.partition("://")[2] for request in web.requests if request.kind == "service"]
    assert 0 < len(early) < len(keys)
    assert len(lines) == len(keys)
    settled = [endpoint_key(url) for url in map(read_url, (json.loads(line)["url"] for line in early)) if url]
    assert settled and not {endpoint_key(url) for url in map(read_url, map("http://".__add__, again)) if url} & {
        *settled
    }


@pytest.mark.parametrize(
    ("number", "code"), sampled([(signal.SIGINT, 130), (signal.SIGTERM, 0), (signal.SIGHUP, 0)], (signal.SIGINT, 130))
)
def test_a_signal_settles_what_is_under_way_and_prints_a_summary(
    run: Run, begin: Begin, number: signal.Signals, code: int
) -> None:
    with DemoWeb(latency_s=0.1) as web:
        process, out, err = begin("crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0")
        wait_for(lambda: len(web.requests) >= 20, "twenty requests")
        process.send_signal(number)
        assert process.wait(LIMIT_S) == code
    assert "under way (Ctrl-C again: at once)" in err.read_text()
    assert "continues from here" in out.read_text()
    with DemoWeb() as web:
        done = run("crawl", "--proxy", web.proxy_url, "--delay", "0", "--json")
        assert json.loads(done.stdout)["services"] >= len(web.expected_valid)


def test_a_second_ctrl_c_cuts_off_what_is_under_way(begin: Begin, environment: dict[str, str]) -> None:
    """The server never answers; the visits could settle for an hour."""
    asked, ended = threading.Event(), threading.Event()

    class Silent(Handler):
        def respond(self) -> None:
            asked.set()
            ended.wait()

    environment |= {"GEOCRAWL_SETTLE": "1h", "GEOCRAWL_READ_TIMEOUT": "2h", "GEOCRAWL_TOTAL_TIMEOUT": "2h"}
    with running(Server(Silent)) as server:
        url = f"http://127.0.0.1:{server.server_port}/page"
        process, out, err = begin("crawl", url, "--allow-private", "--json", "--log-json")
        assert asked.wait(LIMIT_S)
        process.send_signal(signal.SIGINT)
        wait_for(lambda: "Stopping, 1 request under way" in err.read_text(), "the first signal's line")
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_S) == 130
        ended.set()
    assert json.loads(out.read_text())["stopped"] == "signal"


def test_a_current_folder_that_is_no_more_is_one_line(tmp_path: Path, environment: dict[str, str]) -> None:
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    program = str(Path(sys.executable).with_name("geocrawl"))
    command = ["sh", "-c", script, "sh", program, "status"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert done.returncode == 3
    assert done.stderr == "geocrawl: the current folder: No such file or directory; change to another one (cd)\n"


LIST_MODULES = (
    "import sys; sys.argv = ['geocrawl', *sys.argv[1:]]\n"
    "from geocrawl.cli import main\n"
    "try: main()\n"
    "except SystemExit as end: assert not end.code\n"
    "print('LOADED', *sys.modules)"
)
"""A program that runs a command and lists the modules that it loaded."""
HEAVY = {"sqlmodel", "sqlalchemy", "alembic", "jieba", "lxml", "selectolax", "owslib", "numpy", "scipy"}


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_nothing_that_is_slow_to_load(option: str) -> None:
    done = subprocess.run([sys.executable, "-c", LIST_MODULES, option], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stdout.rpartition("LOADED ")[2].split()) == set()


def test_status_imports_nothing_but_what_reads_a_database(tmp_path: Path) -> None:
    Store.open(str(tmp_path / "c.db"), clock=ManualClock()).close()
    command = [sys.executable, "-c", LIST_MODULES, "status", "--db", str(tmp_path / "c.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stdout.rpartition("LOADED ")[2].split()) == {"sqlalchemy"}


@pytest.mark.long
def test_a_crawl_of_default_settings_uses_each_package_that_it_is_built_on(tmp_path: Path) -> None:
    with DemoWeb() as web:
        where = ("--proxy", web.proxy_url, "--delay", "0", "--quiet", "--db", str(tmp_path / "c.db"))
        command = [sys.executable, "-c", LIST_MODULES, "crawl", *web.seeds, *where]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.rpartition("LOADED ")[2].split())
    assert {"httpx", "jieba", "lxml", "owslib", "shapely", "sqlmodel"} - loaded == set()


@pytest.mark.long
def test_two_crawls_on_one_database_share_the_work(tmp_path: Path, environment: dict[str, str]) -> None:
    with DemoWeb(latency_s=0.02) as web:
        command = ("crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0", "--json", "--db", "c.db")
        outputs = [tmp_path / name for name in ("one", "two")]
        both = [forked.start(command, env=environment, cwd=tmp_path, out=out, err=tmp_path / "err") for out in outputs]
        assert [process.wait(2 * LIMIT_S) for process in both] == [0, 0]
        assert max(json.loads(out.read_text())["services"] for out in outputs) >= len(web.expected_valid)
        asked = [request.url for request in web.requests if request.kind == "page"]
        assert len(asked) == len(set(asked))
        assert set(web.most_at_once.values()) == {1}


def test_why_explains_an_address_although_the_stored_state_is_damaged(run: Run, tmp_path: Path, web: DemoWeb) -> None:
    crawl = ("crawl", *web.seeds, "--proxy", web.proxy_url, "--delay", "0", "--quiet", "--max-pages", "5")
    assert run(*crawl, "--strategy", "adaptive").returncode in (0, 1)
    path = next((tmp_path / "home").rglob("geocrawl.db"))
    for dump in (b"rubbish", b"[1, 2]"):
        with sqlite3.connect(path) as database:
            database.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('strategy:state', ?)", (dump,))
        database.close()
        told = run("why", web.seeds[0])
        assert told.returncode == 0, told.stderr
        assert "depth 0" in told.stdout
        assert len(told.stderr.strip().splitlines()) == 1, told.stderr
        assert "what adaptive has learnt cannot be read" in told.stderr


def test_a_harvest_of_a_private_address_says_how_to_allow_it(run: Run) -> None:
    done = run("harvest", "http://127.0.0.1:9/csw")
    assert done.returncode == 1 and " at a private address." in done.stdout
    assert "The same command with --allow-private reads them." in done.stdout and "geocrawl crawl" not in done.stdout


def test_a_private_address_that_was_refused_is_asked_once_it_is_allowed(run: Run) -> None:
    page = "http://127.0.0.1:9/"  # nobody listens there, which is an answer of the network
    assert "The same command with --allow-private reads them." in run("crawl", page).stdout
    assert "refused (guard)" in run("why", page).stdout
    done = run("crawl", page, "--allow-private", "--patience", "0")
    assert "1 address skipped before will be asked" in done.stderr
    assert "guard" not in run("why", page).stdout


@pytest.mark.parametrize("command", [("show",), ("history",), ("merge", "1"), ("split", "1")])
def test_what_names_no_service_gets_the_two_ways_to_name_one(crawled: Run, command: tuple[str, ...]) -> None:
    done = crawled(*command, "water")
    assert (done.returncode, done.stderr) == (
        2,
        "geocrawl: 'water' is neither the number of a service (`geocrawl search` prints numbers) nor a web address; "
        "expected one such as https://www.example.org/\n",
    )


def test_failed_addresses_of_a_host_are_queued_however_its_name_is_written(crawled: Run) -> None:
    failed = json.loads(crawled("status", "--json").stdout)["failures"]
    host = failed[0][0].split("/")[2]
    assert json.loads(crawled("retry", "--host", f"http://{host.upper()}/", "--json").stdout)["retried"] > 0
