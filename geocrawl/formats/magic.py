"""Tell text from binary formats by the first bytes."""

from __future__ import annotations

import codecs

from geocrawl.formats.charset import UNMARKED_UTF_16

GZIP = b"\x1f\x8b"
"""RFC 1952, 2.3.1."""
ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
"""RFC 1950, 2.2: deflate with a window of 32 KiB, by its four levels."""
BINARY = (b"%PDF", b"PK\x03\x04", b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"7z\xbc\xaf", b"\xfd7zXZ", b"Rar!")
"""First bytes of formats that may have no NUL for long after their beginning; all others have one at once."""
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, *UNMARKED_UTF_16)
"""First bytes of text that contains NULs."""
