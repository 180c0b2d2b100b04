"""Take the pictures of docs/pictures, of a crawl of the demo's web: `make pictures`. It needs Chromium.

The pages are those of `geocrawl serve` in windows of one size; the terminal is drawn by Rich.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from PIL import Image
from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.text import Text

from geocrawl.browser.renderer import find_chromium
from geocrawl.demo import DemoWeb

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
WINDOW: Any = {"width": 1240, "height": 760}
COLUMNS = 118
TYPED = ("search rivers --limit 4", "show http://maps.norvale-geoportal.example/geoserver/hydro/wms")
_ITEMS = "/collections/services/items"
_COLOURS = 128
_SETTLED_MS = 4_000


def main() -> None:
    """Crawl the demo's web and take all pictures."""
    with DemoWeb() as web, TemporaryDirectory() as folder:
        settings = {"GEOCRAWL_PROXY": web.proxy_url, "GEOCRAWL_DELAY": "0", "GEOCRAWL_DB": "demo.db", "HOME": folder}
        environment = {**os.environ, **settings}
        command = [sys.executable, "-m", "geocrawl"]
        subprocess.run([*command, "crawl", *web.seeds], cwd=folder, env=environment, check=True, capture_output=True)
        (PICTURES / "terminal.svg").write_text(_terminal(command, folder, environment), "utf-8")
        with _served(command, folder, environment) as address:
            _pages(address)


def _terminal(command: list[str], folder: str, environment: dict[str, str]) -> str:
    """Return what a person sees of some commands, as SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for typed in TYPED:
        console.print(Text.assemble(("$ ", "bold green"), (f"geocrawl {typed}", "bold")))
        line = shlex.join([*command, *typed.split()])
        done = subprocess.run(  # a terminal of its own, in which commands print tables and colours
            ["script", "-qec", f"stty cols {COLUMNS} rows 60; {line}", os.devnull],
            cwd=folder, env=environment, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        console.print(Text.from_ansi(done.stdout.replace("\r", "")))
    return console.export_svg(title="geocrawl")


@contextmanager
def _served(command: list[str], folder: str, environment: dict[str, str]) -> Iterator[str]:
    """Run `geocrawl serve` on a free port; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([*command, "serve", "--port", str(port)], cwd=folder, env=environment) as server:
        try:
            _wait(f"http://127.0.0.1:{port}/conformance", server)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=60).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("geocrawl serve has ended")


def _pages(address: str) -> None:
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=find_chromium(""), args=["--no-sandbox"])
        page = chromium.new_context(viewport=WINDOW).new_page()
        _take(page, f"{address}{_ITEMS}?q=water", "search")
        with urllib.request.urlopen(f"{address}{_ITEMS}?f=json&limit=1&q={quote('交通地图')}") as answer:
            number = json.load(answer)["features"][0]["id"]
        _take(page, f"{address}{_ITEMS}/{number}", "service", press="button.preview")
        page = chromium.new_context(viewport=WINDOW, color_scheme="dark").new_page()
        _take(page, f"{address}/statistics", "statistics")
        chromium.close()


def _take(page: Page, address: str, name: str, *, press: str = "") -> None:
    """Write the picture of a page as a small PNG, after a press of the first button of those."""
    page.goto(address, wait_until="networkidle")
    if press:
        page.locator(press).first.click()
    page.wait_for_timeout(_SETTLED_MS)
    page.evaluate("scrollTo(0, 0)")
    path = PICTURES / f"{name}.png"
    page.screenshot(path=path)
    drawn = Image.open(path).convert("RGB")
    drawn.quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
