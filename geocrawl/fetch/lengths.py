"""Recognise answers whose Content-Length is too short: the rest of the body follows, and no HTTP client reads it.

Programs that count the characters of a text instead of its bytes send such answers. The length is all that separates
two answers on one connection, so what follows it is garbage to a client: a parser refuses it, or it is dropped. Only a
request that the server answers on a connection of its own, which it closes, can be read to its real end.
"""

from __future__ import annotations

import re

from geocrawl.fetch.answer_reader import Answer
from geocrawl.model import Deviation, Failure

_HEAD_BYTES = 4_096
_TAIL_BYTES = 4_096
_ROOT = re.compile(rb"<([A-Za-z_][\w:.-]{0,200})")
_PNG, _END_OF_PNG = b"\x89PNG", b"IEND"
_AFTER_JSON = (b"}", b"]", b")", b";")


def may_be_longer(answer: Answer | Failure) -> bool:
    """Return whether a body may go on behind its Content-Length: its text breaks off there."""
    if isinstance(answer, Failure):
        return False
    announced = answer.headers.get("content-length", "")
    if (
        answer.cut
        or not {"content-encoding", "transfer-encoding"}.isdisjoint(answer.headers)
        or announced != str(answer.sent_bytes)
    ):
        return False
    return _breaks_off(answer.body)


def length_deviation(short: Answer | Failure, whole: Answer) -> Deviation | None:
    """Return the deviation of an answer that was longer than announced; None when nothing more came."""
    if isinstance(short, Answer) and len(whole.body) <= len(short.body):
        return None
    return Deviation("body-end", f"{whole.sent_bytes} bytes, Content-Length: {whole.announced_length or 'unreadable'}")


def _breaks_off(body: bytes) -> bool:
    """Return whether XML, JSON or a PNG lacks its end. A page in HTML needs none."""
    if body.startswith(_PNG):
        return _END_OF_PNG not in body[-_TAIL_BYTES:]
    head, tail = body[:_HEAD_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n"), body[-_TAIL_BYTES:].rstrip(b"\0 \t\r\n")
    if head.startswith((b"{", b"[")):
        return not tail.endswith(_AFTER_JSON)
    root = _ROOT.search(head) if head.startswith(b"<") else None
    if root is None or root[1].lower() == b"html":
        return False
    is_empty_element = head[root.start() :].partition(b">")[0].endswith(b"/")
    return b"</" + root[1] not in tail and not is_empty_element
