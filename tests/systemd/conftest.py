"""One booted container for all tests of this folder; where the machine lets none be booted they are skipped.

Also in CI: what a container may do there is not ours to say. What is not installed there fails in `.ci/run` itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from geocrawl.demo.web import SEEDS
from tests.systemd.container import CannotBootError
from tests.systemd.service import CONFIGURATION, MEMBER, Service, machine

QUICKLY = "[Service]\nRestartSec=100ms\n"
"""The unit waits 15 s before it starts a failed process again; the tests do not."""


@pytest.fixture(scope="session")
def installed() -> Iterator[Service]:
    """geocrawl as README.md of `systemd/` says: installed, start pages added by root, enabled and started."""
    try:
        with machine() as service:
            assert service.geocrawl("service", "install").exit_code == 0
            service.configure(CONFIGURATION)
            assert service.geocrawl("seeds", "add", *SEEDS).exit_code == 0
            assert service.systemctl("enable", "--now", "geocrawl").exit_code == 0
            service.container.say("usermod", "--append", "--groups=geocrawl", MEMBER)
            yield service
    except CannotBootError as reason:
        pytest.skip(str(reason))


@pytest.fixture
def service(installed: Service) -> Iterator[Service]:
    """The running service; what a test changed in its configuration is undone."""
    if installed.show("ActiveState") != "active":
        installed.start()
    yield installed
    installed.configure(CONFIGURATION)
    installed.drop_in("")
