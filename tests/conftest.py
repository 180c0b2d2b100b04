"""Fixtures shared by all rooms' tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.postgres import Server, running_server
from tests.support.receivers import Hook, MailServer, mail_server, webhook
from tests.support.tls_zoo import make_zoo

# How long an example takes says nothing here: machines are busy, and the first Chinese text loads a dictionary. Half of
# hypothesis's usual number of examples, new ones at every run, keep the tests within some minutes.
settings.register_profile("untimed", deadline=None, max_examples=50)
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded worlds and answers beside the checkout; a test skips without it, in CI it fails."""
    folder = Path(os.environ.get("GEOCRAWL_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    if not (folder / "corpus").is_dir():
        reason = f"recorded worlds and answers are not at {folder} (set GEOCRAWL_SHARED)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
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
        pytest.skip("the openssl command makes the certificates")
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
