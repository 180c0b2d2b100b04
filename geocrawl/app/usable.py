"""Say which settings cannot be used on this machine: `geocrawl config check` lists them, and a start refuses them.

The types in `settings.py` check what a value's text can tell. What takes a look at strategies, topics or files is read
here by the very functions that a run reads it with, before the run changes anything.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from geocrawl.app.topics import find_topic
from geocrawl.browser.chromium import find_chromium
from geocrawl.config import database_path
from geocrawl.errors import EnvironmentFault, GeocrawlError, UsageError
from geocrawl.fetch.certificates import trusted_certificates
from geocrawl.fetch.proxy import proxy_from_environment
from geocrawl.files import refuse_database
from geocrawl.priority import registry
from geocrawl.settings import DEFAULT_STRATEGY, Settings
from geocrawl.urls.stop import StopRules


def demand_usable(settings: Settings, record: Path | None = None) -> None:
    """Raise UsageError or EnvironmentFault for the first setting, variable of the environment or file to `record` into
    with which no run can begin."""
    _look_at_output(str(record or ""))
    proxy_from_environment(os.environ)
    trusted_certificates()
    for _, read in _OF_RUNS:
        read(settings)


def unusable(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the field and the fault of each setting that cannot be used here."""
    for field, read in (*_OF_RUNS, *_OF_COMMANDS):
        try:
            read(settings)
        except GeocrawlError as fault:
            yield field, str(fault)


def _read_strategy(settings: Settings) -> None:
    registry.strategy_options(settings.strategy or DEFAULT_STRATEGY)


def _read_topic(settings: Settings) -> None:
    if settings.topic:
        find_topic(settings.topic)


def _read_constants(settings: Settings) -> None:
    """Read the constants of every strategy that has some, also of one that does not run: its turn may come."""
    for name in dict.fromkeys((DEFAULT_STRATEGY, *(key.partition(".")[0] for key in settings.set))):
        registry.make_strategy(name, settings.set)


def _read_stop_rules(settings: Settings) -> None:
    StopRules.load(Path(settings.stop_rules) if settings.stop_rules else None)


def _find_browser(settings: Settings) -> None:
    if settings.browser:
        find_chromium(settings.browser_path)
    elif settings.browser_path and not shutil.which(settings.browser_path):
        raise EnvironmentFault(f"browser_path: {settings.browser_path} is no program that can be run")


def _look_at_log_file(settings: Settings) -> None:
    _look_at_output(settings.log_file)


def _look_at_metrics_file(settings: Settings) -> None:
    _look_at_output(settings.metrics_file)


def _look_at_output(name: str) -> None:
    """Raise UsageError for a file into which nothing can be written, whoever tries."""
    if not name:
        return
    path = Path(name).expanduser()
    refuse_database(path)
    if path.is_dir():
        raise UsageError(f"{path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: the folder {path.parent} does not exist")


def _look_at_catalogue(settings: Settings) -> None:
    place = database_path(settings, os.environ) if settings.db else None
    if not isinstance(place, Path):
        return
    if place.is_dir():
        raise UsageError(f"db {place}: is a folder; name a file")
    above = next(folder for folder in (*place.parents, Path("/")) if folder.exists())  # what lacks below is made
    if not above.is_dir():
        raise UsageError(f"db {place}: {above} is no folder")


def _find_csw_python(settings: Settings) -> None:
    path = Path(settings.csw_python).expanduser()
    if settings.csw_python and not (path.is_file() and os.access(path, os.X_OK)):
        raise UsageError(f"csw_python: {path} is no program that can be run")


_Read = Callable[[Settings], None]
_OF_RUNS: tuple[tuple[str, _Read], ...] = (
    ("strategy", _read_strategy),
    ("topic", _read_topic),
    ("set", _read_constants),
    ("stop_rules", _read_stop_rules),
    ("browser_path", _find_browser),
    ("log_file", _look_at_log_file),
    ("db", _look_at_catalogue),
)
"""Settings without which crawls and the daemon cannot begin."""
_OF_COMMANDS: tuple[tuple[str, _Read], ...] = (
    ("metrics_file", _look_at_metrics_file),
    ("csw_python", _find_csw_python),
)
"""Settings of single commands, and one that the daemon tries again and again."""
