"""Texts to try URL rules on: from anything at all to what stands on real pages."""

from __future__ import annotations

from hypothesis import strategies as st

anything = st.text(st.characters(), max_size=80)  # surrogates and controls too

_pieces = st.sampled_from(
    [
        *[
            "http:",
            "https:",
            "HTTP:",
            "/",
            "//",
            "\\",
            "?",
            "#",
            "&",
            "=",
            ";",
            ":",
            "@",
            "%",
            ".",
            "..",
            "/./",
            "/../",
            "%2e",
            "%2E%2e",
        ],
        *[
            "%41",
            "%4",
            "%2F",
            "%2f",
            "%c4%e3",
            "%7C",
            "%25",
            "|",
            "[",
            "]",
            "{",
            "+",
            "%20",
            " ",
            "\t",
            "\n",
            "\u0000",
            "é",
            "地图",
            "\ud800",
        ],
        *[
            "a",
            "B",
            "map",
            "MAP",
            "service",
            "SERVICE=WMS",
            "request=GetMap",
            "&amp;",
            "amp;",
            "utm_source=x",
            "PHPSESSID=1",
            "sid=",
        ],
        *[
            ";jsessionid=AB12",
            ";x=1",
            "/(S(abcdefghijklmnopqrstuvwx))",
            "0123456789abcdef0123456789abcdef",
            "layers=a,b",
            "?service=WMS",
        ],
        *[
            "example.org",
            "EXAMPLE.org.",
            "127.1",
            "0x7f.1",
            "[::1]",
            ":80",
            ":443",
            ":8080",
            "bücher.example",
            "user:pw@",
            "year=2031",
        ],
    ]
)
crooked = st.lists(_pieces, max_size=14).map("".join)
"""Made of the parts that URL rules look at, in any order."""

_host = st.sampled_from(
    ["example.org", "maps.Example.co.uk", "127.0.0.1:8080", "www.地图.example", "[2001:db8::1]:81", "10.1.2"]
)
crooked_absolute = st.tuples(
    st.sampled_from(["http://", "https://", "HTTPS:\\\\"]), _host, st.lists(_pieces, max_size=14)
).map(lambda t: t[0] + t[1] + "/" + "".join(t[2]))
"""The same behind a host that can be read, so that most are URLs."""

texts = st.one_of(anything, crooked, crooked_absolute)
