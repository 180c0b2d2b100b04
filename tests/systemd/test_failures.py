"""What systemd does when the service fails, and when it is taken away."""

from __future__ import annotations

import time

import pytest

from tests.systemd.conftest import QUICKLY
from tests.systemd.service import CONFIG, CONFIGURATION, DB, Service

pytestmark = pytest.mark.systemd


def test_a_killed_process_is_followed_by_another_that_goes_on(service: Service) -> None:
    service.drop_in(QUICKLY)
    killed = service.main_pid()
    service.hit("KILL")
    assert service.main_pid() != killed
    assert service.status()["daemon"]["pid"] == int(service.main_pid()), "it took over the lease on the database"


def test_a_frozen_process_is_ended_by_the_watchdog_and_followed_by_another(service: Service) -> None:
    service.drop_in(QUICKLY + "WatchdogSec=10\n")
    service.start()
    frozen = service.main_pid()
    time.sleep(12)
    assert service.main_pid() == frozen, "while it lives it says so in time"
    service.hit("STOP")
    assert any(line.endswith("Watchdog timeout (limit 10s)!") for line in service.journal())
    assert any("code=killed, status=6/ABRT" in line for line in service.journal())
    assert service.status()["daemon"]["pid"] == int(service.main_pid()) != int(frozen)


def test_it_stops_in_the_units_time_and_says_so_in_the_database(service: Service) -> None:
    service.stop()
    assert (service.show("Result"), service.show("ExecMainStatus")) == ("success", "0"), "no timeout, no SIGKILL"
    assert service.status()["running"] is False


def test_a_configuration_that_cannot_be_meant_ends_it_with_2_and_it_is_not_started_again(service: Service) -> None:
    service.drop_in(QUICKLY)
    service.configure(CONFIGURATION + "pages_per_day = 'many'\n")
    assert service.systemctl("restart", "geocrawl").exit_code != 0
    assert service.show("ExecMainStatus") == "2"
    begun = service.show("ExecMainStartTimestampMonotonic")
    time.sleep(1)
    assert service.show("ActiveState") == "failed" and service.show("ExecMainStartTimestampMonotonic") == begun
    assert any(f"/{CONFIG}: pages_per_day" in line for line in service.journal()), "the journal names file and setting"


def test_uninstalling_leaves_the_catalogue_and_the_configuration(service: Service) -> None:
    service.wait_for(service.valid, "a service")
    assert service.geocrawl("service", "uninstall").exit_code == 0
    assert service.systemctl("status", "geocrawl").exit_code == 4, "no such unit"
    assert service.valid() and (service.container.root / CONFIG).read_text() == CONFIGURATION
    assert (service.container.root / DB.lstrip("/")).stat().st_size > 0
    again = service.geocrawl("service", "install")
    assert again.exit_code == 0 and f"kept     /{CONFIG}" in again.stdout
    assert service.systemctl("enable", "--now", "geocrawl").exit_code == 0
    assert service.valid(), "and with the same catalogue after another installation"
