"""Settings in force: option, environment, `./geocrawl.toml`, the user's file, /etc/geocrawl/config.toml, default.

The first source that names a setting wins, for each setting by itself (also within `[set]` and `[sites]`). `values`
reads single values, `names` describes the settings, `sources` reads one source, `places` locates files, `show` prints.
Nothing heavy is imported here, since every command loads its settings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from geocrawl.config.names import settings_by_name, site_settings_by_name
from geocrawl.config.places import configuration_files, database_path, user_folder
from geocrawl.config.show import Row, rows
from geocrawl.config.sources import Key, Source, from_environment, from_file, from_options
from geocrawl.errors import UsageError
from geocrawl.settings import Settings, SiteSettings

__all__ = ["Configuration", "Row", "check", "configuration_files", "database_path", "describe", "load", "user_folder"]


@dataclass(frozen=True, slots=True)
class Configuration:
    """The settings in force, and where each value came from."""

    settings: Settings
    origins: Mapping[str, str]
    """By name ('max_pages', 'set.gws.lambda', 'sites."maps.example.org".user'): 'option', 'environment GEOCRAWL_X',
    a file's path or 'default'."""


def load(
    options: Mapping[str, object] | None = None,
    *,
    environ: Mapping[str, str],
    cwd: Path,
    files: Sequence[Path] | None = None,
) -> Configuration:
    """Read all sources and return the settings in force.

    `options` are by setting name (`max_time`), as typed or converted; None counts as not given. `files` replaces the
    usual files, the strongest first. Raises UsageError, one line, for an unknown name or invalid value in any source.
    """
    found = configuration_files(environ, cwd) if files is None else files
    sources = [from_options(options or {}), from_environment(environ), *map(from_file, found)]
    problems = [problem for source in sources for problem in source.problems]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise UsageError(problems[0] + more)
    return _combined(sources)


def check(file: Path) -> list[str]:
    """Return the problems of a configuration file, a line each; none when it is valid."""
    if not file.is_file():
        return [f"{file}: no such file"]
    return from_file(file).problems


def describe(configuration: Configuration) -> list[Row]:
    """Return every setting with its value as people write it (secrets masked), origin, unit and help."""
    return rows(configuration.settings, configuration.origins)


def _combined(sources: Sequence[Source]) -> Configuration:
    merged: dict[Key, tuple[object, str]] = {}
    for source in reversed(sources):
        merged |= source.values
    origins = dict.fromkeys(settings_by_name(), "default")
    simple: dict[str, object] = {}
    constants: dict[str, str] = {}
    sites: dict[str, dict[str, object]] = {}
    for key, (value, origin) in merged.items():
        if len(key) == 1:
            simple[settings_by_name()[key[0]].field] = value
            origins[key[0]] = origin
        elif len(key) == 2:
            constants[key[1]] = str(value)
            origins[f"set.{key[1]}"] = origin
        else:
            sites.setdefault(key[1], {})[site_settings_by_name()[key[2]].field] = value
            origins[f'sites."{key[1]}".{key[2]}'] = origin
    of_hosts = {host: SiteSettings(**own) for host, own in sites.items()}  # type: ignore[arg-type]  # read by name
    settings = Settings(**simple, set=constants, sites=of_hosts)  # type: ignore[arg-type]  # read by name
    return Configuration(settings, origins)
