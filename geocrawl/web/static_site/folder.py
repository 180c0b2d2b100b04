"""Write the files of a site: each whole, only those that changed, in a folder that has only the site.

A manifest in it has a seal for what was made of a service: a hash of what it was made of, and of the sizes and times of
its files. Where the seal still fits, the files are what they would be if they were made again. A publish that ends in
the middle leaves the former manifest, whose seals do not fit the files that were written since."""

from __future__ import annotations

import fcntl
import filecmp
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from geocrawl.errors import EnvironmentFault, UsageError
from geocrawl.files import make_folder

MARK = "geocrawl-site.json"
"""Its presence says that geocrawl made the folder, and may write over and remove files of `_OWN` in it."""
_MARKED = b'{"madeBy": "geocrawl publish", "layout": 1}\n'
MANIFEST = "geocrawl-manifest.json"
_LAYOUT = 1
"""Version of the manifest's layout."""
_PART = ".part"
_OWN = re.compile(
    r"(?:services/(?:\d+/)?[^/]+\.(?:html|json|png)|search/(?:words/|cards/\d+/)?[^/]+\.js|static/[^/]+"
    rf"|sitemap(?:-\d+)?\.xml|feed\.(?:atom|json))(?:\{_PART})?|[^/]+\{_PART}"
)
"""Files that a publish removes when they are no longer part of the site: others, such as CNAME, are a person's."""


class SiteFolder:
    """The folder of a site while it is published."""

    def __init__(self, root: Path) -> None:
        """Use `site_folder` to make one."""
        self.root = root
        self.files = 0
        """Files of the site."""
        self.written = 0
        """Files that were new or differed."""
        self.removed = 0
        self.remade_because = ""
        """Why nothing of a former publish was kept, for people; '' where something was, or there was none."""
        self._former: Mapping[str, str] = {}
        self._seals = dict[str, str]()
        self._names = set[str]()
        self._folders = set[Path]()

    def write(self, name: str, content: bytes) -> None:
        """Have `content` in the file of this name; nothing is written where it is there already."""
        self.written += self._replaced(self._target(name), content)

    @staticmethod
    def _replaced(target: Path, content: bytes) -> bool:
        """Have `content` in a file; return whether it was another before."""
        try:
            if target.read_bytes() == content:
                return False
        except OSError:
            pass  # not there, or no file
        part = target.with_name(target.name + _PART)
        with _faults_named(target):
            try:
                part.write_bytes(content)
                part.replace(target)
            except OSError:
                part.unlink(missing_ok=True)
                raise
        return True

    def recall(self, made_by: str) -> None:
        """Read the manifest; `made_by` tells the program and the options of the site, by which all of it is made."""
        try:
            stored: Any = json.loads((self.root / MANIFEST).read_bytes())
            layout, former_maker, seals = stored["layout"], stored["madeBy"], stored["seals"]
        except FileNotFoundError:
            return
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            self.remade_because = f"{MANIFEST} is damaged"
            return
        if layout != _LAYOUT:
            self.remade_because = f"{MANIFEST} is of another version of geocrawl"
        elif former_maker != made_by:
            self.remade_because = "title, address or language of the site changed, or the program"
        elif isinstance(seals, dict):
            self._former = seals
        else:
            self.remade_because = f"{MANIFEST} is damaged"

    def write_made(self, names: Sequence[str], source: str, make: Callable[[], Iterable[bytes]]) -> None:
        """Have what `make` returns in the files of these names; it is not called where they have it already, because
        they were made of the same source and nobody has written them since."""
        if self._seal(names, source) == self._former.get(names[0]):
            self._names.update(names)
            self.files += len(names)
        else:
            for name, content in zip(names, make(), strict=True):
                self.write(name, content)
        self._seals[names[0]] = self._seal(names, source)

    def remember(self, made_by: str) -> None:
        """Write the manifest, when everything else is written."""
        content = json.dumps({"layout": _LAYOUT, "madeBy": made_by, "seals": self._seals}, indent=0).encode()
        self._replaced(self.root / MANIFEST, content)

    def _seal(self, names: Sequence[str], source: str) -> str:
        """Return what tells files, and what they were made of, from others; '' when one is missing."""
        try:
            found = [os.stat(f"{self.root}/{name}") for name in names]  # noqa: PTH116 twice as fast as by Path
        except OSError:
            return ""
        return digest_of(source, [(each.st_size, each.st_mtime_ns) for each in found])

    @contextmanager
    def written_by(self, name: str) -> Iterator[Path]:
        """Yield the path at which another writer writes the file of this name, whole, before it takes its place."""
        target = self._target(name)
        part = target.with_name(f".{target.name}{_PART}")  # exports tell a format by the ending of `name` alone
        yield part
        with _faults_named(target):
            if target.is_file() and filecmp.cmp(part, target, shallow=False):
                part.unlink()
                return
            part.replace(target)
        self.written += 1

    def settle(self) -> None:
        """Have everything that was written on the disk before what refers to it is."""
        os.sync()

    def remove_gone(self) -> None:
        """Remove the files of a former site that are no part of this one, and folders that are empty then."""
        for folder, _, names in os.walk(self.root, topdown=False):
            below = Path(folder).relative_to(self.root)
            for name in names:
                shown = (below / name).as_posix()
                if shown not in self._names and _OWN.fullmatch(shown):
                    with _faults_named(self.root / shown):
                        (self.root / shown).unlink()
                    self.removed += 1
            if below.parts[:1] in (("services",), ("search",)) and not os.listdir(folder):  # noqa: PTH208
                Path(folder).rmdir()

    def _target(self, name: str) -> Path:
        self._names.add(name)
        self.files += 1
        target = self.root / name
        if target.parent not in self._folders:
            with _faults_named(target.parent):
                target.parent.mkdir(parents=True, exist_ok=True)
            self._folders.add(target.parent)
        return target


def digest_of(*values: object) -> str:
    """Return what tells values from others."""
    return blake2b(repr(values).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


@contextmanager
def site_folder(root: Path) -> Iterator[SiteFolder]:
    """Yield the folder of a site, new or published before, which no other process writes meanwhile.

    Raises UsageError for a folder with other files, EnvironmentFault when it cannot be written.
    """
    if root.exists() and not root.is_dir():
        raise UsageError(f"--out {root}: is a file; name a folder")
    with _faults_named(root):
        mark = root / MARK
        if not mark.exists() and root.is_dir() and any(not each.name.startswith(".") for each in root.iterdir()):
            raise UsageError(
                f"--out {root}: has files, and is no site that geocrawl made ({MARK} is missing); "
                "name a new or an empty folder"
            )
        make_folder(root)
        descriptor = os.open(mark, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EnvironmentFault(
                f"{root}: another `geocrawl publish` writes there; wait until it has ended"
            ) from None
        with _faults_named(mark):
            if os.pread(descriptor, len(_MARKED) + 1, 0) != _MARKED:
                os.pwrite(descriptor, _MARKED, 0)
                os.ftruncate(descriptor, len(_MARKED))
        yield SiteFolder(root)
    finally:
        os.close(descriptor)


@contextmanager
def _faults_named(path: Path) -> Iterator[None]:
    """Raise EnvironmentFault with the path for an error of the file system."""
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(
            f"{path}: cannot be written: {error.strerror or error}; a site that was there still works: "
            "make room or allow writing, then publish again"
        ) from error
