"""Convert options and arguments only where there is something to convert.

Typer converts the value of every parameter with Pydantic, also that of an option which was not given and one that is a
text and stays a text. Importing Pydantic for that took a third of the CPU time of `geocrawl status`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, get_args, get_origin


def convert_when_needed(parameters: Sequence[Any]) -> Sequence[Any]:
    """Return parameters of a command that convert no value which already has their type."""
    for each in parameters:
        if hasattr(each, "type_descriptor"):  # older versions of Typer convert without Pydantic
            each.process_value = partial(_process, each)
    return parameters


def _process(parameter: Any, ctx: Any, value: Any) -> Any:
    """Return the value that the command receives (`click.Parameter.process_value`)."""
    annotation = parameter.type_descriptor.annotation
    if value is None and not parameter.required:
        value = () if parameter.multiple or parameter.nargs == -1 else None
    elif _has_type(value, annotation):
        value = list(value) if isinstance(value, tuple) else value
    elif annotation is int and _is_number(value, parameter.type_descriptor.parameter_info):
        value = int(value)
    else:
        return type(parameter).process_value(parameter, ctx, value)
    return parameter.callback(ctx, parameter, value) if parameter.callback else value


def _has_type(value: Any, annotation: Any) -> bool:
    """Return whether a value is exactly what an annotation such as `str` or `list[str]` names."""
    if get_origin(annotation) is list and isinstance(value, list | tuple) and value:
        return all(_has_type(item, get_args(annotation)[0]) for item in value)
    return type(value) is annotation


def _is_number(value: Any, limits: Any) -> bool:
    """Return whether a value is the digits of a number within its limits; Typer reads other spellings, and names what
    is wrong with a value."""
    if not (isinstance(value, str) and value.isascii() and value.isdigit()):
        return False
    return (limits.min is None or int(value) >= limits.min) and (limits.max is None or int(value) <= limits.max)
