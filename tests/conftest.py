"""Fixtures shared by all rooms' tests."""

from __future__ import annotations

import gc
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.memory import resident_mib
from tests.support.parts import OPENSSL, RECORDED, lack, skipped_parts
from tests.support.places import shared_folder
from tests.support.postgres import Server, running_server
from tests.support.receivers import Hook, MailServer, mail_server, webhook
from tests.support.tls_zoo import make_zoo

# How long an example takes says nothing here: machines are busy, and the first Chinese text loads a dictionary. Half of
# hypothesis's usual number of examples, new ones at every run, keep the tests within some minutes.
settings.register_profile("untimed", deadline=None, max_examples=50)
settings.load_profile("untimed")


# Objects of modules and tests stay: looking through them again and again was a third of the CPU time of collection.
gc.disable()

TESTS = Path(__file__).parent
RARE_MARKS = ("servers", "systemd", "acceptance", "long")
RARE_LIMIT_S = 900.0
OF_THE_MACHINE = ("browser", "config")
"""Rooms whose tests depend on the machine or the user. In the others a test that does so has the mark `machine`: it
needs namespaces, for example, or sees who may read a file."""
ROOM_MB = 1000


def pytest_sessionstart(session: pytest.Session) -> None:
    """End the run with one line where there is no room for what the tests write."""
    folder = tempfile.gettempdir()
    free_mb = shutil.disk_usage(folder).free >> 20
    if free_mb < ROOM_MB and not hasattr(session.config, "workerinput"):
        advice = f"{folder} has {free_mb} MB free, and tests need {ROOM_MB}: make room, or name a folder by TMPDIR"
        pytest.exit(advice, returncode=3)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that depend on neither machine nor user, and give those that `make test` leaves out more time."""
    above = len(f"{TESTS}/")
    for item in items:
        room = str(item.path)[above:].partition("/")[0]
        depends = "shared" in getattr(item, "fixturenames", ()) or item.get_closest_marker("machine")
        if not depends and room not in OF_THE_MACHINE:
            item.add_marker(pytest.mark.anywhere)
        if any(item.get_closest_marker(name) for name in RARE_MARKS) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(RARE_LIMIT_S))


_GROWTH_MIB = 100
_resident_at_last = 0.0


def pytest_collection_finish() -> None:
    """Collect garbage rarely, and none of modules and tests: looking through them is a tenth of a run's CPU time."""
    gc.set_threshold(50_000, 10, 10)
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Collect what a test left in cycles, which of a crawl is tens of megabytes.

    What was old before it was left is found by looking through everything, once the process has grown.
    """
    global _resident_at_last
    gc.collect(1)
    if resident_mib() > _resident_at_last + _GROWTH_MIB:
        gc.collect()
        _resident_at_last = resident_mib()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end of a run which parts this machine lacks, how many tests skipped for each, and how to get it."""
    skipped = terminalreporter.getreports("skipped")
    lines = skipped_parts(report.longrepr[2] for report in skipped if isinstance(report.longrepr, tuple))
    if lines:
        terminalreporter.section("skipped for want of a part")
    for line in lines:
        terminalreporter.line(line)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded worlds and answers beside the checkout; a test skips without it, in CI it fails."""
    folder = shared_folder()
    if not (folder / "corpus").is_dir():
        lack(RECORDED)
    return folder


@pytest.fixture
def hook() -> Iterator[Hook]:
    """A receiver of webhooks on loopback."""
    with webhook() as opened:
        yield opened


@pytest.fixture
def mails() -> Iterator[MailServer]:
    """A mail server on loopback."""
    with mail_server() as opened:
        yield opened


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the zoo's certificates; that of the authority to trust is `authority.pem`."""
    if shutil.which("openssl") is None:
        lack(OPENSSL)
    folder = tmp_path_factory.mktemp("zoo")
    make_zoo(folder)
    return folder


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A server of PostgreSQL for the tests of a session; without one installed a test skips, in CI it fails."""
    with running_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """The URL of a new database of PostgreSQL that has our tables."""
    url = postgres_server.new_catalogue()
    yield url
    postgres_server.drop(url)
