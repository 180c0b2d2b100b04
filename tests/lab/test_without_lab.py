"""An installation without the laboratory crawls, searches and runs the daemon; its commands are not there."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import geocrawl
from geocrawl.demo import DemoWeb
from tests.support.daemons import Place, wait_for
from tests.support.processes import clean_environment

LIMIT_S = 300


class Installation:
    """A copy of the package without `geocrawl.lab`, and commands run with it."""

    def __init__(self, folder: Path) -> None:
        shutil.copytree(Path(geocrawl.__file__).parent, folder / "geocrawl", ignore=shutil.ignore_patterns("lab"))
        self.folder = folder
        self.environment = {**clean_environment(folder), "PYTHONPATH": str(folder), "COLUMNS": "200"}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self.environment,
            timeout=LIMIT_S,
            check=False,
        )

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "geocrawl", *arguments]

    def answer(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as web:
        yield web


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("installed"))


def test_the_copy_is_what_runs_and_has_no_laboratory(installed: Installation) -> None:
    code = "import geocrawl, importlib.util; print(geocrawl.__file__, importlib.util.find_spec('geocrawl.lab'))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd="/", env=installed.environment, check=True)
    assert done.stdout.split() == [str(installed.folder / "geocrawl" / "__init__.py"), "None"]


@pytest.mark.long
def test_what_a_crawl_finds_is_counted_and_searched(installed: Installation, web: DemoWeb) -> None:
    options = ("--db", "crawl.db", "--proxy", web.proxy_url, "--delay", "0", "--json")
    report = json.loads(installed.answer("crawl", *web.seeds, *options))
    status = json.loads(installed.answer("status", "--db", "crawl.db", "--json"))
    assert status["endpoints"]["valid"] == report["valid"] >= len(web.expected_valid)
    assert f"{report['valid']} valid" in installed.answer("status", "--db", "crawl.db")
    found = json.loads(installed.answer("search", "地图", "--db", "crawl.db", "--format", "json"))
    assert found and all("地图" in service["title"] or service["layers"] for service in found)


@pytest.mark.long
def test_the_daemon_starts_finds_the_services_and_ends(installed: Installation, web: DemoWeb) -> None:
    installed.answer("seeds", "add", *web.seeds, "--db", "daemon.db")
    options = ("--db", "daemon.db", "--proxy", web.proxy_url, "--delay", "0")
    log = installed.folder / "daemon.log"
    with (
        closing(log.open("w")) as file,
        subprocess.Popen(
            installed.command("daemon", *options),
            stdout=file,
            stderr=file,
            cwd=installed.folder,
            env=installed.environment,
        ) as daemon,
    ):
        try:
            found = Place(installed.folder, db=installed.folder / "daemon.db").valid
            wait_for(lambda: len(found()) >= len(web.expected_valid), "the services")
            daemon.send_signal(signal.SIGTERM)
            assert daemon.wait(LIMIT_S) == 0, log.read_text()
        finally:
            if daemon.poll() is None:
                daemon.kill()


def test_help_names_no_command_of_the_laboratory(installed: Installation) -> None:
    names = {words[1] for line in installed.answer("--help").splitlines() if len(words := line.split()) > 2}
    assert {"crawl", "daemon", "search", "status"} <= names
    assert not {"evaluate", "train", "world"} & names
    refused = installed.run("evaluate", "web")
    assert refused.returncode == 2 and "No such command 'evaluate'" in refused.stderr
