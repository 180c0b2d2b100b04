"""Run a command of geocrawl in a process of its own, forked from one that has loaded what commands load.

For tests of what commands print and how they end, by the hundred: a start of Python that loads a crawl's modules takes
a second of CPU. Tests of starts and memory start Python (`tests.support.processes`).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TextIO

from tests.support.places import ROOT

LOADED = (
    "geocrawl.app.crawl",
    "geocrawl.app.probe",
    "geocrawl.cli",
    "geocrawl.crawler.loop",
    "geocrawl.fetch.fetcher",
    "geocrawl.page.document",
    "geocrawl.probe.registry",
    "geocrawl.store.catalogue.write.verdicts",
    "geocrawl.store.frontier.frontier",
    "tests.support.killed_crawl",
)
"""They load nearly all others that a crawl loads."""
_STREAMS: list[TextIO] = []
"""The streams of a forked process: commands replace them by others that write to their buffers; these stay open."""


def loaded() -> ForkServerContext:
    """Return what starts processes that have loaded the modules of a crawl, and done nothing with them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(LOADED))
    return context


def geocrawl(arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run `geocrawl ARGUMENTS` to its end; return its exit code and what it printed."""
    with tempfile.TemporaryDirectory(prefix="geocrawl-run-") as folder:
        printed = [Path(folder) / name for name in ("out", "err")]
        code = start(arguments, env=env, cwd=cwd, out=printed[0], err=printed[1]).wait()
        texts = [path.read_text("utf-8", "replace") for path in printed]
    return subprocess.CompletedProcess(list(arguments), code, *texts)


def start(arguments: Sequence[str], *, env: Mapping[str, str], cwd: Path = ROOT, out: Path, err: Path) -> Started:
    """Start `geocrawl ARGUMENTS` in a session of its own; what it prints is appended to the files `out` and `err`."""
    process = loaded().Process(target=_main, args=(list(arguments), dict(env), cwd, [out, err]))
    process.start()
    return Started(process)


class Started:
    """A command under way, with what tests use of `subprocess.Popen`."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process
        assert process.pid is not None
        self.pid = process.pid

    @property
    def returncode(self) -> int | None:
        """The exit code, negative for the signal that ended it; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def wait(self, limit_s: float | None = None) -> int:
        """Return the exit code when it has ended. Raises TimeoutError after `limit_s`."""
        self._process.join(limit_s)
        if self.returncode is None:
            raise TimeoutError(f"process {self.pid} still runs after {limit_s} s")
        return self.returncode


def _main(arguments: list[str], env: dict[str, str], cwd: Path, printed: list[Path]) -> None:
    os.setsid()
    for descriptor, path in enumerate(printed, 1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, closefd=False, errors="backslashreplace")
    _STREAMS.extend((sys.stdout, sys.stderr))
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["geocrawl", *arguments]
    _customize(Path(env.get("PYTHONPATH", ""), "sitecustomize.py"))
    from geocrawl.cli import main

    main()


def _customize(file: Path) -> None:
    """Run the customisation that a test puts into PYTHONPATH, as Python does when it starts."""
    if file.is_file():
        spec = spec_from_file_location("customized", file)
        assert spec is not None and spec.loader is not None
        sys.modules["customized"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)
