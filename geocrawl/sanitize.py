"""Strangers' text on its way to a person, a log or a file for others: titles, reasons and addresses may hold anything.

Every text of the web that is printed, logged or exported goes through `plain`, so that none can move the cursor, change
the terminal's title, turn the reading direction of what follows, or break a line. `masked` hides what is secret in
addresses.
"""

from __future__ import annotations

import re

# ECMA-48 sequences as a whole, so that no "[31m" is left of them. Strings (OSC, DCS …) are bounded: one that is never
# ended loses its introducer only.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,1024}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,8}[0-~]"
)
# Controls that are no white space; zero-width space and byte order mark; marks, embeddings, overrides and isolates of
# the bidirectional algorithm (Unicode UAX 9); annotation and tag characters. Joiners stay: scripts need them.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")

# Parameters whose values open something: keys, tokens, passwords, signatures, sessions. Bounded, and no part of it can
# match the same text in two ways.
# An address within an address has its marks escaped, perhaps more than once.
_SECRET = re.compile(
    r"((?:[?&;#]|%(?:25){0,3}(?:3f|26|3b|23))"
    r"(?:(?:access|api|app|auth|id|map|refresh|security|session|user|x-amz-security)[_-]?token|token|jwt|"
    r"(?:access|api|app|auth|client|licen[cs]e|map|subscription|user|x-api)[_-]?key|key|ak|sk|tk|"
    r"(?:client[_-]?)?secret|passw(?:or)?d|pass|pwd|sig|sign|(?:x-amz-)?signature|x-amz-credential|auth|authorization|"
    r"credentials?|session(?:_?id)?|sid|jsessionid|phpsessid|ticket)(?:=|%(?:25){0,3}3d))"
    r"""[^&#;\s"'<>\\]{1,4096}""",
    re.IGNORECASE,
)
# Up to the @, or to the end of what was cut.
_USER = re.compile(r"""(//)[^/?#\s@:"<>]{0,200}:[^/?#\s@"<>]{0,200}([@…])""")


def masked(text: str) -> str:
    """A text with what is secret in the addresses in it replaced by ***: values of parameters such as token, key and
    password, users and their passwords."""
    if "=" in text or "%" in text:
        text = _SECRET.sub(r"\1***", text)
    return _USER.sub(r"\1***\2", text) if "@" in text or "…" in text else text


def plain(text: str, limit: int | None = None) -> str:
    """One line of `text` without control, bidirectional and other invisible characters, white space folded.

    Halves of surrogate pairs become U+FFFD. More than `limit` characters (None: no limit) are cut and end in '…'.
    """
    if not (text.isascii() and text.isprintable()):
        text = _INVISIBLE.sub("", _SEQUENCE.sub("", text))
        text = _SURROGATE.sub("\ufffd", text)
    text = " ".join(text.split())
    if limit is not None and len(text) > limit:
        return text[: max(limit - 1, 0)].rstrip() + "…"
    return text
