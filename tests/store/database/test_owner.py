"""An owner is judged dead only where its process could be asked for; what former versions wrote is understood."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from geocrawl.store.database.owner import Owner, is_dead, started_ticks, this_process
from tests.support.parts import NAMESPACES, ROOT_USER, lack
from tests.support.world import World

HERE = replace(this_process(), boot="0123abcd", namespace="4026531836")


def ended_pid() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_what_is_stored_names_all_that_is_known_and_is_read_again() -> None:
    assert Owner.read(HERE.text) == HERE
    assert HERE.text == f"{HERE.machine} 0123abcd 4026531836 {HERE.started}:{os.getpid()}"
    assert str(HERE) == f"process {os.getpid()} on {HERE.machine}"


def test_this_process_runs() -> None:
    assert this_process().is_running(this_process()) is True


@pytest.mark.parametrize("text", ["", "nobody", "somewhere:", "somewhere:x"])
def test_a_text_that_names_no_process_is_never_dead(text: str) -> None:
    assert not is_dead(text, HERE)


def test_a_row_of_a_former_version_is_judged_by_the_number_of_the_process_alone() -> None:
    assert is_dead(f"{HERE.machine}:{ended_pid()}", HERE)
    assert not is_dead(f"{HERE.machine}:{os.getpid()}", HERE)
    assert not is_dead(f"elsewhere:{ended_pid()}", HERE)


@pytest.mark.parametrize(
    ("other", "running"),
    [
        ({}, False),
        ({"machine": "elsewhere"}, None),
        ({"namespace": "4026532000"}, None),
        ({"namespace": "4026532000", "boot": "99999999"}, None),
        ({"boot": "99999999"}, False),
    ],
)
def test_another_machine_and_another_container_cannot_be_asked(other: dict[str, str], running: bool | None) -> None:
    assert replace(HERE, pid=ended_pid(), **other).is_running(HERE) is running  # type: ignore[arg-type]


def test_two_machines_of_one_name_whose_containers_number_alike_are_not_told_by_their_boots() -> None:
    inside = replace(HERE, namespace="4026532000")
    assert replace(inside, boot="99999999", pid=ended_pid()).is_running(inside) is None


def test_a_number_that_was_given_out_again_is_another_process() -> None:
    assert replace(HERE, started=HERE.started - 1).is_running(HERE) is False


def test_a_process_that_ended_is_dead_before_its_parent_waits_for_it() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = replace(HERE, pid=process.pid, started=started_ticks(process.pid) or 0)
    rows = (owner.text, f"{HERE.machine}:{process.pid}")
    assert not any(is_dead(text, HERE) for text in rows)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it is a zombie from now on
    assert started_ticks(process.pid) == -1
    assert all(is_dead(text, HERE) for text in rows)
    process.communicate()


# --------------------------------------------------------------------------- another PID namespace

UNSHARE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc", "--")
LEASE_AND_WAIT = """
import sys
from pathlib import Path
from tests.support.world import World
from geocrawl.settings import Settings
from geocrawl.store.database.owner import this_process
world = World(Path(sys.argv[1]), Settings(delay_s=0.0), owner=this_process().text)
lease = world.frontier.lease()
print(lease and lease.entry.url.address, flush=True)
sys.stdin.read()
"""


def leasing(path: Path, *prefix: str) -> subprocess.Popen[str]:
    """A process that leases a host and keeps the lease until it may end."""
    command = [*prefix, sys.executable, "-c", LEASE_AND_WAIT, str(path)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def leased(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("first_prefix", [(), UNSHARE], ids=["seen from within", "seen from without"])
def test_a_living_process_of_another_pid_namespace_keeps_its_lease(
    tmp_path: Path, first_prefix: tuple[str, ...]
) -> None:
    if shutil.which("unshare") is None or subprocess.run([*UNSHARE, "true"], check=False).returncode:
        lack(NAMESPACES)
    world = World(tmp_path / "c.db")
    world.seed("a.example/")
    second_prefix = () if first_prefix else UNSHARE
    with leasing(tmp_path / "c.db", *first_prefix) as first:
        assert leased(first) == "http://a.example/"
        with leasing(tmp_path / "c.db", *second_prefix) as second:
            assert leased(second) == "None", "it cannot be told dead from there"
            second.kill()
        first.kill()
    with leasing(tmp_path / "c.db") as third:
        expected = "None" if first_prefix else "http://a.example/"
        assert leased(third) == expected, "where its process can be asked for, a lease ends with it"
        third.kill()


# --------------------------------------------------------------------------- processes that /proc hides

HIDDEN = """
set -e
mount -t proc -o hidepid=invisible proc /proc
exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
"""
ASK = """
import sys
from pathlib import Path
from geocrawl.store.database.owner import Owner, this_process
owner = Owner.read(sys.argv[1])
print(Path(f"/proc/{owner.pid}").exists(), owner.is_running(this_process()))
"""


def test_another_users_process_that_proc_hides_is_not_taken_for_dead() -> None:
    """So a unit with ProtectProc=invisible sees /proc (systemd.exec(5))."""
    command = ["unshare", "--mount", "--", "sh", "-c", HIDDEN, "sh", sys.executable, "-c", ASK]
    done = subprocess.run([*command, this_process().text], capture_output=True, text=True, check=False)
    if done.returncode:
        lack(ROOT_USER)
    assert done.stdout.split() == ["False", "True"]
    ended = replace(this_process(), pid=ended_pid(), started=1)
    done = subprocess.run([*command, ended.text], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
