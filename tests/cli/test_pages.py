"""`geocrawl pages`: what `crawl --store-pages` kept is given back as it was answered."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import zlib
from dataclasses import dataclass
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from geocrawl.model import State, StoredPage, Visit
from tests.support import forked
from tests.support.processes import clean_environment, geocrawl
from tests.support.world import World, url

MAPS = "<html><head><title>Maps 地图</title></head><body>Rivers   of the North\x1b[31m\x9b2J</body></html>".encode()
LAKES = "<title>Seen</title><p>Höhen".encode("windows-1252")
PAGES = (
    ("http://a.example/maps/", "Maps 地图", 0.9, "utf-8", MAPS),
    ("http://a.example/hills?token=SECRET1", "Hills\x1b]0;owned\x07", 0.4, "windows-1252", LAKES),
)


@dataclass
class StoredPages:
    """A database with kept pages, and geocrawl on it."""

    home: Path
    db: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ("pages", *arguments, "--db", str(self.db))
        return forked.geocrawl(command, env=clean_environment(self.home), cwd=self.home)


@pytest.fixture
def stored(tmp_path: Path) -> StoredPages:
    path = tmp_path / "c.db"
    world = World(path)
    world.seed(*(address for address, *_ in PAGES))
    for address, title, score, encoding, body in PAGES:
        lease = world.lease()
        assert lease.entry.url.address == url(address).address
        world.frontier.settle(
            Visit(
                lease=lease,
                state=State.VISITED,
                reason="ok",
                host=lease.host,
                at=world.clock.now(),
                content_type="text/html",
                title=title,
                score=score,
                stored=StoredPage(encoding, zlib.compress(body), score),
            )
        )
    world.database.close()
    return StoredPages(tmp_path, path)


def test_the_best_pages_are_listed_first(stored: StoredPages) -> None:
    rows = json.loads(stored.run("list", "--json").stdout)
    assert [(row["url"], row["score"], row["encoding"]) for row in rows] == [
        ("http://a.example/maps/", 0.9, "utf-8"),
        ("http://a.example/hills?token=***", 0.4, "windows-1252"),
    ]
    assert rows[0]["title"] == "Maps 地图" and rows[0]["size_bytes"] == len(zlib.compress(MAPS))
    assert len(json.loads(stored.run("list", "--json", "--min-score", "0.5").stdout)) == 1
    assert len(json.loads(stored.run("list", "--json", "--limit", "1").stdout)) == 1
    table = stored.run("list").stdout
    assert table.index("maps/") < table.index("hills") and "\x1b" not in table
    assert "SECRET1" not in table and "SECRET1" in stored.run("list", "--secrets").stdout


def test_a_page_is_shown_as_plain_text_or_as_its_bytes(stored: StoredPages) -> None:
    shown = stored.run("show", "http://a.example/maps/")
    assert shown.stdout.splitlines() == ["Maps 地图", "", "Rivers of the North"]
    assert "Höhen" in stored.run("show", "http://a.example/hills?token=SECRET1").stdout
    assert stored.run("show", "http://a.example/maps/", "--raw").stdout.encode() == MAPS


def test_bytes_of_a_page_are_never_sent_to_a_terminal(stored: StoredPages) -> None:
    leader, follower = pty.openpty()
    command = geocrawl("pages", "show", "http://a.example/maps/", "--raw", "--db", str(stored.db))
    done = subprocess.run(
        command, stdout=follower, stderr=subprocess.PIPE, env=clean_environment(stored.home), check=False
    )
    os.close(follower)
    assert done.returncode == 2 and b"--raw" in done.stderr
    os.set_blocking(leader, False)
    with pytest.raises(OSError):  # nothing was written
        os.read(leader, 100)
    os.close(leader)


def test_a_warc_file_holds_the_pages_as_they_were_answered(stored: StoredPages) -> None:
    out = stored.home / "pages.warc.gz"
    assert stored.run("export", "--out", str(out), "--secrets").returncode == 0
    found = []
    with out.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            if record.rec_type == "warcinfo":
                assert b"software: geocrawl" in record.content_stream().read()
                continue
            assert record.rec_type == "resource"
            headers = record.rec_headers
            assert headers.get_header("WARC-Date") == "1970-01-12T13:46:40Z", "1,000,000 s after the epoch"
            address, label = headers.get_header("WARC-Target-URI"), headers.get_header("Content-Type")
            found.append((address, label, record.content_stream().read()))
    assert found == [(address, f"text/html; charset={encoding}", body) for address, _, _, encoding, body in PAGES]


def test_addresses_in_a_warc_file_hide_secrets_unless_asked_for(stored: StoredPages) -> None:
    out = stored.home / "pages.warc.gz"
    assert stored.run("export", "--out", str(out)).returncode == 0
    with out.open("rb") as file:
        addresses = [record.rec_headers.get_header("WARC-Target-URI") for record in ArchiveIterator(file)]
    assert addresses == [None, "http://a.example/maps/", "http://a.example/hills?token=***"]


def test_texts_are_written_with_an_index(stored: StoredPages) -> None:
    out = stored.home / "texts"
    assert stored.run("export", "--format", "text", "--out", str(out)).returncode == 0
    rows = [json.loads(line) for line in (out / "index.jsonl").read_text("utf-8").splitlines()]
    assert [row["file"] for row in rows] == ["00001-a.example-maps.txt", "00002-a.example-hills-token.txt"]
    assert [row["title"] for row in rows] == ["Maps 地图", "Hills"]
    assert (out / rows[0]["file"]).read_text("utf-8") == "Maps 地图\n\nRivers of the North\n"
    assert sorted(path.name for path in out.iterdir()) == sorted([*(row["file"] for row in rows), "index.jsonl"])


@pytest.mark.parametrize("form", ["warc", "text"])
def test_what_exists_is_replaced_only_when_told_to(stored: StoredPages, form: str) -> None:
    out = stored.home / "out"
    assert stored.run("export", "--format", form, "--out", str(out)).returncode == 0
    file = out if form == "warc" else out / "index.jsonl"
    file.write_text("mine")
    refused = stored.run("export", "--format", form, "--out", str(out))
    assert refused.returncode == 2 and "--force" in refused.stderr
    assert file.read_text() == "mine"
    assert stored.run("export", "--format", form, "--out", str(out), "--force").returncode == 0
    assert file.read_bytes() != b"mine"


def test_the_catalogue_is_never_written_over(stored: StoredPages) -> None:
    before = stored.db.read_bytes()
    (stored.home / "link.db").symlink_to(stored.db)
    (stored.home / "hard.db").hardlink_to(stored.db)
    for name in ("c.db", "link.db", "hard.db", "c.db-wal", "c.db-shm"):
        done = stored.run("export", "--out", str(stored.home / name), "--force")
        assert done.returncode == 2 and "is the catalogue itself" in done.stderr, name
    (stored.home / "hard.db").unlink()
    assert stored.db.read_bytes() == before
    stored.db.rename(stored.home / "index.jsonl")
    stored.db = stored.home / "index.jsonl"
    assert stored.run("export", "--format", "text", "--out", str(stored.home), "--force").returncode == 2
    assert stored.db.read_bytes() == before


def test_exit_codes_are_those_of_other_commands(stored: StoredPages) -> None:
    assert stored.run("show", "http://a.example/other").returncode == 1
    assert stored.run("list", "--min-score", "2").returncode == 1
    assert stored.run("export", "--min-score", "2", "--out", "x").returncode == 1
    assert stored.run("export", "--format", "pdf", "--out", "x").returncode == 2
    assert stored.run("export", "--out", str(stored.db / "x")).returncode == 3
    stored.db = stored.home / "none.db"
    assert stored.run("list").returncode == 3
