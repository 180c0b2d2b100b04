"""Read and write a model as readable JSON with the format's name and version, as all models of strategies do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geocrawl.errors import EnvironmentFault, UsageError, described
from geocrawl.files import write_whole


@dataclass(frozen=True, slots=True)
class Format:
    """The format and version in a model's file, so that no file is mistaken for another."""

    name: str
    trained_by: str
    """The command that makes such a model, for messages."""
    version: int = 1


def read_model(path: Path, form: Format) -> dict[str, Any]:
    """Return the model in `path`.

    Raises EnvironmentFault when it cannot be read, UsageError for another format or version.
    """
    try:
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise EnvironmentFault(f"the model {path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"the model {path} is not JSON ({error}); train it again with {form.trained_by}") from error
    if not isinstance(data, dict) or data.get("format") != form.name:
        raise UsageError(f"{path} is no {form.name}; train one with {form.trained_by}")
    if data.get("version") != form.version:
        raise UsageError(
            f"the model {path} has version {data.get('version')}, this geocrawl reads {form.version}; train it again "
            f"with {form.trained_by}"
        )
    return data


def malformed(path: Path, form: Format, error: Exception) -> UsageError:
    """Return the error to raise when a part of the model is missing or of another type."""
    detail = f"{described(error)}"
    return UsageError(f"the model {path} is malformed ({detail}); train it again with {form.trained_by}")


def write_model(path: Path, form: Format, data: Mapping[str, object]) -> None:
    """Write a model, and make its folder. Raises EnvironmentFault when `path` cannot be written."""
    whole = {"format": form.name, "version": form.version, **data}
    write_text(path, json.dumps(whole, ensure_ascii=False, indent=2))


def write_text(path: Path, text: str) -> None:
    """Write a model that is already JSON text. Raises EnvironmentFault when `path` cannot be written."""
    write_whole(path, text + "\n")
