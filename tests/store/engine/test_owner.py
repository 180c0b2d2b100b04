"""An owner is judged dead only where its process could be asked for; what former versions wrote is understood."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace

import pytest

from geocrawl.store.engine.owner import Owner, is_dead, this_process

HERE = replace(this_process(), boot="0123abcd", namespace="4026531836")


def ended_pid() -> int:
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_what_is_stored_names_all_that_is_known_and_is_read_again() -> None:
    assert Owner.read(HERE.text) == HERE
    assert HERE.text == f"{HERE.machine} 0123abcd 4026531836 {HERE.started}:{os.getpid()}"
    assert str(HERE) == f"process {os.getpid()} on {HERE.machine}"


def test_this_process_runs() -> None:
    assert this_process().is_running(this_process()) is True


@pytest.mark.parametrize("text", ["", "nobody", "somewhere:", "somewhere:x"])
def test_a_text_that_names_no_process_is_never_dead(text: str) -> None:
    assert not is_dead(text, HERE)


def test_a_row_of_a_former_version_is_judged_by_the_number_of_the_process_alone() -> None:
    assert is_dead(f"{HERE.machine}:{ended_pid()}", HERE)
    assert not is_dead(f"{HERE.machine}:{os.getpid()}", HERE)
    assert not is_dead(f"elsewhere:{ended_pid()}", HERE)


@pytest.mark.parametrize(
    ("other", "running"),
    [
        ({}, False),
        ({"machine": "elsewhere"}, None),
        ({"namespace": "4026532000"}, None),
        ({"namespace": "4026532000", "boot": "99999999"}, None),
        ({"boot": "99999999"}, False),
    ],
)
def test_another_machine_and_another_container_cannot_be_asked(other: dict[str, str], running: bool | None) -> None:
    assert replace(HERE, pid=ended_pid(), **other).is_running(HERE) is running  # type: ignore[arg-type]


def test_two_machines_of_one_name_whose_containers_number_alike_are_not_told_by_their_boots() -> None:
    inside = replace(HERE, namespace="4026532000")
    assert replace(inside, boot="99999999", pid=ended_pid()).is_running(inside) is None


def test_a_number_that_was_given_out_again_is_another_process() -> None:
    assert replace(HERE, started=HERE.started - 1).is_running(HERE) is False
