"""The demo's web behind a proxy that is a process of its own, so that it can go away with its connections."""

from __future__ import annotations

import subprocess
import sys
from types import TracebackType
from typing import Self

_WEB = """
import sys
from geocrawl.demo.web import DemoWeb
with DemoWeb(port=int(sys.argv[1])) as web:
    print(web.proxy_url, flush=True)
    sys.stdin.read()
"""


class MortalProxy:
    """A proxy that serves the demo's web; `kill` and `start` while its context is open."""

    def __init__(self) -> None:
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def start(self) -> None:
        """Start the proxy, on the former port if it had one."""
        port = self.url.rpartition(":")[2] or "0"
        command = [sys.executable, "-c", _WEB, port]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None, "it is a pipe"
        self.url = self._process.stdout.readline().strip()

    def kill(self) -> None:
        """Kill the proxy: nobody listens at its port any more, and its connections are reset."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
