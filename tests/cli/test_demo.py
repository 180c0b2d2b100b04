"""`geocrawl demo`: the commands that it prints work as they are printed, and `--serve` serves until Ctrl-C."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from geocrawl.cli.output import in_a_shell
from tests.support import forked
from tests.support.processes import clean_environment, geocrawl

PROGRAM = Path(sys.executable).with_name("geocrawl")


def test_the_web_is_served_and_crawled_by_the_command_that_is_printed(tmp_path: Path) -> None:
    env = clean_environment(tmp_path)
    with subprocess.Popen(
        geocrawl("demo", "--serve"), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as demo:
        try:
            assert demo.stdout is not None
            lines = [demo.stdout.readline() for _ in range(5)]
            assert lines[0].startswith("Serving a web of 22 hosts") and "Ctrl-C ends it" in lines[0]
            crawl, status = (shlex.split(line) for line in lines[3:5])
            done = subprocess.run(
                [*crawl, "--max-pages", "5"], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            assert "5 pages in " in done.stdout
            shown = subprocess.run(status, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert "\ncatalogue   demo.db" in shown.stdout
            demo.send_signal(signal.SIGINT)
            assert demo.wait(300) == 0
            assert demo.stderr is not None and demo.stderr.read() == ""
        finally:
            demo.kill()


def test_a_command_to_copy_names_the_program_where_path_does_not_lead_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert in_a_shell("show", "1", "--db", "a b.db") == f"{shlex.quote(str(PROGRAM))} show 1 --db 'a b.db'"
    monkeypatch.setenv("PATH", str(PROGRAM.parent))
    assert in_a_shell("status") == "geocrawl status"


def test_a_log_file_on_a_full_disk_ends_no_crawl(tmp_path: Path) -> None:
    command = ("crawl", "http://127.0.0.1:9/", "--db", str(tmp_path / "c.db"), "--log-file", "/dev/full")
    done = forked.geocrawl(command, env=clean_environment(tmp_path), cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("geocrawl: /dev/full: No space left on device; log lines are lost") == 1
    assert "Traceback" not in done.stderr
