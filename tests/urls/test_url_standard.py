"""Addresses by the examples and rules of the URL standard of WHATWG, and of UTS 46 for hosts.

What geocrawl answers differently is listed in docs/finding.md, "Where geocrawl differs from browsers".
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.urls import read_url

PAGE = "http://h.example/d/p?q=1#f"


@pytest.mark.parametrize(
    ("reference", "address"),
    [
        ("http:/x", "http://h.example/x"),
        ("http:x", "http://h.example/d/x"),
        ("http:?x", "http://h.example/d/p?x"),
        ("http:#x", "http://h.example/d/p?q=1"),
        ("http:", "http://h.example/d/p?q=1"),
        ("HTTP:/x", "http://h.example/x"),
        ("http:\\x", "http://h.example/x"),
        ("http:\\\\o.example\\x", "http://o.example/x"),
        ("http:/\\o.example/x", "http://o.example/x"),
        ("http:///o.example/x", "http://o.example/x"),
        ("https:/o.example/x", "https://o.example/x"),
        ("https:o.example/x", "https://o.example/x"),
        ("http:../x", "http://h.example/x"),
        ("//o.example", "http://o.example/"),
        ("\\\\o.example\\x", "http://o.example/x"),
        ("/\t/o.exam\nple/x", "http://o.example/x"),
        ("..\\x", "http://h.example/x"),
        ("./%2E./x", "http://h.example/x"),
        ("http://o.example:080/", "http://o.example/"),
        ("http://o.example:00000000000000000000081/", "http://o.example:81/"),
        ("http://o.example:/", "http://o.example/"),
        ("http://u:p@o.example/", "http://o.example/"),
        ("http://u@v@o.example/", "http://o.example/"),
        ("http://O.Example/%7Ea", "http://o.example/%7Ea"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[0:0::1]/", "http://[::1]/"),
    ],
)
def test_a_reference_leads_where_it_leads_in_a_browser(reference: str, address: str) -> None:
    found = read_url(reference, PAGE)
    assert found is not None
    assert found.address == address


@pytest.mark.parametrize(
    "reference",
    [
        *("http://", "http://o.example:65536/", "http://o.example:8a/", "http://o b.example/", "http://[::1/"),
        *("http://1.2.3.4.5/", "javascript:alert(1)", "mailto:a@b.example", "data:,http://h.example/"),
        *("http://%zz.example/", "http://a%00b/"),
    ],
)
def test_what_is_no_address_of_the_web_in_a_browser_is_none(reference: str) -> None:
    assert read_url(reference, PAGE) is None


@pytest.mark.parametrize(
    ("written", "ascii_name"),
    [
        ("i❤.ws", "xn--i-7iq.ws"),
        ("I❤️.WS", "xn--i-7iq.ws"),
        ("faß.example", "xn--fa-hia.example"),
        ("Bücher.example", "xn--bcher-kva.example"),
        ("bu\u0308cher.example", "xn--bcher-kva.example"),
        ("ｗｗｗ．example", "www.example"),
        ("a\u00adb.example", "ab.example"),
        ("נ.example", "xn--leb.example"),
        ("☕.example", "xn--53h.example"),
    ],
)
def test_a_host_in_unicode_is_its_name_in_idna(written: str, ascii_name: str) -> None:
    one, other = read_url(f"http://{written}/"), read_url(f"http://{ascii_name}/")
    assert one is not None
    assert one == other
    assert one.host == ascii_name


@pytest.mark.parametrize(
    "host", ["\u0301a.example", "a\u200db.example", "נa.example", "\ufffd.example", "a\ud800.example"]
)
def test_a_host_that_uts_46_does_not_allow_is_none(host: str) -> None:
    assert read_url(f"http://{host}/") is None


@given(st.text(max_size=30), st.sampled_from(["http:", "HTTP:", "http:/", "http:\\"]))
def test_the_scheme_of_the_page_before_a_relative_reference_changes_nothing(rest: str, scheme: str) -> None:
    reference = scheme.partition(":")[2] + rest.strip("".join(map(chr, range(0x21))))
    if not reference[:1].isalpha():  # it might be a scheme of its own
        assert read_url(f"http:{reference}", PAGE) == read_url(reference, PAGE)
