"""Files are written whole or not at all, and never over a catalogue, by whatever name."""

from __future__ import annotations

import gzip
import os
import signal
import stat
import subprocess
from pathlib import Path

import httpx
import pytest

from geocrawl.daemon.metrics import MetricsFile
from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.export.pages import write_warc
from geocrawl.export.tables import export_endpoints as export
from geocrawl.fetch.record import WarcRecorder
from geocrawl.fetch.transport import RawResponse
from geocrawl.files import SIDE_FILES, part_of, refuse_database, remove_abandoned, whole_file, write_whole
from geocrawl.priority.models import write_text
from geocrawl.priority.topics import Topic, write_topic
from tests.support.parts import ROOT_USER, lack
from tests.support.world import World

pytestmark = pytest.mark.machine

NAMES = ("c.db", "c.db-wal", "c.db-shm", "symbolic", "hard", "folder/../c.db")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A catalogue in use, with its side files, and other names for it."""
    world = World(tmp_path / "c.db")
    world.seed("a.example/")
    (tmp_path / "symbolic").symlink_to("c.db")
    (tmp_path / "hard").hardlink_to(tmp_path / "c.db")
    (tmp_path / "folder").mkdir()
    return world


@pytest.mark.parametrize("name", NAMES)
def test_every_writer_refuses_the_catalogue_by_every_name(world: World, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    before = {each: each.read_bytes() for each in tmp_path.glob("c.db*")}
    writers = (
        lambda: export([], "csv", out),
        lambda: write_warc([], out),
        lambda: write_whole(out, "x"),
        lambda: write_text(out, "{}"),
        lambda: WarcRecorder(out, software="x", seeds=()),
        lambda: refuse_database(out, world.database.path),
    )
    for write in writers:
        with pytest.raises(UsageError):
            write()
    assert {each: each.read_bytes() for each in tmp_path.glob("c.db*")} == before


@pytest.mark.parametrize("suffix", SIDE_FILES)
def test_a_side_file_that_is_not_there_is_refused_too(tmp_path: Path, suffix: str) -> None:
    World(tmp_path / "c.db").database.close()
    with pytest.raises(UsageError):
        write_whole(tmp_path / f"c.db{suffix}", "x")


def test_a_topic_whose_file_is_a_link_to_a_catalogue_is_refused(world: World, tmp_path: Path) -> None:
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment" / "peat.toml").symlink_to(tmp_path / "c.db")
    with pytest.raises(UsageError):
        write_topic(Topic("environment/peat", "Peat", ("moor and peat",), (), own=True), tmp_path)


def test_a_daemons_file_of_metrics_is_never_its_catalogue(world: World, tmp_path: Path) -> None:
    told = []
    for name in NAMES:
        file = MetricsFile(str(tmp_path / name), 0, lambda event, **values: told.append(values["error"]))
        file.write(world.database.connection, 0.0)
    assert len(told) == len(NAMES) and all("catalogue itself" in line for line in told)
    assert world.database.connection.execute("PRAGMA quick_check").fetchone() == ("ok",)


def test_a_full_disk_leaves_the_former_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("former")
    with pytest.raises(OSError, match="No space"), whole_file(path) as stream:
        stream.write(b"new")
        raise OSError(28, os.strerror(28))
    assert [each.name for each in tmp_path.iterdir()] == ["f"] and path.read_text() == "former"


def test_a_device_is_written_to_and_never_replaced() -> None:
    with pytest.raises(EnvironmentFault, match="No space left"):
        write_whole(Path("/dev/full"), "x" * 100_000)
    with pytest.raises(EnvironmentFault, match="No space left"):
        write_warc([], Path("/dev/full"))
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_the_rights_of_a_former_file_stay(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_whole(path, "x", mode=0o640)
    write_whole(path, "y")
    assert path.stat().st_mode & 0o777 == 0o640


# --------------------------------------------------------------------------- recordings


def test_a_recording_onto_a_full_device_is_one_line() -> None:
    with pytest.raises(EnvironmentFault, match="No space left"):
        WarcRecorder(Path("/dev/full"), software="x", seeds=())


def test_a_recording_ends_with_its_last_whole_record_when_the_disk_is_full(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if (
        os.geteuid()
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", small], check=False).returncode
    ):
        lack(ROOT_USER)
    try:
        told: list[str] = []
        recorder = WarcRecorder(small / "r.warc.gz", software="x", seeds=(), say=told.append)
        for number in range(5):
            recorder.write(
                f"http://a.example/{number}",
                RawResponse(200, stream=httpx.ByteStream(b"")),
                os.urandom(20_000),
                whole=True,
            )
        recorder.close()
        assert len(told) == 1 and "No space left" in told[0]
        whole = gzip.decompress((small / "r.warc.gz").read_bytes())
        assert whole.count(b"WARC-Type: response") in (2, 3)
    finally:
        subprocess.run(["umount", small], check=True)


# --------------------------------------------------------------------------- what must stay as it is


def test_no_folder_is_made_in_the_place_of_a_side_file(tmp_path: Path) -> None:
    World(tmp_path / "c.db").database.close()
    with pytest.raises(UsageError):
        write_whole(tmp_path / "c.db-wal" / "results.csv", "x")
    with pytest.raises(UsageError):
        WarcRecorder(tmp_path / "c.db-wal" / "r.warc", software="x", seeds=())
    assert [each.name for each in tmp_path.iterdir()] == ["c.db"]


def test_strangers_cannot_read_what_may_hold_keys(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        export([], "csv", tmp_path / "masked")
        export([], "csv", tmp_path / "full", with_secrets=True)
        write_warc([], tmp_path / "pages")
        WarcRecorder(tmp_path / "recorded", software="x", seeds=()).close()
    finally:
        os.umask(before)
    modes = {each.name: stat.filemode(each.stat().st_mode) for each in tmp_path.iterdir()}
    private = dict.fromkeys(("full", "pages", "recorded"), "-rw-r-----")
    assert modes == {"masked": "-rw-r--r--", **private}


def test_a_daemon_does_not_wait_for_the_reader_of_a_pipe(world: World, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    told = []
    file = MetricsFile(str(tmp_path / "pipe"), 0, lambda event, **values: told.append(values["error"]))
    file.write(world.database.connection, 0.0)
    assert told == [f"{tmp_path / 'pipe'}: is not a file"]


# --------------------------------------------------------------------------- killed


def write_and_be_killed(path: Path) -> Path:
    """Have a process be killed while it writes; return what it left."""
    child = os.fork()
    if child == 0:
        with whole_file(path) as stream:
            stream.write(b"half of it")
            stream.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    return part_of(path).with_name(f".{path.name}.{child}.part")


def test_a_killed_writer_leaves_the_former_file_and_its_part_goes_with_the_next(tmp_path: Path) -> None:
    path = tmp_path / "f[1].csv"
    path.write_text("former")
    part = write_and_be_killed(path)
    assert path.read_text() == "former" and part.read_text() == "half of it"
    export([], "csv", path)
    assert part.exists(), "it may be another's who has just begun"
    os.utime(part, (0, 0))
    export([], "csv", path)
    assert [each.name for each in tmp_path.iterdir()] == ["f[1].csv"]


def test_two_writers_of_one_file_leave_one_whole_file(tmp_path: Path) -> None:
    path, other = tmp_path / "f", tmp_path / ".f.1.part"
    with whole_file(path) as stream:
        stream.write(b"first")
        stream.flush()
        mine = part_of(path)
        mine.rename(other)  # as if another process wrote it
        os.utime(other, (0, 0))
        remove_abandoned(path)
        assert other.exists(), "somebody still writes it"
        other.rename(mine)
    assert path.read_text() == "first"
