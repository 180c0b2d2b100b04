"""Find the topics that a crawl can be about: those shipped, and the user's own."""

from __future__ import annotations

import os
from pathlib import Path

from geocrawl.config import user_folder
from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.priority.topics import Topic
from geocrawl.priority.topics import find_topic as find
from geocrawl.urls.database import DatabaseUrl


def find_topic(name: str) -> Topic:
    """Return the user's own topic of this name, or the shipped one. Raises UsageError for an unknown name."""
    return find(name, topics_folder())


def topics_folder() -> Path | None:
    """Return the folder of the user's own topics; None for a user without a home."""
    try:
        return user_folder("data", os.environ) / "topics"
    except EnvironmentFault:
        return None


def demand_topic(name: str, database: DatabaseUrl) -> None:
    """Raise UsageError when the topic for which a database was crawled has been removed."""
    try:
        find_topic(name)
    except UsageError as error:
        raise UsageError(
            f"{database}: was crawled for the topic {name}, which no longer exists; restore it with "
            f"`geocrawl topics add {name} --text FILE --seeds FILE`, or name another with --topic "
            "(`geocrawl topics list` lists them)"
        ) from error
