"""The daemon as a process, on the small web of the demo."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from geocrawl.demo.web import DemoWeb
from tests.support import forked
from tests.support.processes import clean_environment
from tests.support.receivers import serving

LIMIT_S = 300


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


class Running:
    """A daemon under way."""

    def __init__(self, process: forked.Started, log: Path) -> None:
        self.process = process
        self._log = log

    def log(self) -> str:
        return self._log.read_text("utf-8") if self._log.exists() else ""

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(LIMIT_S)


@contextmanager
def daemon(
    tmp_path: Path, web: DemoWeb, *options: str, where: Sequence[str] | None = None, **environ: str
) -> Iterator[Running]:
    log = tmp_path / f"daemon-{time.monotonic_ns()}.log"
    where = ("--db", str(tmp_path / "c.db")) if where is None else where
    command = ("daemon", *where, "--proxy", web.proxy_url, "--delay", "0", *options)
    process = forked.start(command, env=clean_environment(tmp_path, **environ), out=log, err=log)
    try:
        yield Running(process, log)
    finally:
        process.kill()
        process.wait()


def wait_for(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, f"{what}: not within {LIMIT_S} s"
        time.sleep(0.1)


def command(tmp_path: Path, *arguments: str) -> str:
    done = forked.geocrawl((*arguments, "--db", str(tmp_path / "c.db")), env=clean_environment(tmp_path))
    assert done.returncode == 0, done.stderr
    return done.stdout


def configured(tmp_path: Path, text: str) -> Path:
    config = tmp_path / ".config" / "geocrawl" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text)
    return config


def ask(tmp_path: Path, statement: str) -> object:
    path = tmp_path / "c.db"
    if not path.is_file():
        return None
    try:
        with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as connection:
            row = connection.execute(statement).fetchone()
    except sqlite3.OperationalError:
        return None
    return row[0] if row else None


LESSONS = "SELECT count(*) FROM lesson"
STRATEGY = "SELECT value FROM meta WHERE name = 'strategy'"
VALID = "SELECT count(*) FROM endpoint WHERE status = 'valid' AND kind = 'wms'"


def test_it_starts_with_the_seeds_in_its_database_and_fills_the_catalogue(tmp_path: Path, web: DemoWeb) -> None:
    command(tmp_path, "seeds", "add", *web.seeds)
    with daemon(tmp_path, web) as running:
        wait_for(lambda: int(str(ask(tmp_path, VALID) or 0)) >= len(web.expected_valid), "the demo's services")
        wait_for(lambda: ask(tmp_path, "SELECT sum(value) FROM daily WHERE name = 'pages'"), "the day's figures")
        status = json.loads(command(tmp_path, "status", "--json"))
        assert status["running"] is True and status["daemon"]["pid"] == running.process.pid
        assert running.end() == 0
    assert json.loads(command(tmp_path, "status", "--json"))["running"] is False


def test_without_seeds_it_says_so(tmp_path: Path, web: DemoWeb) -> None:
    with daemon(tmp_path, web) as running:
        wait_for(lambda: "geocrawl seeds add" in running.log(), "a word about seeds")


def test_a_second_daemon_names_the_holder_and_ends_with_3(tmp_path: Path, web: DemoWeb) -> None:
    with daemon(tmp_path, web) as first:
        wait_for(lambda: "started" in first.log(), "the first one")
        with daemon(tmp_path, web) as second:
            assert second.process.wait(LIMIT_S) == 3
        assert f"process {first.process.pid} on {socket.gethostname()}, since " in second.log()


def test_a_killed_daemon_is_followed_by_another_at_once(tmp_path: Path, web: DemoWeb) -> None:
    with daemon(tmp_path, web) as first:
        wait_for(lambda: "started" in first.log(), "the first one")
        first.end(signal.SIGKILL)
        with daemon(tmp_path, web) as second:
            wait_for(lambda: "started" in second.log(), "the second one")


def test_a_pause_and_a_reload_reach_it_through_the_database(tmp_path: Path, web: DemoWeb) -> None:
    with daemon(tmp_path, web) as running:
        wait_for(lambda: "started" in running.log(), "the daemon")
        assert f"process {running.process.pid}" in command(tmp_path, "pause")
        wait_for(lambda: "paused" in running.log(), "the pause")
        command(tmp_path, "seeds", "add", *web.seeds)
        command(tmp_path, "reload")
        wait_for(lambda: "configuration read again" in running.log(), "the reload")
        assert ask(tmp_path, VALID) == 0, "it rests"
        command(tmp_path, "resume")
        wait_for(lambda: ask(tmp_path, VALID), "services after the rest")
        running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: running.log().count("configuration read again") == 2, "the reload by signal")
        assert running.end() == 0


def test_a_configuration_that_cannot_be_meant_leaves_the_former_one(tmp_path: Path, web: DemoWeb) -> None:
    config = configured(tmp_path, "pages_per_day = 100\n")
    with daemon(tmp_path, web) as running:
        wait_for(lambda: "started" in running.log(), "the daemon")
        config.write_text("pages_per_day = 'many'\n")
        running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "the former one stays" in running.log(), "a word about the mistake")
        assert running.process.poll() is None


@pytest.mark.long
def test_a_retry_after_of_one_page_outlives_a_step_of_the_clock_and_a_reload(tmp_path: Path, web: DemoWeb) -> None:
    asked = list[str]()

    class Busy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(503 if self.path.endswith("/busy") else 404)
            self.send_header("Retry-After", "3600")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    command(tmp_path, "seeds", "add", "http://www.example/busy")
    with (
        serving(ThreadingHTTPServer(("127.0.0.1", 0), Busy)) as port,
        daemon(tmp_path, web, "--proxy", f"http://127.0.0.1:{port}") as running,
    ):
        wait_for(lambda: running.log().count("reason=http-503") == 1, "the first visit")
        with closing(sqlite3.connect(tmp_path / "c.db", isolation_level=None)) as database:
            database.execute("UPDATE url SET retry_at = 0")  # as after a step of the clock
        running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: running.log().count("reason=http-503") == 2, "the second visit")
        assert running.end() == 0
    assert asked == ["http://www.example/robots.txt", "http://www.example/busy"]


@pytest.mark.parametrize("refused", ['stop_rules = "nope.toml"', '[set]\n"gws.nonsense" = 1'])
def test_a_refused_reload_changes_nothing(tmp_path: Path, web: DemoWeb, refused: str) -> None:
    command(tmp_path, "seeds", "add", *web.seeds)
    config = configured(tmp_path, 'strategy = "fusion"\n')
    with daemon(tmp_path, web) as running:
        wait_for(lambda: ask(tmp_path, LESSONS), "lessons")
        config.write_text(f'strategy = "bfs"\n{refused}\n')
        running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "the former one stays" in running.log(), "a word about the mistake")
        assert ask(tmp_path, STRATEGY) == b"fusion" and ask(tmp_path, LESSONS), "neither the order nor what was learnt"
        assert running.end() == 0


def test_settings_without_effect_are_named(tmp_path: Path, web: DemoWeb) -> None:
    config = configured(tmp_path, "processes = 4\n")
    with daemon(tmp_path, web) as running:
        wait_for(lambda: "started" in running.log(), "the daemon")
        assert "settings without effect in the daemon" in running.log() and "processes" in running.log()
        config.write_text("log_json = true\nworkers = 2\n")
        running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "configuration read again" in running.log(), "the reload")
        said = [line for line in running.log().splitlines() if "started again" in line]
        assert len(said) == 1 and "log_json" in said[0] and "workers" not in said[0]
        assert running.end() == 0


def test_a_reload_that_names_another_database_keeps_the_one_it_has(tmp_path: Path, web: DemoWeb) -> None:
    config = configured(tmp_path, f'db = "{tmp_path / "c.db"}"\n')
    with daemon(tmp_path, web, where=()) as running:
        wait_for(lambda: "started" in running.log(), "the daemon")
        config.write_text(f'db = "{tmp_path / "other.db"}"\nstrategy = "bfs"\n')
        running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "configuration read again" in running.log(), "the reload")
        assert "settings that change when the daemon is started again settings=db" in running.log().replace("  ", " ")
        assert ask(tmp_path, STRATEGY) == b"bfs" and not (tmp_path / "other.db").exists()
        assert running.end() == 0


def test_it_tells_systemd_that_it_is_ready_alive_and_stopping(tmp_path: Path, web: DemoWeb) -> None:
    address = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(address))
        receiver.settimeout(LIMIT_S)
        with daemon(tmp_path, web, NOTIFY_SOCKET=str(address), WATCHDOG_USEC="2000000") as running:
            heard = [receiver.recv(4096).decode() for _ in range(3)]
            assert heard[0] == "READY=1"
            assert all("WATCHDOG=1" in each and "STATUS=" in each for each in heard[1:])
            running.process.send_signal(signal.SIGTERM)
            while "STOPPING=1" not in heard[-1]:
                heard.append(receiver.recv(4096).decode())
            assert running.process.wait(LIMIT_S) == 0


def test_the_day_is_over_when_its_pages_are_spent_but_probes_go_on(tmp_path: Path, web: DemoWeb) -> None:
    command(tmp_path, "seeds", "add", *web.seeds)
    configured(tmp_path, "pages_per_day = 12\n")
    with daemon(tmp_path, web, "--workers", "1") as running:
        wait_for(lambda: ask(tmp_path, "SELECT value FROM daily WHERE name = 'pages'") == 12, "twelve pages")
        time.sleep(6)
        assert ask(tmp_path, "SELECT value FROM daily WHERE name = 'pages'") == 12
        assert running.end() == 0
    with daemon(tmp_path, web, "--workers", "1") as again:
        wait_for(lambda: "started" in again.log(), "the second one")
        time.sleep(6)
        assert ask(tmp_path, "SELECT value FROM daily WHERE name = 'pages'") == 12, "a restart is no new day"
