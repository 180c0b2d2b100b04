"""Make strangers' text safe to print, log or export: titles, reasons and addresses may contain anything.

Every text of the web that is printed, logged or exported goes through `plain`, so that none can move the cursor, change
the terminal's title, reverse the reading direction of what follows, or break a line. `masked` hides secrets in
addresses.
"""

from __future__ import annotations

import json
import re
from urllib.parse import unquote

# Whole ECMA-48 sequences, so that no "[31m" is left over. Strings (OSC, DCS …) are bounded: only the introducer of one
# that never ends is removed.
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,1024}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,8}[0-~]"
)
# Controls that are no white space; zero-width space and byte order mark; marks, embeddings, overrides and isolates of
# the bidirectional algorithm (Unicode UAX 9); annotation and tag characters; what XML may not hold (a plain text is fit
# for feeds, records and files of QGIS). Joiners stay: scripts need them.
_INVISIBLE_CHARS = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f"
)
_INVISIBLE = re.compile(f"[{_INVISIBLE_CHARS}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSHOWN = re.compile(f"[{_INVISIBLE_CHARS}\x85\u2028\u2029\ud800-\udfff]")

# Parameters whose values give access: keys, tokens, passwords, signatures, sessions. No part of it matches one text in
# two ways. In an address within an address `?`, `&` and `=` are escaped, perhaps twice.
_NAMED = (
    r"((?:[?&;#]|%(?:25){0,3}(?:3f|26|3b|23))\${0,2}(?:"
    r"[\w.\[-]{0,30}(?:token|secret|passw|passcode|passphrase|signature|credential|hmac|sess(?:ion)?[_.-]?id|"
    r"(?:api|access|account|app|auth|client|consumer|licen[cs]e|map|private|session|subscription|user)[_.-]?key)"
    r"[\w.\[\]-]{0,20}|"
    r"jwt|bearer|key|ak|sk|tk|pwd?|psw|pword|pass|sig|sign|auth|authorization|app[_-]?code|sess(?:ion)?|s?sid|otp|ticket)"
    r"(?:=|%(?:25){0,3}3d))"
)
# `;`, `'` and `\` are part of a value or end it: the next parameter, the end of a quotation, an escape of JSON.
_CHARACTER = r"""(?:[^&#;\s"'<>\\]|;(?![\w.%\[\]-]{1,80}=)|'(?=[\w%+/=-])|\\(?:\\|(?=[\w%+/=-])))"""
_SECRET = re.compile(f"{_NAMED}{_CHARACTER}+", re.IGNORECASE)
_VALUE = re.compile(f"{_CHARACTER}+")
# A parameter with escapes in its name (`api%5Fkey`), which servers read as without.
_ESCAPED_NAME = re.compile(
    r"(?:[?&;#]|%(?:25){0,3}(?:3f|26|3b|23))((?:[\w.$\[\]+-]|%(?:25){0,3}(?!25|3f|26|3b|23|3d)[0-9a-f]{2}){1,80})"
    r"(?:=|%(?:25){0,3}3d)",
    re.IGNORECASE,
)
# Up to the last @, as browsers read it, or to where a text was cut, unless that is a number's port; the second one in
# an address within an address.
# On the web a name alone may be a token; the user of a database gives no access without a password.
_USER = re.compile(
    r"""((?:https?|ftp):[\\/]{1,9}|//)"""
    r"""(?:(?!\[|(?:[\d.]+|localhost):\d{0,5}…(?!\S*@))[^\\/?#\s@:"<>]*:(?!\d*\Z)[^\\/?#\s"<>…]*(?=[@…]|\Z)|(?<!postgresql://)[^\\/?#\s:"<>]+(?=@))"""
    r"""|((?:%(?:25){0,3}2f){2})(?:(?!%(?:25){0,3}(?:2f|3f|23))[^/?#&\s"<>])+(?=%(?:25){0,3}40)""",
    re.IGNORECASE,
)


_END = 6_000


def ending_of(text: str | bytes) -> str:
    """Return 'ends with …' and the last 60 characters of an incomplete document."""
    end = text[-_END:]  # masked before it is cut, since a secret is known by what stands before it
    shown = masked(plain(end.decode("utf-8", "replace") if isinstance(end, bytes) else end))
    return f"ends with “{shown[-60:].strip()}”"


def masked(text: str) -> str:
    """Return a text with secrets in its addresses replaced by ***.

    Secrets are the values of parameters such as token, key and password, and user names with their passwords.
    """
    if "=" in text or "%" in text:
        text = _SECRET.sub(r"\1***", text)
    if "%" in text:
        text = _masked_by_plain_names(text)
    return _USER.sub(r"\1\2***", text) if ":" in text or "%" in text or "@" in text else text


def _masked_by_plain_names(text: str) -> str:
    parts, upto = list[str](), 0
    for found in _ESCAPED_NAME.finditer(text):
        if found.start() < upto:
            continue
        name = found[1]
        while (plainer := unquote(name)) != name:
            name = plainer
        if _SECRET.search(f"?{name}=x") and (value := _VALUE.match(text, found.end())):
            parts += [text[upto : found.end()], "***"]
            upto = value.end()
    return "".join((*parts, text[upto:]))


def json_text(value: object, *, indent: int | None = None) -> str:
    """Return a value as JSON that a terminal may show: invisible characters are escapes, which read back as they were.

    Raises ValueError for a number that JSON lacks.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent, default=str)
    if text.isprintable():
        return text
    return _UNSHOWN.sub(lambda found: json.dumps(found[0])[1:-1], text)  # between quotation marks alone, as JSON is


def plain(text: str, limit: int | None = None) -> str:
    """Return `text` as one line without control, bidirectional and other invisible characters, white space folded.

    Single surrogates become U+FFFD. A text of more than `limit` characters (None: no limit) is cut and ends in '…'.
    """
    if not text.isprintable():  # none of what is removed counts as printable
        text = _INVISIBLE.sub("", _SEQUENCE.sub("", text))
        text = _SURROGATE.sub("\ufffd", text)
    text = " ".join(text.split())
    if limit is not None and len(text) > limit:
        return text[: max(limit - 1, 0)].rstrip() + "…"
    return text
