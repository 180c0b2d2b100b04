"""`geocrawl service install` and `uninstall`: the systemd unit, its user and an example configuration."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from geocrawl.cli.program import program

Root = Annotated[Path, typer.Option("--root", metavar="DIR", help="Write below this directory (for packagers).")]
_GROUP = "geocrawl"
_PLAIN_WORD = re.compile(r"[\w./+=:,@-]+")
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print what would be done, and do nothing.")]


@dataclass(frozen=True, slots=True)
class Installed:
    """A file of the service."""

    path: Path
    """Relative to the root."""
    text: str
    mode: int = 0o644
    """Permissions of the file."""
    keep: bool = False
    """Never overwrite or remove the file: it belongs to the operator."""


def install(root: Root = Path("/"), dry_run: DryRun = False) -> None:
    """Install the unit, its user and an example configuration; start nothing.

    Then: systemctl enable --now geocrawl
    """
    for file in files():
        target = root / file.path
        if file.keep and target.exists():
            typer.echo(f"kept     {target}")
            continue
        typer.echo(f"{'would write' if dry_run else 'wrote':<8} {target}")
        if not dry_run:
            _write(target, file)
    if root == Path("/") and not dry_run:
        _run_systemd(["systemd-sysusers", "geocrawl.conf"], ["systemctl", "daemon-reload"])
        for file in files():
            if not file.mode & 0o004:
                _give_to_group(root / file.path)
        typer.echo("Start it with: systemctl enable --now geocrawl")


def uninstall(root: Root = Path("/"), dry_run: DryRun = False) -> None:
    """Stop the service and remove its unit and user file; keep the catalogue and the configuration."""
    if root == Path("/") and not dry_run:
        _run_systemd(["systemctl", "disable", "--now", "geocrawl"])
    for file in files():
        target = root / file.path
        if file.keep or not target.exists():
            continue
        typer.echo(f"{'would remove' if dry_run else 'removed':<8} {target}")
        if not dry_run:
            _remove(target)
    if root == Path("/") and not dry_run:
        _run_systemd(["systemctl", "daemon-reload"])


def files() -> tuple[Installed, ...]:
    """Return the files of the service with their contents."""
    from geocrawl.config.example import example

    unit = (folder() / "geocrawl.service").read_text("utf-8").replace("@GEOCRAWL@", command_line(program()))
    return (
        Installed(Path("etc/systemd/system/geocrawl.service"), unit),
        Installed(Path("etc/sysusers.d/geocrawl.conf"), (folder() / "geocrawl.sysusers").read_text("utf-8")),
        Installed(Path("etc/geocrawl/config.toml"), example(), mode=0o640, keep=True),
    )


def folder() -> Path:
    """Return the folder `systemd`: in the data folder of an installed geocrawl, else at the top of a checkout."""
    import geocrawl

    package = Path(geocrawl.__file__).parent
    installed = package / "data" / "systemd"
    return installed if installed.is_dir() else package.parent / "systemd"


def command_line(words: Sequence[str]) -> str:
    """Return the words of a command as ExecStart= reads them (systemd.service(5), "Command lines").

    A word with other characters than usual paths have is quoted; `%` and `$` have a meaning in quotes, too. systemd
    starts no program whose path has quotes or a backslash, so env(1) starts those.
    """
    replaced = any(character in words[0] for character in "\"'\\$")
    words = ("/usr/bin/env", *words) if replaced else words
    return " ".join(word if _PLAIN_WORD.fullmatch(word) else _quoted(word) for word in words)


def _quoted(word: str) -> str:
    for character, written in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$")):
        word = word.replace(character, written)
    return f'"{word}"'


def _write(target: Path, file: Installed) -> None:
    from geocrawl.errors import EnvironmentFault
    from geocrawl.files import write_whole

    try:
        write_whole(target, file.text, mode=file.mode)
    except EnvironmentFault as fault:
        raise EnvironmentFault(f"{fault}; installing a service needs root (sudo)") from None


def _give_to_group(target: Path) -> None:
    """Let the service's group read a file of root: the configuration may hold passwords, so nobody else may."""
    try:
        shutil.chown(target, group=_GROUP)
    except (LookupError, OSError):
        typer.echo(f"not done chgrp {_GROUP} {target} (there is no such group here); the service could not read it")


def _remove(target: Path) -> None:
    from geocrawl.errors import EnvironmentFault

    try:
        target.unlink()
    except OSError as error:
        raise EnvironmentFault(f"{target}: {error.strerror}; this needs root (sudo)") from None


def _run_systemd(*commands: list[str]) -> None:
    """Run systemd's programs if they are installed; print failures and go on."""
    for command in commands:
        if shutil.which(command[0]) is None:
            typer.echo(f"not run  {' '.join(command)} (no {command[0]} here)")
            continue
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own words
        if done.returncode != 0:
            typer.echo(f"failed   {' '.join(command)}: {' '.join(done.stderr.split())[:200]}", err=True)
