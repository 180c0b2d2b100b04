"""A crawl of the demo's web by the command line, and its catalogue, in SQLite and in PostgreSQL."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from geocrawl.demo import DemoWeb
from tests.golden.layout import Layout
from tests.golden.masks import masked
from tests.golden.replay import TODAY
from tests.support.commands import CommandResult, geocrawl
from tests.support.postgres import Server, name_of, running_server

ENGINES = ("sqlite", "postgres")
CONTACT = "golden@localhost"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The catalogue of a crawl of the demo's web, which is served meanwhile."""

    url: str
    """As `--db` takes it."""
    folder: Path
    """The home of its user; commands write here."""
    web: DemoWeb
    server: Server | None
    """That of PostgreSQL."""
    crawl: CommandResult
    """How the crawl ended."""
    whole: bool = False
    """Whether texts have all items of their lists."""

    @property
    def layout(self) -> Layout:
        """How texts of this catalogue are laid out."""
        return Layout(self.masked, self.whole)

    def masked(self, text: str) -> str:
        """Return a text with hidden names of this run and all that is volatile."""
        own = {self.url: "<catalogue>", self.web.proxy_url: "<proxy>", str(self.folder): "<folder>"}
        if self.server is None:  # as reports and messages name it
            own[Path(self.url).name] = "<catalogue>"
        else:
            own[f"postgresql://{self.server.folder}/{name_of(self.url)}"] = "<catalogue>"
        return masked(text, own)

    @contextmanager
    def copy(self) -> Iterator[Catalogue]:
        """Yield a copy that may be changed."""
        if self.server is None:
            url = str(self.folder / "copy.db")
            shutil.copy(self.url, url)
        else:
            url = self.server.new_database(template=name_of(self.url))
        try:
            yield replace(self, url=url)
        finally:
            if self.server is not None:
                self.server.drop(url)
            else:
                Path(url).unlink()


@contextmanager
def crawled(engine: str, running: Server | None = None, whole: bool = False) -> Iterator[Catalogue]:
    """Crawl the demo's web with one worker, and yield the catalogue; `running` is a server of PostgreSQL to use."""
    pytest.importorskip("py3langid", reason="needs py3langid, which reads languages: make dev-env")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="golden-", dir="/tmp")))
        stack.enter_context(environment(folder))
        web = stack.enter_context(DemoWeb(today=TODAY))
        server, url = None, str(folder / "catalogue.db")
        if engine == "postgres":
            server = running or stack.enter_context(running_server())
            url = server.new_database()
            stack.callback(server.drop, url)
        said = geocrawl("crawl", *web.seeds, *asked_of(web), "--workers", "1", "--db", url)
        yield Catalogue(url, folder, web, server, said, whole)


def asked_of(web: DemoWeb) -> list[str]:
    """Return the options with which a command requests the demo's web."""
    return ["--proxy", web.proxy_url, "--delay", "0", "--contact", CONTACT]


@contextmanager
def environment(home: Path = Path("/nonexistent")) -> Iterator[None]:
    """Let commands see no settings of this machine's user, and a terminal of 100 columns without colours."""
    former = dict(os.environ)
    try:
        for name in former:
            if name.startswith(("GEOCRAWL_", "XDG_", "FORCE_COLOR")) or name.lower().endswith("_proxy"):
                del os.environ[name]
        os.environ.update({"HOME": str(home), "NO_COLOR": "1", "COLUMNS": "100", "LINES": "40"})
        yield
    finally:
        os.environ.clear()
        os.environ.update(former)
