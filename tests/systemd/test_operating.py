"""The operator's guide by the letter: what stands under its first headings, typed as it stands there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from textwrap import dedent

import pytest

from geocrawl.demo.web import SEEDS
from tests.support.places import ROOT
from tests.systemd.container import CannotBootError
from tests.systemd.service import CONFIG, DB, GEOCRAWL, MEMBER, Service, machine

pytestmark = pytest.mark.systemd

GUIDE = (ROOT / "docs/operating.md").read_text("utf-8")
FOR_THE_LOOPBACK = "allow_private = true\ndelay = 0.0\nrequests_per_ip = 0\n"


def lines_under(heading: str) -> list[str]:
    """Return the commands under a heading of the guide, without their remarks."""
    section = GUIDE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [re.split(r" +# ", line)[0].strip() for line in re.findall(r"^    (\S.*)", section, re.MULTILINE)]


@pytest.fixture(scope="module")
def bare() -> Iterator[Service]:
    """A machine with geocrawl for all users and no service yet."""
    try:
        with machine() as service:
            yield service
    except CannotBootError as reason:
        pytest.skip(str(reason))


def typed(service: Service, line: str, user: str = "") -> tuple[int, str]:
    """Type a line of the guide; return the exit code and all that was printed."""
    line = line.replace("https://www.example.org/geodata/", " ".join(SEEDS))
    done = service.container.run(*shlex.split(re.sub(r"^geocrawl\b", GEOCRAWL, line)), user=user)
    return done.exit_code, done.stdout + done.stderr


def test_a_service_is_installed_watched_paused_updated_and_removed_as_the_guide_says(bare: Service) -> None:
    dry, unit = typed(bare, "geocrawl service install --dry-run")
    assert dry == 0 and "\nExecStart=" in unit and bare.systemctl("cat", "geocrawl").exit_code != 0

    install, *rest = lines_under("Install as a service")[1:]
    code, said = typed(bare, install)
    assert code == 0 and "Next:" in said and "failed" not in said, said
    steps = [line.strip()[3:] for line in said.splitlines() if re.match(r" +[23]\. ", line)]
    shown = [
        re.sub(r"https?://\S+", "PAGE", line.rpartition("/")[2] if "bin" in line else line) for line in (*steps, *rest)
    ]
    assert [word.split()[0] for word in steps[-1:]] == [rest[-1].split()[0]], shown
    configuration = bare.container.root / CONFIG
    configuration.write_text(
        FOR_THE_LOOPBACK + configuration.read_text().replace('#contact = ""', 'contact = "me@localhost"')
    )
    bare.container.say("usermod", "--append", "--groups=geocrawl", MEMBER)
    for line in rest:
        code, said = typed(bare, line)
        assert code == 0, (line, said)

    bare.wait_for(bare.valid, "a service")
    for user in ("", MEMBER):
        code, said = typed(bare, "geocrawl status", user)
        assert code == 0 and said.startswith("well ") and f"catalogue   {DB}" in said, said
        for line in lines_under("Watch over it"):
            if line.startswith("geocrawl") and "--watch" not in line:
                code, said = typed(bare, line, user)
                assert code == 0, (line, user, said)
    assert DB in typed(bare, "geocrawl pause", MEMBER)[1]
    assert typed(bare, "geocrawl check")[0] == 1 and "LOOK AT     daemon: paused" in typed(bare, "geocrawl status")[1]
    assert typed(bare, "geocrawl resume")[0] == 0
    code, said = typed(bare, "geocrawl watch add 1 --to file:/var/lib/geocrawl/news.jsonl", MEMBER)
    assert code == 0, said

    path, unit = re.findall(r"^    # (/\S+\.service)\n((?:(?:    .*)?\n)+)", GUIDE, re.MULTILINE)[0]
    written = bare.container.root / path.removeprefix("/")
    written.write_text(dedent(unit))
    bare.systemctl("daemon-reload")
    assert bare.systemctl("start", written.name).exit_code == 0
    page = "import urllib.request as it; print(it.urlopen('http://127.0.0.1:8080/').status)"
    bare.wait_for(lambda: bare.container.run("/usr/bin/python3", "-c", page).exit_code == 0, "pages")

    bare.container.say("mkdir", "/srv/backup")
    for line in lines_under("Backup"):
        code, said = typed(bare, line)
        assert code == 0, (line, said)

    kept = configuration.read_text()
    code, said = typed(bare, install)
    assert code == 0 and "kept     /etc/geocrawl/config.toml" in said and configuration.read_text() == kept
    assert bare.start() >= 0
    code, said = typed(bare, f"{GEOCRAWL} service uninstall")
    assert code == 0 and bare.systemctl("cat", "geocrawl").exit_code != 0
    assert typed(bare, "geocrawl status", MEMBER)[0] == 0, "the catalogue stays"
