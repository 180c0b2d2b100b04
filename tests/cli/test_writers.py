"""No command that writes a file harms a catalogue, loses what was there, or ends with a traceback."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.trials import Scene, scene
from tests.cli.writers import WRITERS, Writer, unlisted_paths
from tests.support.samples import sampled

pytestmark = pytest.mark.machine

OF_DEAR_ONES = ("an ordinary file", "the catalogue", "a hard link", "a read-only file", "a pipe", "a full disk")
"""Where commands are tried that work for seconds before they write; all write files by the same few functions."""
OF_EACH_FORM = ("backup", "restore", "export csv", "service install unit")


@pytest.fixture(scope="module")
def tried() -> Iterator[Scene]:
    with scene() as found:
        yield found


def test_every_parameter_that_takes_a_path_is_listed() -> None:
    assert unlisted_paths() == set()


@pytest.mark.parametrize(
    "writer", sampled(WRITERS, *(each for each in WRITERS if each.name in OF_EACH_FORM)), ids=lambda each: each.name
)
def test_a_command_harms_nothing_at_any_place(tried: Scene, writer: Writer) -> None:
    by_any_name = {"the catalogue", "a symbolic link", "another spelling", "a linked folder"}
    for place in tried.places:
        if writer.command == "restore" and place in by_any_name:
            continue  # nobody works on it here, so that it may be restored
        if writer.dear and place not in OF_DEAR_ONES:
            continue
        trial = tried.attempt(writer, place)
        assert not trial.problems, trial
