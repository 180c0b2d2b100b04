"""Find what `--browser` needs: Playwright, and a Chromium of the system."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

from geocrawl.errors import EnvironmentFault

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium(named: str) -> str:
    """Return the path of the Chromium to start: the one that is named, else the first one in PATH.

    Raises EnvironmentFault with what to install when Playwright or Chromium is missing.
    """
    if find_spec("playwright") is None:
        raise EnvironmentFault("--browser needs Playwright: pip install 'geocrawl[browser]'")
    for name in (named,) if named else _NAMES:
        if path := shutil.which(name):
            return path
    if named:
        raise EnvironmentFault(f"browser_path: {named} is no program that can be run; name Chromium or Google Chrome")
    raise EnvironmentFault(
        "--browser needs Chromium, and none of these is in PATH: "
        + ", ".join(_NAMES)
        + " (Debian: apt install chromium); the setting browser_path may name it"
    )
