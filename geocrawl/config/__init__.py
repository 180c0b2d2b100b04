"""Settings in force: option, environment, `./geocrawl.toml`, the user's file, /etc/geocrawl/config.toml, default.

The first source that names a setting wins, for each setting by itself (also within `[set]` and `[sites]`). This file
locates and reads the sources and has pydantic-settings merge them; `names` describes the settings, `show` prints them.
Every value is checked, also when a stronger source overrides it: a wrong line in a file is found today, not on the day
the option is left out. Nothing heavy is imported here, since every command loads its settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from geocrawl.config.names import (
    Setting,
    has_credentials,
    nearest,
    setting_name,
    settings_by_name,
    site_settings_by_name,
    without_credentials,
)
from geocrawl.errors import EnvironmentFault, GeocrawlError, UsageError
from geocrawl.files import read_whole
from geocrawl.settings import Settings
from geocrawl.urls.database import MEMORY, DatabaseUrl, is_server, place_of, server_of, sqlite_path

__all__ = [
    "Configuration",
    "check",
    "configuration_files",
    "database_path",
    "kept_at_reload",
    "load",
    "user_folder",
    "without_effect",
]

ENVIRONMENT_PREFIX = "GEOCRAWL_"
_NOT_SETTINGS = {
    "GEOCRAWL_SHARED",  # where the test suite finds recorded answers
    "GEOCRAWL_SEGMENTER",  # `priority.text_terms`
}
_PATHS = {"db", "log_file", "stop_rules", "metrics_file"}
_MOST_BYTES = 16 * 1024**2
"""Length of the longest configuration file that is read."""
_OF_ORIGIN = {"user", "password"}
"""Settings of `[sites]` that a single origin may have."""
GONE: Mapping[str, str] = {
    "backoff_forgive": "failures older than half an hour do not count",
    "browser_data": "scripts of a page receive at most 20 MiB, and page_body limits each answer",
    "calendar_years": "calendar pages further than three years from today are not visited; deny excludes more",
    "due_per_tick": "500 due services or pages are queued at once; pages_per_day limits a day",
    "max_encodings": "an answer has at most two Content-Encodings",
    "max_ratio": "a body is at most 200 times what was received; page_body and probe_body limit it further",
    "max_segment_repeats": "a path with three equal segments is a trap; deny excludes more",
    "max_url_chars": "addresses have at most 2,000 characters",
    "ratio_free": "the ratio of decoded to received bytes is checked after 1 MiB",
    "reading_memory": "a process may use 1 GiB while it reads an answer; reading_processes limits their number",
    "reading_time": "reading one answer may take a minute of CPU time",
    "robots_body": "500 KiB of a robots.txt are read (RFC 9309, 2.5)",
}
"""Names that were settings → what holds now, and what to use instead."""

Key = tuple[str, ...]
"""('max_pages',), ('set', 'gws.lambda') or ('sites', 'maps.example.org', 'delay_s'): fields, hosts or origins."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings in force, and where each value came from."""

    settings: Settings
    origins: Mapping[str, str]
    """By name ('max_pages', 'set.gws.lambda', 'sites."maps.example.org".user'): 'option', 'environment GEOCRAWL_X',
    a file's path or 'default'."""

    def origin_of(self, field: str) -> str:
        """Return where the value of a field of `Settings` came from; of the constants of strategies, the first."""
        names = [setting.name for setting in settings_by_name().values() if setting.field == field]
        if field == "set":
            names = [name for name in self.origins if name.startswith("set.")]
        return self.origins[names[0]] if names else "default"

    def with_setup(self, preset: str, setup: Mapping[str, Any]) -> tuple[Settings, list[str]]:
        """Return the settings with those that a preset's paper fixes, and a note on each kind for a person.

        `setup` is field → value. A value that a person gave, wherever, stays in force.
        """
        names = {field: setting_name(field) for field in setup}
        given = {field for field in setup if self.origins[names[field]] != "default"}
        taken = {field: value for field, value in setup.items() if field not in given}
        notes = [
            f"{preset} sets {', '.join(f'{names[f]} = {value}' for f, value in taken.items())}, as its paper does."
        ]
        notes += [
            f"{names[field]} = {getattr(self.settings, field)} ({self.origins[names[field]]}) is used instead of "
            f"{setup[field]}, the paper's, so the crawl cannot be compared with the paper's."
            for field in setup
            if field in given and getattr(self.settings, field) != setup[field]
        ]
        return replace(self.settings, **taken), notes if taken else notes[1:]


def load(
    options: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str],
    cwd: Path,
    files: Sequence[Path] | None = None,
) -> Configuration:
    """Return the settings in force. Raises UsageError, one line, for an unknown name or invalid value in any source.

    The parameters are those of `check`.
    """
    problems, configuration = check(options or {}, environ=environ, cwd=cwd, files=files)
    if configuration is None:
        raise UsageError(problems[0] + (f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""))
    return configuration


def check(
    options: Mapping[str, object], *, environ: Mapping[str, str], cwd: Path, files: Sequence[Path] | None = None
) -> tuple[list[str], Configuration | None]:
    """Read all sources; return their problems, a line each, and the settings in force, None when there are problems.

    `options` are by setting name (`max_time`), as typed or converted; None counts as not given. `files` replaces the
    usual files, the strongest first.
    """
    files = configuration_files(environ, cwd) if files is None else files
    sources = [from_options(options), from_environment(environ), *map(from_file, files)]
    if problems := [problem for source in sources for problem in source.all_problems()]:
        return problems, None
    origins = dict.fromkeys(settings_by_name(), "default")
    for source in reversed(sources):
        origins |= source.origins
    return [], Configuration(_merged(sources), origins)


def without_effect(settings: Settings, run: str) -> list[str]:
    """Return the names of the settings that are not the default and have no effect in a run, 'crawl' or 'daemon'."""
    known = settings_by_name().values()
    return [s.name for s in known if run in s.unused.split() and getattr(settings, s.field) != s.default]


def kept_at_reload(former: Settings, read: Settings) -> list[str]:
    """Return the names of the settings that were changed and that a daemon under way cannot change."""
    known = settings_by_name().values()
    return [s.name for s in known if s.fixed and getattr(former, s.field) != getattr(read, s.field)]


def _merged(sources: Sequence[SettingsSource]) -> Settings:
    class Merged(BaseSettings):
        settings: Settings = Settings()

        @classmethod
        def settings_customise_sources(cls, *_: Any, **__: Any) -> tuple[PydanticBaseSettingsSource, ...]:
            return tuple(sources)

    return Merged().settings


@lru_cache(maxsize=1)
def _model() -> TypeAdapter[Settings]:
    return TypeAdapter(Settings)


class SettingsSource(PydanticBaseSettingsSource):
    """The values of one source as they are written there, and the problems found in it."""

    def __init__(self) -> None:
        super().__init__(BaseSettings)
        self.values: dict[str, Any] = {}
        self.origins: dict[str, str] = {}
        """By name: 'option', 'environment GEOCRAWL_X' or the file's path."""
        self.problems: list[str] = []
        self._places: dict[Key, tuple[Setting, str]] = {}
        """For messages: the setting, and its name as this source spells it."""

    def __call__(self) -> dict[str, Any]:
        return {"settings": self.values}

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        return self.values, field_name, False

    def put(self, name: str, value: object, shown: str, origin: str) -> None:
        """Take a value for a setting; `shown` is the setting's name as this source spells it."""
        setting = settings_by_name().get(name)
        if setting is None or setting.takes == "table":
            self.problems.append(f"{shown}: {_unknown(name, settings_by_name())}")
            return
        self.values[setting.field], self.origins[name] = value, origin
        self._places[setting.field,] = setting, shown

    def put_constants(self, table: Mapping[object, object], shown: str, origin: str) -> None:
        """Take constants of strategies; whether a strategy has them is checked when it is made."""
        for key, value in table.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if not key or not text or not isinstance(value, str | int | float):
                self.problems.append(f"{shown}: {key!s} = {value!r}: expected NAME=VALUE, such as gws.lambda=0.7")
            else:
                self.values.setdefault("set", {})[str(key)] = text
                self.origins[f"set.{key}"] = origin

    def put_site(self, text: str, settings: object, shown: str, origin: str) -> None:
        """Take the settings of a host or of an origin."""
        site = _read_site_key(text)
        if not isinstance(settings, Mapping):
            self.problems.append(f"{shown}: expected a table of settings")
        elif site is None:
            examples = "maps.example.org, or an origin, such as https://maps.example.org:8443"
            self.problems.append(f"{shown}: expected a host name, such as {examples}")
        for name, value in settings.items() if isinstance(settings, Mapping) and site is not None else ():
            setting = site_settings_by_name().get(name)
            if setting is None:
                self.problems.append(f"{shown} {name}: {_unknown(name, site_settings_by_name())}")
            elif "://" in str(site) and name not in _OF_ORIGIN:
                self.problems.append(f'{shown} {name}: belongs to the host, whatever its port: [sites."HOST"]')
            else:
                self.values.setdefault("sites", {}).setdefault(site, {})[setting.field] = value
                self.origins[f'sites."{site}".{name}'] = origin
                self._places["sites", str(site), setting.field] = setting, f"{shown} {name}"

    def all_problems(self) -> list[str]:
        """Return what is wrong with names and values, a line each."""
        problems = list(self.problems)
        try:
            settings = _model().validate_python(self.values)
        except ValidationError as error:
            return problems + [self._problem(fault) for fault in error.errors()]
        try:
            place_of(settings.db) if settings.db else None
        except UsageError as error:  # without the value, which may contain a password
            problems.append(f"{self._places['db',][1]} {str(error).removeprefix('db ')}")
        for field in ("allow", "deny"):
            problems += self._unreadable_entries(field, getattr(settings, field))
        return problems

    def _unreadable_entries(self, field: str, entries: Sequence[str]) -> Iterator[str]:
        if entries:
            from geocrawl.urls.stop import read_entry
        for entry in entries:
            try:
                read_entry(entry)
            except ValueError as error:
                yield f"{self._places[field,][1]} = {entry!r}: expected {error}"

    def _problem(self, error: Any) -> str:
        key: Key = tuple(str(part) for part in error["loc"])
        setting, shown = next(self._places[key[:size]] for size in (3, 1) if key[:size] in self._places)
        value = error["input"]
        if setting.secret and isinstance(value, str):
            value = without_credentials(value) if setting.field == "proxy" else "***"
        return f"{shown} = {value!r}: expected {_expected(error, setting)}"


def _unknown(name: str, known: Mapping[str, Setting]) -> str:
    if name in GONE:
        return f"no longer a setting: {GONE[name]}"
    return f"no such setting{nearest(name, known)}"


def _expected(error: Any, setting: Setting) -> str:
    """Return what a value that pydantic refuses should have been."""
    kind, context = error["type"], error.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return "one of " + str(context["expected"]).replace("'", "").replace(" or ", ", ")
    if kind.startswith("bool"):
        return "true or false"
    if kind.startswith("int"):
        return "a whole number"
    one = f"a number of {setting.takes}" if setting.takes.endswith("s") else f"a {setting.takes}"
    least = context.get("ge")
    ranges = {
        "greater_than_equal": f"{one}, at least {least}" if least else f"{one}, 0 or more",
        "greater_than": f"{one} above 0",
        "less_than_equal": f"{one}, at most {context.get('le', 0):,}",
    }
    return ranges.get(kind, one)


def from_options(options: Mapping[str, object]) -> SettingsSource:
    """Read options by setting name. None counts as not given."""
    source, known = SettingsSource(), settings_by_name()
    for name, value in options.items():
        shown = known[name].option_name if name in known else "--" + name.replace("_", "-")
        if value is None:
            continue
        if name == "set" and isinstance(value, Mapping):
            source.put_constants(value, shown, "option")
        elif name == "proxy" and has_credentials(str(value)):
            source.problems.append(
                f"{shown}: a user and password on the command line can be seen by everyone on this machine: "
                "put them into GEOCRAWL_PROXY or a configuration file"
            )
        else:
            source.put(name, value, shown, "option")
    return source


def from_environment(environ: Mapping[str, str]) -> SettingsSource:
    """Read the variables GEOCRAWL_<NAME>; an empty one counts as not given."""
    source = SettingsSource()
    for variable in sorted(environ):
        text = environ[variable]
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable in _NOT_SETTINGS or not text:
            continue
        name, origin = variable.removeprefix(ENVIRONMENT_PREFIX).lower(), f"environment {variable}"
        if name == "set":
            pairs = (part.partition("=") for part in text.split(",") if part.strip())
            source.put_constants({key.strip(): value.strip() for key, _, value in pairs}, variable, origin)
        elif name == "sites":
            source.problems.append(f"{variable}: settings of single hosts are read from configuration files only")
        else:
            source.put(name, text, variable, origin)
    return source


def from_file(file: Path) -> SettingsSource:
    """Read a TOML file; one that does not exist has no values."""
    import tomllib

    source = SettingsSource()
    try:
        table = tomllib.loads(read_whole(file, _MOST_BYTES).decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return source
    except OSError as error:
        if not isinstance(error, PermissionError) or file != SYSTEM_FILE:  # that may contain passwords for the service
            source.problems.append(f"{file}: cannot be read: {error.strerror or error}")
        return source
    except UnicodeDecodeError as error:
        source.problems.append(f"{file}: not TOML: byte {error.start} is not UTF-8; save the file as UTF-8")
        return source
    except ValueError as error:  # also of a number with more digits than Python reads
        source.problems.append(f"{file}: not TOML: {error}")
        return source
    for name, value in table.items():
        if name not in ("set", "sites"):
            source.put(name, _beside(file, name, value), f"{file}: {name}", str(file))
        elif not isinstance(value, Mapping):
            source.problems.append(f"{file}: {name}: expected a table, [{name}]")
        elif name == "set":
            source.put_constants(dict(_flat(value)), f"{file}: [set]", str(file))
        else:
            for key, settings in value.items():
                source.put_site(key, settings, f'{file}: [sites."{without_credentials(key)}"]', str(file))
    return source


def _read_site_key(text: str) -> str | None:
    """Return a host in lower case, or an origin in its canonical spelling (`Url.origin`); None for neither."""
    if "://" not in text:
        is_host = text and not any(character in text for character in "/@? ") and text.count(":") != 1
        return text.lower() if is_host else None
    from geocrawl.urls import read_url

    url = read_url(text)
    is_origin = url is not None and url.address.partition("://")[2].count("/") == 1 and url.address.endswith("/")
    return url.origin if url is not None and is_origin and "@" not in text and "#" not in text else None


def _flat(table: Mapping[str, object], above: str = "") -> Iterator[tuple[object, object]]:
    """Yield names and values; `gws.lambda = 0.7` without quotes is a table in a table and means the same name."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{key}.")
        else:
            yield above + key, value


def _beside(file: Path, name: str, value: object) -> object:
    """Return a value with a relative path resolved against the file's folder instead of the current one."""
    if name not in _PATHS or not isinstance(value, str) or not value or value.startswith("~"):
        return value
    try:
        if is_server(value):
            return value
        path = sqlite_path(value)
    except GeocrawlError:
        return value  # an invalid value is refused later, with a reason
    return value if path == MEMORY else str(file.parent / path)


FILE_IN_FOLDER = "geocrawl.toml"
SYSTEM_FILE = Path("/etc/geocrawl/config.toml")
DATABASE_NAME = "geocrawl.db"


def configuration_files(environ: Mapping[str, str], cwd: Path) -> tuple[Path, ...]:
    """Return the possible configuration files, the one with the highest precedence first; they need not exist."""
    # `sudo -u` may leave the user in a folder without access: such a folder is skipped.
    here = (cwd / FILE_IN_FOLDER,) if os.access(cwd, os.X_OK) else ()
    try:
        own = (user_folder("config", environ) / "config.toml",)
    except EnvironmentFault:  # a service account without a home has no file of its own
        return (*here, SYSTEM_FILE)
    return (*here, *own, SYSTEM_FILE)


def user_folder(kind: str, environ: Mapping[str, str]) -> Path:
    """Return the user's folder for this program, without creating it; `kind` is config, data or cache.

    Raises EnvironmentFault for a user without a home folder.
    """
    folder_of_kind = environ.get(f"XDG_{kind.upper()}_HOME", "")
    if Path(folder_of_kind).is_absolute():  # the XDG specification says to ignore a relative path
        return Path(folder_of_kind) / "geocrawl"
    if sys.platform in ("win32", "darwin"):
        import platformdirs

        folder: str = getattr(platformdirs, f"user_{kind}_dir")("geocrawl", appauthor=False)
        return Path(folder)
    below = {"config": ".config", "data": ".local/share", "cache": ".cache"}[kind]
    return _home(environ) / below / "geocrawl"


def database_path(settings: Settings, environ: Mapping[str, str]) -> DatabaseUrl:
    """Return where the catalogue is: setting `db` (a path, `sqlite:///path`, `postgresql://…`), else geocrawl.db in the
    data folder.

    Raises UsageError for another engine, EnvironmentFault for a user without a data folder.
    """
    if not settings.db:
        try:
            return user_folder("data", environ) / DATABASE_NAME
        except EnvironmentFault as fault:
            raise EnvironmentFault(f"{fault}; name the catalogue: --db FILE") from None
    return server_of(settings.db) if is_server(settings.db) else _expanded(sqlite_path(settings.db), environ)


def _expanded(text: str, environ: Mapping[str, str]) -> Path:
    if text == "~" or text.startswith("~/"):
        return _home(environ) / text[2:]
    return Path(text)


def _home(environ: Mapping[str, str]) -> Path:
    """Return the home folder, from HOME or else from the user database."""
    if Path(environ.get("HOME", "")).is_absolute():
        return Path(environ["HOME"])
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise EnvironmentFault("this user has no home folder (HOME is not set)") from None
