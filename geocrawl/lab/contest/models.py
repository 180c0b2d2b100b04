"""Find a strategy's models and their training files: no model may be measured on a web that it was trained on."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from geocrawl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Model:
    """A model's file and the record of how the model was trained."""

    name: str
    made: Mapping[str, object]

    def learnt_from(self) -> Iterable[tuple[str, str]]:
        """Yield (name, sha256) of each file that the model was trained on."""
        files = self.made.get("files")
        for file in files if isinstance(files, list) else ():
            if isinstance(file, dict):
                yield str(file.get("file", "")), str(file.get("sha256", ""))


def models_read(make: Callable[[], object]) -> tuple[Model, ...]:
    """Return the models that are opened while `make` runs, which makes a strategy."""
    opened: dict[str, None] = {}
    watching = True

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event == "open" and str(arguments[0]).endswith(".json"):
            opened[str(arguments[0])] = None

    sys.addaudithook(note)  # Python cannot remove an audit hook, so `watching` switches it off
    try:
        make()
    finally:
        watching = False
    return tuple(model for path in opened if (model := _read(Path(path))) is not None)


def _read(path: Path) -> Model | None:
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):  # the code that opened the file has already reported this, or did not need the file
        return None
    made = data.get("made") if isinstance(data, dict) else None
    return Model(path.name, made) if isinstance(made, dict) else None


def refuse_trained_on(models: Iterable[Model], world: str, sha256: str) -> None:
    """Raise UsageError when one of the models was trained on the web whose pages have this hash.

    The webs in a record's `exclude` are no reason: their pages were left out of the training.
    """
    for model in models:
        if any(digest == sha256 for _, digest in model.learnt_from()):
            raise UsageError(f"{model.name} was trained on {world}: it cannot be measured there")
