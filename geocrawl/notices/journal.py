"""Append a message to a file, as one line of JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from geocrawl.errors import UsageError
from geocrawl.files import SECRET, refuse_database
from geocrawl.urls.database import Place


def append(path: Path, message: Mapping[str, object], database: Place) -> str:
    """Append a line; return '' when it is on disk, else what went wrong. `database` is never written to."""
    line = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    try:
        refuse_database(path, database)
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, SECRET)
        try:
            written = os.write(descriptor, line)
            if written < len(line):
                os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
                return "cannot be written: the disk is full"
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except (OSError, UsageError) as error:
        return f"cannot be written: {getattr(error, 'strerror', None) or error}"
    return ""
