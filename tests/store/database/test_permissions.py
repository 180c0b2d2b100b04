"""Who may write a database: as the folder says, whoever makes it."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from geocrawl.store.database.sqlite.faults import fault
from geocrawl.store.database.sqlite.files import make_file, open_to_group
from tests.support.parts import ROOT_USER, lack

pytestmark = pytest.mark.machine

SERVICE, GROUP = 64011, 64010
"""Numbers that no account has."""


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A folder with the mode of the service's state directory."""
    folder = tmp_path / "state"
    folder.mkdir()
    folder.chmod(0o2770)
    return folder


def mode(path: Path) -> str:
    return stat.filemode(path.stat().st_mode)


def test_in_a_shared_folder_the_group_may_write_it_whatever_the_umask(shared: Path) -> None:
    make_file(shared / "g.db")
    assert mode(shared / "g.db") == "-rw-rw----"


def test_one_that_root_made_in_a_shared_folder_belongs_to_the_folders_owner(shared: Path) -> None:
    if os.geteuid() != 0:
        lack(ROOT_USER)
    os.chown(shared, SERVICE, GROUP)
    shared.chmod(0o2770)  # chown takes the setgid bit away
    make_file(shared / "g.db")
    found = (shared / "g.db").stat()
    assert (found.st_uid, found.st_gid, mode(shared / "g.db")) == (SERVICE, GROUP, "-rw-rw----")


@pytest.mark.parametrize(("umask", "expected"), [(0o022, "-rw-r-----"), (0o002, "-rw-rw----"), (0o077, "-rw-------")])
def test_elsewhere_the_umask_decides_and_strangers_never_read_it(tmp_path: Path, umask: int, expected: str) -> None:
    os.umask(umask)
    make_file(tmp_path / "g.db")
    assert mode(tmp_path / "g.db") == expected


def test_one_that_is_there_keeps_its_content_and_a_link_is_left_alone(shared: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept")
    (shared / "g.db").symlink_to(outside)
    make_file(shared / "g.db")
    assert outside.read_text() == "kept" and mode(outside) == "-rw-r--r--"


def make_as_the_service(path: Path, make: Callable[[Path], None] = make_file) -> None:
    """In a process that is no longer root."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(GROUP)
        os.setuid(SERVICE)
        make(path)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_one_that_this_user_may_not_read_names_its_owner() -> None:
    if os.geteuid() != 0:
        lack(ROOT_USER)
    with tempfile.TemporaryDirectory(prefix="geocrawl-rights-") as name:
        path, said = Path(name) / "g.db", Path(name) / "said"
        Path(name).chmod(0o777)
        path.touch(0o600)
        if os.fork() == 0:  # a process that is no longer root
            os.setuid(SERVICE)
            said.write_text(str(fault(path, sqlite3.OperationalError("unable to open database file"))))
            os._exit(0)
        os.wait()
        assert said.read_text() == (
            f"{path}: may not be read by this user; run the command as its owner (root), or open it to others"
        )


@pytest.mark.parametrize("make", [make_file, open_to_group], ids=["to write", "to read"])
def test_one_of_ours_that_was_made_before_the_folder_was_shared_is_opened_to_the_group(
    make: Callable[[Path], None],
) -> None:
    """As systemd finds what root made before the first start: it gives folder and files to the account. A reader does
    so, too: SQLite makes side files with the mode that the database has when it is opened."""
    if os.geteuid() != 0:
        lack(ROOT_USER)
    with tempfile.TemporaryDirectory(prefix="geocrawl-rights-") as name:
        folder, path, of_root = Path(name), Path(name) / "g.db", Path(name) / "of-root.db"
        path.touch()
        of_root.touch()
        for each in (folder, path):
            os.chown(each, SERVICE, GROUP)
        folder.chmod(0o2770)
        make_as_the_service(path, make)
        make_as_the_service(of_root, make)
        make(path)
        assert (mode(path), mode(of_root)) == ("-rw-rw-r--", "-rw-r--r--"), "only what is ours"
