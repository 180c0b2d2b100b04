"""Options that commands share, and those that are made from the settings.

A command whose first parameter is `overrides: Overrides` gets an option for each setting that names the command in
`settings.py`; what was given on the command line arrives in `overrides`, ready for `settings_from`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from urllib.parse import urlsplit

import typer

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.files import is_standard_output, refuse_database

if TYPE_CHECKING:
    from geocrawl.config import Configuration
    from geocrawl.config.names import Setting
    from geocrawl.model import Kind
    from geocrawl.settings import Settings
    from geocrawl.store import Connection, Store
    from geocrawl.store.catalogue.catalogue import Catalogue
    from geocrawl.urls.database import DatabaseUrl

E = TypeVar("E", bound=StrEnum)

Overrides = dict[str, object]
"""Settings that were given as options, by name; the value as typed; and under `CONFIG` a file of settings."""
CONFIG = "config"

Json = Annotated[bool, typer.Option("--json", help="Print JSON, short for --format json.")]
FORMATS = ("table", "json", "jsonl")
"""Formats of a command's output, the default first."""
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[int, typer.Option("--port", metavar="N", min=1, max=65535, help="Port to listen on.")]
Rate = Annotated[
    int, typer.Option("--rate", metavar="N", min=0, help="Maximum requests of a client a minute; 0: no limit.")
]
Region = Annotated[
    str | None, typer.Option("--region", metavar="NAME", help="Africa, Americas, Asia, Europe or Oceania.")
]
Language = Annotated[
    str | None, typer.Option("--language", metavar="CODE", help="Language of the country: de, fr, zh …")
]


def with_settings(function: Callable[..., None], command: str) -> Callable[..., None]:
    """Return the function of a command with the options of the command's settings instead of `overrides`.

    `command` is the full name, such as 'seeds check'. A function without `overrides` is returned as it is.
    """
    from geocrawl.config.names import settings_by_name

    signature = inspect.signature(function, eval_str=True)
    if "overrides" not in signature.parameters:
        return function
    settings = [setting for setting in settings_by_name().values() if setting.is_option_of(command)]

    def call(**values: Any) -> None:
        config = values.pop(CONFIG, None)
        typed = {setting.name: _override(setting, values.pop(setting.name)) for setting in settings}
        given = {name: value for name, value in typed.items() if value is not None}
        function(overrides=given if config is None else given | {CONFIG: config}, **values)

    own = [parameter for parameter in signature.parameters.values() if parameter.name != "overrides"]
    parameters = [*own, *(_parameter(setting, command) for setting in settings), _config_parameter()]
    return _declared(call, function, parameters)


def with_format(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a command, with `--format table|json|jsonl` as another form of its `--json`.

    A function without `json`, or with formats of its own, is returned as it is.
    """
    from geocrawl.cli.output import json_lines

    signature = inspect.signature(function, eval_str=True)
    if "json" not in signature.parameters or "format_" in signature.parameters:
        return function

    def call(*, json: bool, format_: str, **values: Any) -> None:
        chosen = chosen_format(format_, json, FORMATS)
        with json_lines(chosen == "jsonl"):
            function(json=chosen != "table", **values)

    help_ = "Output format; jsonl: one JSON object a line."
    info = typer.Option("table", "--format", metavar="|".join(FORMATS), help=help_)
    added = inspect.Parameter("format_", inspect.Parameter.KEYWORD_ONLY, default=info, annotation=str)
    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in signature.parameters.values()]
    return _declared(call, function, [*own, added])


def with_wide(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function of a command that prints tables, with `--wide`."""
    from geocrawl.cli.output import whole_rows

    signature = inspect.signature(function, eval_str=True)

    def call(*, wide: bool, **values: Any) -> None:
        with whole_rows(wide):
            function(**values)

    info = typer.Option(False, "--wide", help="Print all columns uncut, wider than the terminal.")
    added = inspect.Parameter("wide", inspect.Parameter.KEYWORD_ONLY, default=info, annotation=bool)
    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in signature.parameters.values()]
    return _declared(call, function, [*own, added])


def chosen_format(format_: str, json: bool, formats: Sequence[str]) -> str:
    """Return the format that `--format` names, json for `--json`. Raises UsageError for another one, and for both."""
    if format_ not in formats:
        *others, last = formats
        raise UsageError(f"--format {format_!r}: expected {', '.join(others)} or {last}")
    if json and format_ not in (formats[0], "json"):
        raise UsageError(f"--json means --format json; omit it for --format {format_}")
    return "json" if json else format_


def _declared(
    call: Callable[..., None], function: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """Return `call` with the name and text of a command's function, and with these parameters for Typer to read."""
    call.__signature__ = inspect.Signature(list(parameters))  # type: ignore[attr-defined]  # what Typer reads
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__doc__, call.__name__ = function.__doc__, function.__name__
    return call


def _parameter(setting: Setting, command: str) -> inspect.Parameter:
    """Return the parameter from which Typer makes the setting's option."""
    help_text = setting.option.helps.get(command, setting.help) if setting.option else setting.help
    text = f"Do not {help_text}" if setting.default is True else help_text[0].upper() + help_text[1:]
    if isinstance(setting.default, bool):
        info, takes = typer.Option(False, *setting.option_names, help=f"{text}."), bool
        return inspect.Parameter(setting.name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=takes)
    default = f" [{setting.default_shown}]" if setting.default_shown else ""
    # The backslash keeps Rich from reading text in square brackets as markup.
    help_ = f"{text}{default}.".replace("[", "\\[")
    info = typer.Option(None, *setting.option_names, metavar=setting.metavar, help=help_)
    return inspect.Parameter(setting.name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=_type_of(setting))


def _config_parameter() -> inspect.Parameter:
    help_ = "Configuration file to read instead of the usual ones (`geocrawl config show`)."
    info = typer.Option(None, "--config", metavar="FILE", help=help_)
    return inspect.Parameter(CONFIG, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=Path | None)


def _type_of(setting: Setting) -> Any:
    """Return what Typer converts the option's value to; None means that it was not given."""
    if setting.takes in ("table", "list"):
        return list[str] | None
    # Durations and sizes are checked by `config.load`, as in files.
    return int | None if isinstance(setting.default, int) else str | None


def _override(setting: Setting, value: Any) -> object:
    """Return the setting's value that an option means; None when the option was not given."""
    if isinstance(setting.default, bool):
        return not setting.default if value else None
    if setting.takes == "table":
        return key_value_pairs(value) if value else None
    if setting.takes == "list":
        return value or None
    return value


def settings_from(overrides: Mapping[str, object]) -> Settings:
    """Return the settings in force: `overrides` first, then environment, files and defaults (`config.load`)."""
    return configuration_from(overrides).settings


def configuration_from(overrides: Mapping[str, object]) -> Configuration:
    """Return the settings in force with their origins. Raises UsageError for a file that is not there."""
    from geocrawl.config import load

    options, files = options_and_files(overrides)
    for file in files or ():
        if not file.exists():
            raise UsageError(f"--config {file}: no such file")
    return load(options, environ=os.environ, cwd=current_folder(), files=files)


def settings_of_run(overrides: Mapping[str, object], say: Callable[[str], object]) -> Settings:
    """Return the settings of a crawl or of the daemon: those in force, and with a preset those of its paper.

    The preset is the strategy of the settings, else the one that the catalogue is crawled with. `say` is given a line
    on what the preset sets, and on each of its settings that a person changed.
    """
    from geocrawl.errors import DatabaseFault
    from geocrawl.priority.registry import setup_of
    from geocrawl.store import Store, stored_strategy

    configuration = configuration_from(overrides)
    strategy = configuration.settings.strategy
    if not strategy:
        with suppress(DatabaseFault):  # the run says what is wrong with it
            place = database_path_from(configuration.settings)
            if Store.exists(place):
                with Store.open_readonly(place) as connection:
                    strategy = stored_strategy(connection)
    setup = setup_of(strategy) if strategy else {}
    settings, notes = configuration.with_setup(strategy, setup) if setup else (configuration.settings, [])
    for note in notes:
        say(note)
    return settings


def options_and_files(overrides: Mapping[str, object]) -> tuple[dict[str, object], list[Path] | None]:
    """Return the settings that were given as options, and the files that replace the usual ones, if any were named."""
    file = overrides.get(CONFIG)
    options = {name: value for name, value in overrides.items() if name != CONFIG}
    return options, [file] if isinstance(file, Path) else None


def current_folder() -> Path:
    """Return the current folder.

    Raises EnvironmentFault when the folder was deleted or may not be entered.
    """
    try:
        return Path.cwd()
    except OSError as error:
        raise EnvironmentFault(f"the current folder: {error.strerror}; change to another one (cd)") from None


def database_path_from(settings: Settings) -> DatabaseUrl:
    """Return where the catalogue is."""
    from geocrawl.config import database_path

    return database_path(settings, os.environ)


def catalogue_if_any(settings: Settings) -> DatabaseUrl | None:
    """Return where the catalogue is; None for a user without a home folder."""
    try:
        return database_path_from(settings)
    except EnvironmentFault:
        return None


def new_database_path_from(settings: Settings, overrides: Mapping[str, object]) -> DatabaseUrl:
    """Return where the catalogue is for a command that makes one where none is.

    Raises UsageError when the command line names a folder that does not exist, which is probably mistyped; that of the
    configuration or of the user's data is made (`seeds add` fills the catalogue before the service first starts).
    """
    from geocrawl.urls.database import ServerDatabase

    path = database_path_from(settings)
    if isinstance(path, ServerDatabase) or str(path) == ":memory:":
        return path
    if "db" in overrides and not path.parent.exists():
        raise UsageError(f"--db {path}: the folder {path.parent} does not exist; create it, or name another file")
    return path


def path_from(overrides: Mapping[str, object]) -> DatabaseUrl:
    """Return where the catalogue is that a command works on."""
    return database_path_from(settings_from(overrides))


def catalogue_name(overrides: Mapping[str, object]) -> str:
    """Return the name of the catalogue for readers elsewhere: that of its file without folders, or of its server."""
    path = path_from(overrides)
    return path.name if isinstance(path, Path) else str(path)


@contextmanager
def writing(overrides: Mapping[str, object]) -> Iterator[Store]:
    """Open the catalogue, which must exist, to change it."""
    from geocrawl.fetch.clock import SystemClock
    from geocrawl.store import Store

    with Store.open(path_from(overrides), clock=SystemClock(), create=False) as store:
        yield store


def reading(overrides: Mapping[str, object], *, with_secrets: bool = False) -> Catalogue:
    """Open the catalogue to read it; create and change nothing. `with_secrets`: addresses in full, with their keys."""
    from geocrawl.store.catalogue.catalogue import Catalogue

    return Catalogue(path_from(overrides), with_secrets=with_secrets)


@contextmanager
def connection(overrides: Mapping[str, object]) -> Iterator[Connection]:
    """Open the database to read the queue and what else a crawl keeps next to the catalogue."""
    from geocrawl.store import Store

    with Store.open_readonly(path_from(overrides)) as opened:
        yield opened


def number_of(text: str) -> int | None:
    """Return the number of a service that a person typed; None for text that is no number, 0 for one that none has."""
    if not text.isdecimal():
        return None
    return int(text) if len(text) < 19 else 0


def shipped(name: str, in_checkout: str) -> Path:
    """Return the path of a file in the data of an installed geocrawl, else of its original in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "data" / name
    return installed if installed.exists() else package.parent / in_checkout


def refuse_catalogue(out: Path | None, overrides: Overrides, *, over: bytes = b"") -> None:
    """Raise UsageError when a file to write is the catalogue, or another database, by whatever name.

    None and `-` are standard output. `over`: the application id of databases that may be written over.
    """
    if out is not None and not is_standard_output(out):
        refuse_database(out, database_path_from(settings_from(overrides)), over=over)


def kind_of(text: str) -> Kind:
    """Return the service kind that `--kind` names, in any case.

    Raises UsageError for an unknown name.
    """
    from geocrawl.model import Kind

    try:
        return Kind(text.strip().lower())
    except ValueError:
        raise UsageError(f"--kind {text!r}: expected one of {', '.join(Kind)} (`geocrawl kinds`)") from None


def one_of(choices: type[E], text: str, option: str) -> E:
    """Return the choice that an option names, in any case. Raises UsageError for another word."""
    try:
        return choices(text.strip().lower())
    except ValueError:
        raise UsageError(f"{option} {text!r}: expected one of {', '.join(choices)}") from None


def key_value_pairs(items: list[str]) -> dict[str, str]:
    """Return `--set KEY=VALUE` options as a mapping.

    Raises UsageError for one without '='.
    """
    pairs = {}
    for item in items:
        key, separator, value = item.partition("=")
        if not separator or not key.strip():
            raise UsageError(f"--set {item!r}: expected KEY=VALUE, such as --set gws.lambda=0.7")
        pairs[key.strip()] = value.strip()
    return pairs


def check_address(option: str, address: str) -> None:
    """Raise UsageError for an option whose value is neither '' nor an address of the web."""
    if address and urlsplit(address).scheme not in ("http", "https"):
        raise UsageError(f"{option} {address!r}: expected an address such as https://maps.example.org/catalogue")
