"""Strangers' text is made harmless in one place, and secrets in addresses are masked."""

from __future__ import annotations

import json
import sys
import unicodedata
from urllib.parse import quote
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from geocrawl import sanitize
from geocrawl.sanitize import ending_of, masked, plain

MASKED = [
    ("http://a.test/wms?token=abc123&layers=x", "http://a.test/wms?token=***&layers=x"),
    ("https://a.test/DataServer?T=vec_w&tk=0123abcd", "https://a.test/DataServer?T=vec_w&tk=***"),
    ("http://a.test/?map=m&API_KEY=q.w-e", "http://a.test/?map=m&API_KEY=***"),
    ("http://user:pa:ss@a.test/x", "http://***@a.test/x"),
    ("http://a.test/x;jsessionid=99", "http://a.test/x;jsessionid=***"),
    ('{"detail": "http://a.test/?pwd=hidden"}', '{"detail": "http://a.test/?pwd=***"}'),
    ("http://a.test/?X-Amz-Signature=ff&x=1", "http://a.test/?X-Amz-Signature=***&x=1"),
    ("http://a.test/?u=http%3A%2F%2Fb%3Ftoken%3Dabc", "http://a.test/?u=http%3A%2F%2Fb%3Ftoken%3D***"),
    ("http://a.test/?u=b%253Fapi_key%253Dabc&x=1", "http://a.test/?u=b%253Fapi_key%253D***&x=1"),
    ("http://a.test/#access_token=abc", "http://a.test/#access_token=***"),
    ("http://user:password-that-was-c…", "http://***…"),
    ("The proxy http://127.0.0.1:31…", "The proxy http://127.0.0.1:31…"),
    ("http://127.0.0.1:31…x@a.example/", "http://***…x@a.example/"),
    ("http://user:password-that-was-c", "http://***"),
    ("http://u:p@ss@a.test/x", "http://***@a.test/x"),
    ("http:\\\\u:p@a.test/x and https:/u@a.test", "http:\\\\***@a.test/x and https:/***@a.test"),
    (f"http://u:{'x' * 300}@a.test/?token={'y' * 9000}", "http://***@a.test/?token=***"),
    ("http://a.test/?pw=a;b'c\\d|e&x=1", "http://a.test/?pw=***&x=1"),
    ("http://a.test/?pw=a;layers=b", "http://a.test/?pw=***;layers=b"),
    ("see 'http://a.test/?pw=a', or", "see 'http://a.test/?pw=***', or"),
    (
        json.dumps({"url": "http://a.test/?pw=a\\", "text": 'is "http://a.test/?pw=b"'}),
        json.dumps({"url": "http://a.test/?pw=***", "text": 'is "http://a.test/?pw=***"'}),
    ),
]
LEFT = [
    "http://a.test/?layers=token&keyword=roads",
    "a@b.test",
    "http://a.test/?monkey=1",
    "http://a.test/@user:1",
    "100%26",
    "http://a.test:8080",
    "http://[::1]:80",
    "http://a.test: a title",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Roads of Norvale", "Roads of Norvale"),
        ("  Roads\n\tof   Norvale ", "Roads of Norvale"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;new window title\x07Roads", "Roads"),
        ("\x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\", "click"),
        ("\x9b2Jgone", "gone"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("\ufeff青山省\u3000地图服务\u2028图层", "青山省 地图服务 图层"),
        ("half \ud83d", "half \ufffd"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_what_could_act_on_a_terminal_is_removed_and_the_words_stay(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_the_end_of_a_document_begins_with_no_half_of_a_secret() -> None:
    text = f"<Title>http://a.test/?token={'s3same' * 30}"
    assert ending_of(text) == ending_of(text.encode()) == "ends with “<Title>http://a.test/?token=***”"


def test_a_long_text_is_cut_with_a_mark() -> None:
    assert plain("abcdef", 4) == "abc…"
    assert plain("abcd", 4) == "abcd"
    assert plain("abcd", 0) == "…"


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_any_text_becomes_one_bounded_line_without_controls(text: str, limit: int) -> None:
    out = plain(text, limit)
    assert len(out) <= limit
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in out)
    assert not any(unicodedata.bidirectional(character) in ("RLO", "LRO", "RLE", "LRE", "PDF") for character in out)


@given(st.text())
def test_making_plain_twice_changes_nothing(text: str) -> None:
    assert plain(plain(text)) == plain(text)


def test_a_string_sequence_that_never_ends_does_not_swallow_the_text() -> None:
    assert plain("\x1b]Roads of Norvale") == "Roads of Norvale"


@pytest.mark.parametrize(("text", "expected"), MASKED)
def test_values_that_open_something_are_masked(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize("text", LEFT)
def test_the_rest_is_left(text: str) -> None:
    assert masked(text) == text


@given(st.text("?&;=@:/token key \n", max_size=300))
def test_masking_twice_changes_nothing(text: str) -> None:
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize(
    "name",
    [
        *("token", "access_token", "oauth_token", "sessionToken", "X-Amz-Security-Token", "apitoken", "user[token]"),
        *("key", "apikey", "Api-Key", "authKey", "mapkey", "secret_key", "secretkey", "privatekey", "licence-key"),
        *("Ocp-Apim-Subscription-Key", "AWSAccessKeyId", "client_secret", "X-Goog-Signature", "X-Goog-Credential"),
        *(
            "password",
            "passwort",
            "passwd",
            "passcode",
            "psw",
            "pword",
            "pw",
            "pwd",
            "PASS",
            "password[]",
            "user[password]",
            "bearer",
        ),
        *(
            "sid",
            "ssid",
            "sessid",
            "session_id",
            "sig",
            "Signature",
            "ticket",
            "otp",
            "hmac",
            "consumer_key",
            "api.key",
            "ASPSESSIONIDAB",
            "$$app_token",
            "app_code",
            "appcode",
        ),
    ],
)
def test_parameters_that_give_access_are_masked_by_the_parts_of_their_names(name: str) -> None:
    assert masked(f"see http://h.example/wms?map=a&{name}=s3same&layers=b") == (
        f"see http://h.example/wms?map=a&{name}=***&layers=b"
    )
    within = f"http://h.example/?url=http%3A%2F%2Fx.example%2F%3F{name}%3Ds3same"
    if name.replace("-", "").replace("_", "").isalnum():
        assert "s3same" not in masked(within)


@pytest.mark.parametrize("name", ["map", "layers", "keyword", "design", "passage", "monkey", "side"])
def test_parameters_that_give_no_access_are_shown(name: str) -> None:
    assert masked(f"http://h.example/wms?{name}=a") == f"http://h.example/wms?{name}=a"


@pytest.mark.parametrize("name", ["api_key", "token", "pass", "user[password]"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_escapes_in_the_name_of_a_parameter_hide_nothing(name: str, times: int) -> None:
    for escaped in ("".join(f"%{ord(c):02x}" for c in name), f"{name[:-1]}%{ord(name[-1]):02X}"):
        for _ in range(times - 1):
            escaped = escaped.replace("%", "%25")
        address = f"http://h.example/wms?{escaped}=s3same&layers=b"
        assert masked(address) == f"http://h.example/wms?{escaped}=***&layers=b"
        assert "s3same" not in masked(f"http://x.example/?u={quote(address, safe='')}&v=1")
    assert masked("http://h.example/?na%6de=a&l%61yers=b%20c") == "http://h.example/?na%6de=a&l%61yers=b%20c"


@pytest.mark.parametrize(
    "address",
    ["http://s3same@h.example/", "ftp://s3same:@h.example/x", "http://a:s3same@h.example", "//s3same@h.example/"],
)
def test_user_information_is_masked_also_in_an_address_within_an_address(address: str) -> None:
    assert "s3same" not in masked(f"to {address} and on")
    assert "s3same" not in masked(f"http://x.example/?u={quote(address, safe='')}&v=1")
    assert "s3same" not in masked(f"http://x.example/?u={quote(quote(address, safe=''), safe='')}")


def test_no_character_that_is_removed_is_printable() -> None:
    printable = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    for removed in (sanitize._SEQUENCE, sanitize._INVISIBLE, sanitize._SURROGATE):
        assert removed.search(printable) is None, "`plain` looks at texts that are not printable alone"


@given(st.text())
def test_a_plain_text_may_stand_in_xml(text: str) -> None:
    assert etree.fromstring(f"<a>{escape(plain(text))}</a>").tag == "a"
