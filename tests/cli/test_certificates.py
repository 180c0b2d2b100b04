"""Certificates of authorities that cannot be read are one line before any request, and no server's failure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import forked
from tests.support.processes import clean_environment
from tests.support.samples import sampled

COMMANDS = {
    "crawl": ("crawl", "https://127.0.0.1:9/", "--allow-private"),
    "probe": ("probe", "https://127.0.0.1:9/wms", "--allow-private"),
    "seeds check": ("seeds", "check"),
}


def missing(home: Path) -> dict[str, str]:
    return {"SSL_CERT_FILE": str(home / "missing.pem")}


def garbage(home: Path) -> dict[str, str]:
    (home / "garbage.pem").write_text("no certificate\n")
    return {"SSL_CERT_FILE": str(home / "garbage.pem")}


def no_file(home: Path) -> dict[str, str]:
    return {"SSL_CERT_FILE": str(home)}


def empty_folder(home: Path) -> dict[str, str]:
    (home / "certificates").mkdir()
    return {"SSL_CERT_DIR": str(home / "certificates")}


def missing_folder(home: Path) -> dict[str, str]:
    return {"SSL_CERT_DIR": str(home / "missing")}


@pytest.mark.parametrize(
    ("command", "wrong"),
    sampled(
        [
            *(("probe", each) for each in (missing, garbage, no_file, empty_folder, missing_folder)),
            ("crawl", missing),
            ("seeds check", garbage),
        ],
        ("probe", garbage),
        ("crawl", missing),
    ),
)
def test_certificates_that_cannot_be_read_end_a_command_with_one_line(
    command: str, wrong: Callable[[Path], dict[str, str]], tmp_path: Path
) -> None:
    named = wrong(tmp_path)
    (name, value), *_ = named.items()
    common = ("--db", str(tmp_path / "c.db"))
    env = clean_environment(tmp_path)
    if command == "seeds check":
        assert forked.geocrawl(("seeds", "add", "https://127.0.0.1:9/", *common), env=env).returncode == 0
    done = forked.geocrawl((*COMMANDS[command], *common), env={**env, **named})
    assert done.returncode == 3, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert value in done.stderr and f"correct {name}, or unset it" in done.stderr


def test_a_folder_with_a_certificate_under_its_hashed_name_is_used(tmp_path: Path) -> None:
    (tmp_path / "0123abcd.0").write_text("any")
    command = ("probe", "https://127.0.0.1:9/wms", "--allow-private", "--json")
    done = forked.geocrawl(command, env=clean_environment(tmp_path, SSL_CERT_DIR=str(tmp_path)))
    assert '"refused"' in done.stdout, done.stderr
