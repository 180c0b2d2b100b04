"""An example configuration: every setting with its meaning, unit and default, commented out."""

from __future__ import annotations

from collections.abc import Iterator

from geocrawl.config.names import Setting, settings_by_name, site_settings_by_name

_HEAD = """\
# /etc/geocrawl/config.toml: the settings of geocrawl (a user's own are in ~/.config/geocrawl/config.toml, a folder's in
# ./geocrawl.toml; the environment and options win over all files). Each line that is commented out is the default.
# `geocrawl config check FILE` looks it over, `geocrawl config show` prints what is in force.
"""


def example() -> str:
    """The text of the file; it is well-formed, and so is it with every `#name = value` line uncommented."""
    lines = [_HEAD]
    for setting in settings_by_name().values():
        if setting.takes != "table":
            lines += _lines(setting)
    lines += [
        "# Constants of strategies (`geocrawl strategies` lists them), such as:",
        "#[set]",
        '#"gws.lambda" = 0.7',
        "",
    ]
    lines += ["# What holds for one host:", '#[sites."maps.example.org"]']
    for setting in site_settings_by_name().values():
        lines += _lines(setting)
    return "\n".join(lines)


def _lines(setting: Setting) -> Iterator[str]:
    takes = f" ({setting.takes})" if setting.takes not in ("text", "number", "true/false") else ""
    yield f"# {setting.described}{takes}"
    yield f"#{setting.name} = {_value(setting)}"
    yield ""


def _value(setting: Setting) -> str:
    common = settings_by_name().get(setting.name, setting)
    shown = setting.show(common.default if setting.default is None else setting.default)
    if isinstance(shown, bool):
        return str(shown).lower()
    if isinstance(shown, tuple):
        return str([*shown])
    return f'"{shown}"' if isinstance(shown, str) else str(shown)
