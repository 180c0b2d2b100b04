"""Other crawlers, for comparison only: Scrapy and Crawlee, pinned in requirements.txt, in an environment of their own.

They do less than geocrawl, in their favour: visible text and links of every page, duplicates dropped by their own
means in memory; no robots.txt (but for many hosts), no judging, no recognition, nothing kept on disk. The scripts
beside this file run inside that environment and import nothing of this project.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.places import ROOT

HERE = Path(__file__).resolve().parent
VENV = ROOT / ".venv-peers"


@dataclass(frozen=True, slots=True)
class Peer:
    """One crawler in one configuration."""

    name: str
    script: str
    options: tuple[str, ...] = ()

    def command(self, urls: Sequence[str], proxy: str, pages: int) -> list[str]:
        """The command line that reads `pages` answers through `proxy`, starting from `urls`."""
        return [str(VENV / "bin" / "python"), str(HERE / self.script), *self.options, proxy, str(pages), *urls]


PEERS = (
    Peer("Scrapy", "scrapy_crawl.py"),
    Peer("Crawlee, BeautifulSoup", "crawlee_crawl.py", ("beautifulsoup", "httpx")),
    Peer("Crawlee, Parsel and impit", "crawlee_crawl.py", ("parsel", "impit")),
)


def many_hosts(requests_at_once: int, seeds: Path) -> list[str]:
    """Return how Scrapy crawls many polite hosts, beginning at the addresses in a file."""
    return [str(VENV / "bin" / "python"), str(HERE / "scrapy_hosts.py"), str(requests_at_once), str(seeds)]


def install() -> None:
    """Create the peers' environment when it is not there or not of these versions."""
    stamp, wanted = VENV / "installed.txt", (HERE / "requirements.txt").read_text(encoding="utf-8")
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    pip = [str(VENV / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(HERE / "requirements.txt")], check=True)
    stamp.write_text(wanted, encoding="utf-8")
