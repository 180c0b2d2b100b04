"""Damaged documents through every probe.

Recorded answers are mutated in seeded, repeatable ways: bits flipped, parts cut out, spliced, repeated, tags swapped,
other encodings, huge attributes, deep nesting. Each is the answer to whatever every probe asks. A probe may call it
what it likes, but never raises, never asks without end, and stays within bounds of time and memory.
"""

from __future__ import annotations

import math
import random
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geocrawl.model import Status
from geocrawl.ports import Probe
from tests.support.interviews import interview

MAX_BYTES = 400_000
"""Documents grow no further than this."""
CONTENT_TYPES = (
    "text/xml",
    "application/json",
    "text/html; charset=gb2312",
    "text/xml; charset=iso-8859-1",
    "",
    "x/y;;=",
)
_TAG = re.compile(rb"</?[\w:.-]+")
_QUOTED = re.compile(rb'"[^"]{0,200}"')
_NASTY = (
    b"&", b"<", b">", b'"', b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<?", b"&#0;", b"&#x110000;", b"&nbsp;", b"&a;",
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"NaN", b"1e999", b"-", b"{", b"}", b"[", b"]", b"null",
    b"\\ud800", b"\\", b"\\ud83d\\ude00", b"\\udc00\\ud800", b"\\u0000", b"\\u{d83d}", b"&#xD83D;", b"&#55357;&#56832;",
    b"&#xDE00;", b"&#xFFFE;", b"&#" + b"9" * 4_301 + b";", b"&#" + b"0" * 5_000 + b"65;",
    b"\xe5\x9c\xb0", b"\xb5\xd8", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"xmlns:x=''", b"http://[", b"http://x:99999999/",
)  # fmt: skip


_CODECS = (
    b"punycode", b"idna", b"unicode_escape", b"raw_unicode_escape", b"undefined", b"zip", b"hex", b"base64", b"rot13",
    b"utf-7", b"utf-16", b"utf-8-sig", b"JAVA", b"UCS-2", b"x-user-defined", b"no-such-codec", b"gbk", b"koi8-r",
)  # fmt: skip


@dataclass(slots=True)
class Result:
    """Verdicts and failures of all documents."""

    documents: int = 0
    interviews: int = 0
    failures: list[str] = field(default_factory=list)
    """One for each exception: kind, document, mutations, traceback."""
    accepted: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    slowest: str = ""

    def as_json(self) -> dict[str, Any]:
        """The figures."""
        return {
            "documents": self.documents,
            "interviews": self.interviews,
            "exceptions": len(self.failures),
            "first_failures": self.failures[:10],
            "accepted": dict(self.accepted),
            "reasons": dict(self.reasons.most_common()),
            "slowest_s": round(self.slowest_s, 3),
            "slowest": self.slowest,
        }


# --------------------------------------------------------------------------- mutations


Mutation = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def _flip_bits(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    data = bytearray(body)
    for _ in range(rng.randint(1, 20)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def _cut_out(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    begin = rng.randrange(len(body))
    return body[:begin] + body[begin + rng.randint(1, max(2, len(body) // 4)) :]


def _cut_off(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    return body[: rng.randrange(len(body))]


def _splice(body: bytes, rng: random.Random, others: Sequence[bytes]) -> bytes:
    other = rng.choice(others)
    begin, at = rng.randrange(len(other) + 1), rng.randrange(len(body))
    return body[:at] + other[begin : begin + rng.randint(1, 5_000)] + body[at:]


def _insert(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    for _ in range(rng.randint(1, 10)):
        at = rng.randrange(len(body) + 1)
        body = body[:at] + rng.choice(_NASTY) + body[at:]
    return body


def _swap_tags(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    tags = list(_TAG.finditer(body))
    if len(tags) < 2:
        return body[::-1]
    one, other = sorted(rng.sample(tags, 2), key=lambda tag: tag.start())
    return body[: one.start()] + other[0] + body[one.end() : other.start()] + one[0] + body[other.end() :]


def _recode(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    encoding = rng.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "cp037", "gb18030", "shift_jis"))
    return body.decode("latin-1").encode(encoding, "replace")


def _repeat(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    begin = rng.randrange(len(body))
    block = body[begin : begin + rng.randint(1, 3_000)]
    return body[:begin] + block * rng.choice((2, 3, 5, 10, 20, 30, 100)) + body[begin:]


def _huge_attribute(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    values = list(_QUOTED.finditer(body))
    at = rng.choice(values).start() + 1 if values else rng.randrange(len(body))
    return (
        body[:at]
        + rng.choice((b"x", b"9", b"%20", b"&amp;", b"/", b"\xc3\xa9"))
        * rng.choice((100, 1_000, 3_000, 10_000, 10_000, 300_000))
        + body[at:]
    )


def _nest(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    depth, at = rng.choice((20, 300, 300, 1_000, 1_000, 5_000, 50_000)), rng.randrange(len(body))
    begin, end = rng.choice(
        ((b"<Layer>", b"</Layer>"), (b"[", b"]"), (b'{"links":', b"}"), (b"<a:b>", b"</a:b>"), (b"(", b")"))
    )
    return body[:at] + begin * depth + end * rng.choice((0, depth)) + body[at:]


def _numbers(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    value = rng.choice(
        (
            b"NaN",
            b"-1e308",
            b"1e400",
            b"99999999999999999999999",
            b"0",
            b"-0",
            b"12,5",
            b"",
            b"Infinity",
            b"\xd9\xa3",
            b"9" * 4_300,
            b"9" * 4_301,
            b"9223372036854775808",
            b"9" * 400,
        )
    )
    return re.sub(rb"-?\d+(?:\.\d+)?", lambda found: value if rng.random() < 0.3 else found[0], body)


def _declare_codec(body: bytes, rng: random.Random, _others: Sequence[bytes]) -> bytes:
    declared = b'<?xml version="1.0" encoding="%s"?>' % rng.choice(_CODECS)
    return declared + re.sub(rb"\A\s*<\?xml[^>]{0,200}\?>", b"", body)


MUTATIONS: tuple[Mutation, ...] = (
    _flip_bits, _cut_out, _cut_off, _splice, _insert, _swap_tags, _recode, _repeat, _huge_attribute, _nest, _numbers,
    _declare_codec,
)  # fmt: skip


def mutated(bodies: Sequence[tuple[str, bytes]], count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """(name and mutations, bytes), the same for the same seed."""
    rng = random.Random(seed)
    others = [body for _, body in bodies]
    for _ in range(count):
        name, body = rng.choice(bodies)
        for mutation in rng.choices(MUTATIONS, k=rng.choice((1, 1, 2, 3))):
            if body:
                body = mutation(body, rng, others)[:MAX_BYTES]
                name = f"{name} {mutation.__name__[1:]}"
        yield name, body


def recorded(shared: Path, largest: int = 60_000) -> list[tuple[str, bytes]]:
    """Recorded answers up to a size, with their names."""
    files = sorted((shared / "corpus" / "documents").glob("*/*"))
    return [
        (f"{file.parent.name}/{file.name}", file.read_bytes()) for file in files if 0 < file.stat().st_size <= largest
    ]


# --------------------------------------------------------------------------- interviews


def run(
    bodies: Sequence[tuple[str, bytes]], every: Sequence[Probe], count: int, seed: int, *, seconds: float = math.inf
) -> Result:
    """All documents through all probes, or as many as are done after so many seconds."""
    end = time.monotonic() + seconds
    rng = random.Random(seed + 1)
    result = Result()
    for name, body in mutated(bodies, count, seed):
        if time.monotonic() > end:
            break
        content_type = rng.choice(CONTENT_TYPES)
        result.documents += 1
        if result.documents % 1_000 == 0:
            print(f"   {result.documents} documents, {len(result.failures)} exceptions", file=sys.stderr, flush=True)
        for probe in every:
            begun = time.process_time()
            try:
                verdict = interview(probe, body, content_type)
            except Exception:
                result.failures.append(f"{probe.kind} {name}: {traceback.format_exc()[-1500:]}")
                continue
            taken = time.process_time() - begun
            if taken > result.slowest_s:
                result.slowest_s, result.slowest = taken, f"{probe.kind} {name}, {len(body)} bytes"
            result.interviews += 1
            result.reasons[verdict.reason] += 1
            if verdict.status is Status.VALID:
                result.accepted[f"{name.partition('/')[0]} as {probe.kind}"] += 1
    return result
