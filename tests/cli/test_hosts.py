"""Commands that take a host change what is known of it and beneath it, whatever is typed, and of no other host."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.cli.addresses import read_host
from geocrawl.errors import UsageError
from geocrawl.store.upkeep.forget import forget
from geocrawl.urls import is_registry, is_within_domains
from tests.support.world import World, candidate

HOSTS = (
    *("example.org", "a.example.org", "notexample.org", "example.org.other.net", "a-example.org", "a_b.example.net"),
    *("a-b.example.net", "xn--mnchen-3ya.example.net", "muenchen.example.net", "192.0.2.1", "192.0.0.2", "0.0.0.10"),
    *("[2001:db8::1]", "[2001:db8::10]", "localhost"),
)
NOT_HOSTS = (
    *(
        "*",
        "",
        " ",
        ".",
        "..",
        "%",
        "_",
        "com",
        "org.",
        "co.uk",
        "github.io",
        "*.example.org",
        ".example.org",
        "a b.example",
    ),
    *(
        "192.0.2",
        "10",
        "0x7f.1",
        "3221225985",
        "192.0.2.1.5",
        "example..org",
        "';--",
        "\0",
        "[::1",
    ),
)
TYPED = {
    **dict.fromkeys(("example.org", "EXAMPLE.ORG.", "example.org:8080", "http://u:p@Example.org/x?y#z"), "example.org"),
    **dict.fromkeys(("a_b.example.net", "A_B.example.net"), "a_b.example.net"),
    **dict.fromkeys(("münchen.example.net", "xn--mnchen-3ya.example.net"), "xn--mnchen-3ya.example.net"),
    **dict.fromkeys(("192.0.2.1", "192.0.2.1.", "http://192.0.2.1:81/"), "192.0.2.1"),
    "other.net": "other.net",
}


@pytest.mark.parametrize("typed", NOT_HOSTS)
def test_what_is_no_host_or_too_much_of_one_is_refused(typed: str) -> None:
    with pytest.raises(UsageError):
        read_host(typed)


@pytest.mark.parametrize("typed", [*TYPED, "[2001:db8::1]"])
def test_only_the_host_that_was_typed_is_forgotten(tmp_path: Path, typed: str) -> None:
    world = World(tmp_path / "c.db")
    world.frontier.add_candidates([candidate(f"http://{host}/wms") for host in HOSTS])
    names = "SELECT host FROM endpoint ORDER BY host"
    before = [row[0] for row in world.database.connection.execute(names)]
    host = read_host(typed)
    forget(world.database, host, "", 5.0)
    left = [row[0] for row in world.database.connection.execute(names)]
    expected = TYPED.get(typed, host)
    assert host == expected and left == [each for each in before if not is_within_domains(each, {expected})]
    assert len(left) < len(before)


@given(st.text(alphabet=st.sampled_from("abc.*%_:/?@[]-0129xé \t\\\0"), max_size=24))
def test_any_text_is_refused_or_a_host_below_every_registry(text: str) -> None:
    try:
        host = read_host(text)
    except UsageError:
        return
    assert host and not is_registry(host) and not set(host) & set("*%/?@ \t\\\0")
