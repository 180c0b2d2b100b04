"""The browser of a crawl is there when it is needed, and gone with the crawl, whatever ends it."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from geocrawl.browser.renderer import descendants
from tests.browser.portal_web import REACT, PortalWeb
from tests.support.processes import clean_environment, geocrawl
from tests.support.samples import sampled


def _ended(pids: list[int], within_s: float) -> bool:
    """Return whether all processes are gone, zombies included, within a time."""
    last = time.monotonic() + within_s
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        if time.monotonic() > last:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.usefixtures("chromium")
@pytest.mark.parametrize("number", sampled([signal.SIGTERM, signal.SIGKILL], signal.SIGTERM))
def test_no_process_is_left(web: PortalWeb, tmp_path: Path, number: signal.Signals) -> None:
    options = ["--browser", "--allow-private", "--delay", "0.5", "--db", str(tmp_path / "c.db")]
    command = geocrawl("crawl", web.address(REACT), *options)
    crawl = subprocess.Popen(command, env=clean_environment(tmp_path), stderr=subprocess.PIPE, text=True)
    try:
        last = time.monotonic() + 300
        while not any("/api/" in request.target for request in web.log):
            assert crawl.poll() is None and time.monotonic() < last
            time.sleep(0.05)
        started = descendants(crawl.pid)
        assert len(started) > 3, "the driver, Chromium and its helpers"
        crawl.send_signal(number)
        _, said = crawl.communicate(timeout=300)
        assert "Traceback" not in said and "Task was destroyed" not in said
        assert _ended(started, 300)
    finally:
        crawl.kill()


def test_a_missing_chromium_is_one_plain_line(tmp_path: Path) -> None:
    pytest.importorskip("playwright", reason="Playwright is not installed")
    environment = clean_environment(tmp_path, GEOCRAWL_BROWSER_PATH="/nowhere/chromium")
    command = geocrawl("crawl", "http://a.example/", "--browser", "--db", str(tmp_path / "c.db"))
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 3
    assert (
        done.stderr.strip()
        .splitlines()[-1]
        .endswith("browser_path: /nowhere/chromium is not a program that can be run; name Chromium or Google Chrome")
    )
