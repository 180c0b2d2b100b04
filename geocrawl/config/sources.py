"""Read settings from options, from the environment and from a file, each into a `Source` of values and problems.

Every value is checked, also when a stronger source overrides it: a wrong line in a file is found today, not on the day
the option is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from geocrawl.config import values
from geocrawl.config.names import Setting, nearest, settings_by_name, site_settings_by_name
from geocrawl.config.places import SYSTEM_FILE
from geocrawl.errors import GeocrawlError, UsageError
from geocrawl.urls.database import MEMORY, is_server, place_of, sqlite_path

ENVIRONMENT_PREFIX = "GEOCRAWL_"
_NOT_SETTINGS = {"GEOCRAWL_SHARED"}  # where the test suite finds recorded answers
_PATHS = {"db", "log_file", "stop_rules"}
_OF_ORIGIN = {"user", "password"}
"""Settings of `[sites]` that a single origin may have."""

Key = tuple[str, ...]
"""('max_pages',), ('set', 'gws.lambda') or ('sites', 'maps.example.org', 'user'), by host or by origin."""


@dataclass(frozen=True, slots=True)
class Source:
    """The values of one source, and the problems found in it."""

    origin: str
    """'option', 'environment' or the file's path."""
    values: dict[Key, tuple[object, str]] = field(default_factory=dict)
    """Each with its origin: 'option', 'environment GEOCRAWL_X' or the file's path."""
    problems: list[str] = field(default_factory=list)


def from_options(options: Mapping[str, object]) -> Source:
    """Read options by setting name. None counts as not given."""
    source = Source("option")
    known = settings_by_name()
    for name, value in options.items():
        shown = known[name].option_name if name in known else "--" + name.replace("_", "-")
        if value is None:
            continue
        if name == "set" and isinstance(value, Mapping):
            _read_set(source, value, shown, "option")
        elif name == "proxy" and values.has_credentials(str(value)):
            source.problems.append(
                f"{shown}: a user and password on the command line can be seen by everyone on this machine: "
                "put them into GEOCRAWL_PROXY or a configuration file"
            )
        else:
            _read_simple(source, name, value, shown, "option")
    return source


def from_environment(environ: Mapping[str, str]) -> Source:
    """Read the variables GEOCRAWL_<NAME>; an empty one counts as not given."""
    source = Source("environment")
    for variable in sorted(environ):
        text = environ[variable]
        if not variable.startswith(ENVIRONMENT_PREFIX) or variable in _NOT_SETTINGS or not text:
            continue
        name, origin = variable.removeprefix(ENVIRONMENT_PREFIX).lower(), f"environment {variable}"
        if name == "set":
            pairs = (part.partition("=") for part in text.split(",") if part.strip())
            _read_set(source, {key.strip(): value.strip() for key, _, value in pairs}, variable, origin)
        elif name == "sites":
            source.problems.append(f"{variable}: settings of single hosts are read from configuration files only")
        else:
            _read_simple(source, name, text, variable, origin)
    return source


def from_file(file: Path) -> Source:
    """Read a TOML file; one that does not exist has no values."""
    import tomllib

    source = Source(str(file))
    try:
        table = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return source
    except OSError as error:
        if isinstance(error, PermissionError) and file == SYSTEM_FILE:  # may contain passwords of the service's sites
            return source
        source.problems.append(f"{file}: cannot be read: {error.strerror or error}")
        return source
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        source.problems.append(f"{file}: not TOML: {error}")
        return source
    for name, value in table.items():
        if name in ("set", "sites"):
            _read_table(source, file, name, value)
        else:
            _read_simple(source, name, _beside(file, name, value), f"{file}: {name}", str(file))
    return source


def _read_table(source: Source, file: Path, name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        source.problems.append(f"{file}: {name}: expected a table, [{name}]")
    elif name == "set":
        _read_set(source, dict(_flat(value)), f"{file}: [set]", str(file))
    else:
        for key, settings in value.items():
            shown = f'{file}: [sites."{values.without_credentials(key)}"]'
            _read_site(source, key, settings, shown, str(file))


def _read_simple(source: Source, name: str, value: object, shown: str, origin: str) -> None:
    known = settings_by_name()
    if name not in known or known[name].takes == "table":
        source.problems.append(f"{shown}: no such setting{nearest(name, known)}")
        return
    _read_one(source, known[name], (name,), value, shown, origin)


def _read_one(source: Source, setting: Setting, key: Key, value: object, shown: str, origin: str) -> None:
    try:
        read = setting.read(value)
        if setting.field == "db":
            place_of(str(read))  # here, because its value may contain a password: nobody may print it
        source.values[key] = (read, origin)
    except UsageError as error:
        source.problems.append(f"{shown} {str(error).removeprefix('db ')}")
    except ValueError as error:
        source.problems.append(f"{shown} = {_quoted(setting, value)}: expected {error}")


def _read_set(source: Source, table: Mapping[object, object], shown: str, origin: str) -> None:
    """Read constants of strategies; whether a strategy has them is checked when it is made."""
    for key, value in table.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if not key or not text or not isinstance(value, str | int | float):
            source.problems.append(f"{shown}: {key!s} = {value!r}: expected NAME=VALUE, such as gws.lambda=0.7")
        else:
            source.values["set", str(key)] = (text, origin)


def _read_site(source: Source, key: str, settings: object, shown: str, origin: str) -> None:
    if not isinstance(settings, Mapping):
        source.problems.append(f"{shown}: expected a table of settings")
        return
    site = _read_site_key(key)
    if site is None:
        examples = "maps.example.org, or an origin, such as https://maps.example.org:8443"
        source.problems.append(f"{shown}: expected a host name, such as {examples}")
        return
    known = site_settings_by_name()
    for name, value in settings.items():
        if name not in known:
            source.problems.append(f"{shown} {name}: no such setting{nearest(name, known)}")
        elif "://" in site and name not in _OF_ORIGIN:
            source.problems.append(f'{shown} {name}: belongs to the host, whatever its port: [sites."HOST"]')
        else:
            _read_one(source, known[name], ("sites", site, name), value, f"{shown} {name}", origin)


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


def _quoted(setting: Setting, value: object) -> str:
    """Return the value as it was written, secrets masked."""
    if setting.secret and isinstance(value, str):
        return repr(values.without_credentials(value)) if setting.field == "proxy" else "'***'"
    return repr(value)
