"""Read addresses that metadata contain as plain text."""

from __future__ import annotations

import re

_NO_SCHEME = re.compile(r"(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?::\d{1,5})?(?:[/?]|\Z)")


def address_in(text: str) -> str:
    """Return the web address in a metadata field without white space and with a scheme; '' when there is none."""
    address = "".join(text.split())
    if address[:7].lower() == "http://" or address[:8].lower() == "https://":
        return address
    return f"http://{address}" if _NO_SCHEME.match(address) else ""
