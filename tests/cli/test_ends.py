"""How commands end when their output cannot be written, their reader goes, or a person interrupts them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import forked
from tests.support.processes import clean_environment
from tests.support.samples import sampled

GEOCRAWL = f"{sys.executable} -m geocrawl"
HOME = {"HOME": "/nonexistent", "GEOCRAWL_DB": "none.db"}


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in a folder; the exit code is that of the first failing command of a pipe."""
    command = ["bash", "-c", f"set -o pipefail; {line}"]
    return subprocess.run(  # the code is asserted
        command, capture_output=True, text=True, errors="replace", cwd=folder, env=os.environ | HOME | environment
    )


@pytest.mark.parametrize("to", [">/dev/full", ">&-"])
@pytest.mark.parametrize(
    "command", sampled(["config show", "config show --json", "topics list", "--version"], "config show", "--version")
)
def test_output_that_cannot_be_written_is_one_line_and_3(tmp_path: Path, command: str, to: str) -> None:
    done = shell(f"{GEOCRAWL} {command} {to}", tmp_path)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("geocrawl: standard output: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    sampled(["seeds list --shipped", "--help", "seeds --help", "crawl --help"], "seeds list --shipped", "crawl --help"),
)
def test_a_reader_that_has_gone_is_no_error(tmp_path: Path, command: str) -> None:
    done = shell(f"{GEOCRAWL} {command} | head -1", tmp_path)
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1)


def test_characters_that_the_encoding_lacks_are_escaped(tmp_path: Path) -> None:
    done = shell(f"{GEOCRAWL} seeds list --shipped", tmp_path, PYTHONIOENCODING="latin-1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\u" in done.stdout


@pytest.mark.parametrize("encoding", sampled(["ascii", "latin-1", "utf-8"], "latin-1"))
def test_no_encoding_of_the_terminal_unmasks_secrets(tmp_path: Path, encoding: str) -> None:
    added = ("seeds", "add", "https://a.example/?token=s3cret", "--db", "none.db")
    forked.geocrawl(added, env=clean_environment(tmp_path), cwd=tmp_path)
    done = shell(f"{GEOCRAWL} seeds list", tmp_path, PYTHONIOENCODING=encoding)
    assert ("token=***" in done.stdout, "s3cret" in done.stdout) == (True, False)
    done = shell(f"{GEOCRAWL} seeds list --json", tmp_path, PYTHONIOENCODING=encoding)
    assert ("token=***" in done.stdout, "s3cret" in done.stdout) == (True, False)


@pytest.mark.parametrize(
    "module", sampled(["typer", "geocrawl.app.probe", "geocrawl.crawler.loop"], "geocrawl.app.probe")
)
def test_ctrl_c_while_a_module_is_imported_prints_no_traceback(tmp_path: Path, module: str) -> None:
    code = (
        "import os, signal, sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "sys.argv = ['geocrawl', 'probe', 'http://127.0.0.1:9/']\n"
        "from geocrawl.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=os.environ | HOME, check=False
    )
    assert done.returncode in (130, -signal.SIGINT)
    assert all(line.startswith("geocrawl: ") for line in done.stderr.splitlines()), done.stderr
