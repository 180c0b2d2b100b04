"""Store the finished lines of a list of addresses, so that an interrupted probe of the list can be resumed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from geocrawl.app.probe_line import ProbeLine
from geocrawl.errors import EnvironmentFault
from geocrawl.files import SECRET, make_folder
from geocrawl.model import Kind
from geocrawl.urls.database import Place


class ProbeJournal:
    """A file with the finished lines of a list, one JSON object a line, which is removed when the list is done."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def of(cls, list_file: Path, database: Place | None, kind: Kind | None) -> ProbeJournal:
        """Return the journal of a list with its present content, of probes as this kind for this catalogue.

        Raises EnvironmentFault when the user's cache folder cannot be made.
        """
        from geocrawl.config import user_folder

        text = f"{list_file.resolve()}\n{database}\n{kind or ''}\n".encode() + list_file.read_bytes()
        name = f"probe-{hashlib.sha256(text).hexdigest()[:24]}.jsonl"
        folder = user_folder("cache", os.environ)
        try:
            make_folder(folder)
        except OSError as error:
            raise EnvironmentFault(f"{folder}: {error.strerror}; the progress of the list is stored there") from None
        return cls(folder / name)

    def lines(self) -> Iterator[tuple[str, ProbeLine]]:
        """Yield (endpoint key, line) of an earlier run that was interrupted; an incomplete last line is skipped."""
        if not self._path.exists():
            return
        for text in self._path.read_text(encoding="utf-8").splitlines():
            try:
                values = json.loads(text)
            except ValueError:
                continue
            yield values["key"], ProbeLine.from_json(values["line"])

    def write(self, key: str, line: ProbeLine) -> None:
        """Append one line. Raises EnvironmentFault when it cannot be written."""
        text = json.dumps({"key": key, "line": line.as_json()}, ensure_ascii=False) + "\n"
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, SECRET)
            with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise EnvironmentFault(
                f"{self._path}: {error.strerror}; the progress of the list is stored there"
            ) from None

    def remove(self) -> None:
        """Remove the file: the list is done."""
        self._path.unlink(missing_ok=True)
