"""Allow and deny lists: what an entry names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.urls import AddressRules, read_url
from geocrawl.urls.stop import AddressList, matches, read_entry

NAMED = [
    ("example.org", "http://example.org/", True),
    ("example.org", "https://a.b.EXAMPLE.org:8080/x", True),
    ("example.org", "http://notexample.org/", False),
    ("example.org", "http://example.org.evil.test/", False),
    (".cn", "http://www.gov.cn/maps", True),
    (".cn", "http://cn.example/", False),
    ("münchen.de", "http://www.xn--mnchen-3ya.de/", True),
    ("192.0.2.1", "http://3221225985/", True),
    ("example.org/private", "http://example.org/Private/a?b=c", True),
    ("example.org/private", "http://www.example.org/private", False),
    ("*.example.org/private/*.html", "http://www.example.org/private/a/b.html", True),
    ("*.example.org", "http://www.example.org/anything", True),
    ("*.example.org", "http://example.org/", False),
    ("https://*/wms", "https://a.test/wms", True),
    ("https://*/wms", "http://a.test/wms", False),
    ("*/calendar/*", "http://a.test/x/calendar/2031", True),
    ("*?*session=*", "http://a.test/x?a=1&session=9", True),
]


@pytest.mark.parametrize(("entry", "address", "named"), NAMED)
def test_an_entry_names_what_it_says(entry: str, address: str, named: bool) -> None:
    url = read_url(address)
    assert url is not None
    assert AddressList([entry]).covers(url) is named


def test_deny_wins_and_an_allow_list_shuts_out_the_rest() -> None:
    rules = AddressRules(allow=["example.org"], deny=["secret.example.org", "*.pdf"])
    reasons = {
        address: rules.reason(url)
        for address in (
            "http://example.org/",
            "http://secret.example.org/",
            "http://a.test/",
            "http://example.org/a.pdf",
        )
        if (url := read_url(address))
    }
    assert list(reasons.values()) == ["", "deny", "allow", ""]  # "*.pdf" without a path is a host
    assert AddressRules((), ()).reason(read_url("http://a.test/")) == ""  # type: ignore[arg-type]


@pytest.mark.parametrize("entry", ["", "*", "a b.org", "*.*", "/", "exa_mple!.org", "http://", "https:///x", "*" * 30])
def test_an_entry_that_cannot_be_meant_is_refused(entry: str) -> None:
    with pytest.raises(ValueError, match="a domain"):
        read_entry(entry)


@given(st.lists(st.text("ab", max_size=3), min_size=2, max_size=6), st.text("ab", max_size=12))
def test_stars_mean_what_they_mean_in_a_regular_expression(parts: list[str], text: str) -> None:
    expected = re.fullmatch(".*".join(map(re.escape, parts)), text) is not None
    assert matches(parts, text) is expected
