"""What systemd makes of the unit: its start, its rights and its limits, and what people do with it."""

from __future__ import annotations

import json

import pytest

from geocrawl.demo.web import build_content
from tests.systemd.service import CONFIGURATION, DB, GEOCRAWL, MEMBER, STRANGER, Service

pytestmark = pytest.mark.systemd

UNIT = "/etc/systemd/system/geocrawl.service"


def test_installing_makes_an_account_without_a_shell_and_a_unit_that_systemd_takes(installed: Service) -> None:
    account = installed.container.say("getent", "passwd", "geocrawl").strip().split(":")
    assert account[5:] == ["/var/lib/geocrawl", "/usr/sbin/nologin"]
    done = installed.container.run("systemd-analyze", "verify", UNIT)
    assert done.exit_code == 0 and "geocrawl" not in done.stderr, done.stderr
    assert installed.systemctl("is-enabled", "geocrawl").stdout == "enabled\n"


def test_its_exposure_is_at_most_two(installed: Service) -> None:
    assert 0 < installed.exposure() <= 2.0


def test_it_is_ready_when_it_says_so_and_tells_what_it_does(service: Service) -> None:
    assert service.show("Type") == "notify" and service.show("ActiveState") == "active"
    service.wait_for(lambda: " pages" in service.show("StatusText"), "a status line")
    assert service.status()["daemon"]["pid"] == int(service.main_pid())


def test_it_finds_services_under_all_limits(service: Service) -> None:
    expected = build_content().expected_valid
    service.wait_for(lambda: service.valid() >= expected, "the demo's services")
    signs = ("Operation not permitted", "Traceback", "reading-")
    refused = [line for line in service.journal() if any(sign in line for sign in signs)]
    assert not refused


def test_its_limits_hold_for_the_process(service: Service) -> None:
    enforced = service.enforced()
    wanting = {"MemoryMax", "TasksMax", "IPAddressDeny"}  # a container may have neither controllers nor BPF filters
    assert {name for name, holds in enforced.items() if not holds} <= wanting


def test_it_reads_its_configuration_again(service: Service) -> None:
    process, before = service.main_pid(), service.count("configuration read again")
    service.configure(CONFIGURATION + "pages_per_day = 1\n")
    assert service.systemctl("reload", "geocrawl").exit_code == 0
    service.wait_for(lambda: service.count("configuration read again") > before, "a word about it")
    service.wait_for(lambda: "probes only" in service.show("StatusText"), "the new setting in force")
    assert service.main_pid() == process and service.show("ActiveState") == "active"
    service.configure(CONFIGURATION)
    assert service.systemctl("reload", "geocrawl").exit_code == 0


@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
def test_a_member_of_the_group_needs_no_sudo(service: Service, running: bool) -> None:
    service.wait_for(service.valid, "a service")
    if not running:
        service.stop()
    assert service.member_codes() == {"status": 0, "search": 0, "export": 0, "pause": 0, "resume": 0, "seeds": 0}
    assert service.start() > 0, "the daemon takes up what a member has touched"
    files = service.container.say("find", "/var/lib/geocrawl", "-type", "f", "-printf", "%g %M %f\n").splitlines()
    assert all(line.startswith("geocrawl -rw-rw-") for line in files), files
    assert len(files) == 4 and sum("-alive-" in line for line in files) == 1, (
        "the database, two files beside it, a lock"
    )


def test_a_member_in_a_folder_that_is_closed_to_him_is_no_less_a_member(service: Service) -> None:
    command = f"cd /root && setpriv --reuid={MEMBER} --regid={MEMBER} --init-groups env HOME=/home/{MEMBER} "
    assert service.container.run("sh", "-c", command + f"{GEOCRAWL} status --db {DB}").exit_code == 0


def test_a_stranger_is_told_that_it_is_not_for_him(service: Service) -> None:
    done = service.geocrawl("status", "--db", "/var/lib/geocrawl/geocrawl.db", user=STRANGER)
    assert done.exit_code == 3 and "Permission denied; members of the folder's group" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_stranger_who_may_not_read_the_services_settings_has_his_own(service: Service) -> None:
    done = service.geocrawl("status", user=STRANGER)
    assert done.exit_code == 3 and ".local/share/geocrawl/geocrawl.db: no such database" in done.stderr


def test_a_backup_of_the_running_one_is_whole_and_can_be_restored_by_root(service: Service) -> None:
    service.wait_for(service.valid, "a service")
    done = service.geocrawl("backup", "/var/backups/copy.db")
    assert done.exit_code == 0 and "checked" in done.stdout
    refused = service.geocrawl("restore", "/var/backups/copy.db")
    assert refused.exit_code == 3 and "stop it first" in refused.stderr
    service.stop()
    assert service.geocrawl("restore", "/var/backups/copy.db").exit_code == 0
    service.start()
    copied = json.loads(service.geocrawl("status", "--json", "--db", "/var/backups/copy.db").stdout)
    assert service.status()["services"] >= copied["services"] > 0
    assert service.geocrawl("seeds", "add", "http://www.norvale-courier.example/", user=MEMBER).exit_code == 0


def test_it_writes_its_metrics_for_another_group_as_the_manual_says(service: Service) -> None:
    folder = "/var/lib/prometheus/node-exporter"
    service.container.say("groupadd", "--force", "scrapers")
    service.container.say("install", "--directory", "--group=scrapers", "--mode=2775", folder)
    service.drop_in(f"[Service]\nReadWritePaths={folder}\nSupplementaryGroups=scrapers\n")
    service.configure(CONFIGURATION + f'metrics_file = "{folder}/geocrawl.prom"\n')
    service.start()
    service.wait_for(
        lambda: "geocrawl_up 1" in service.container.run("cat", f"{folder}/geocrawl.prom", user=STRANGER).stdout,
        "figures that all may read",
    )
