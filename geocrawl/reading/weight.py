"""Decide by its bytes whether reading an answer may hold up the event loop.

docs/decisions/010 has the figures. An answer that is read in the loop is so short that even a malicious one costs about
half a second. Short answers of three sorts may cost far more: RDF (rdflib needs 3.5 s for 64 KB of one Turtle list),
images (4 million pixels of one colour are 3 KB) and gzip files.
"""

from __future__ import annotations

import io
import re
import warnings

from geocrawl.formats.text import GZIP_START
from geocrawl.model import Page

MOST_PIXELS = 512 * 512
"""An image with more pixels is decoded in a process; decoding so many takes 0.1 s, and the maps of content checks have
a quarter of them."""
MOST_IMAGE_BYTES = 1024 * 1024
_IMAGE = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8|RIFF....WEBP", re.S)
_HEAD_BYTES = 4_096
_RDF_TYPE = re.compile(r"turtle|n-triples|text/n3|rdf\+|ld\+json")
_RDF = {
    b"@": (b"@prefix", b"@base", b'"@context"', b'"@graph"', b'"@id"'),
    b"rdf": (b"rdf:rdf", b"22-rdf-syntax-ns"),
}
"""Strings in the head of RDF documents, in lower case, by what they have in common: few pages contain even that. They
are searched one by one, because a pattern of all takes 0.2 ms a page."""
_SPARQL_PREFIX = re.compile(rb"\s*prefix\s")


def is_heavy(page: Page, in_loop_bytes: int) -> bool:
    """Return whether an answer is longer than `in_loop_bytes`, or costs more than its length suggests."""
    body = page.body
    if _IMAGE.match(body):
        return len(body) > MOST_IMAGE_BYTES or _pixels(body) > MOST_PIXELS
    if len(body) > in_loop_bytes or body.startswith(GZIP_START):
        return True
    head = body[:_HEAD_BYTES].lower()
    is_rdf = any(sign in head for hint, signs in _RDF.items() if hint in head for sign in signs)
    is_rdf = is_rdf or _SPARQL_PREFIX.match(head) is not None
    return is_rdf or _RDF_TYPE.search(page.content_type) is not None


def _pixels(body: bytes) -> int:
    """Return the number of pixels that an image's header states; 0 when it cannot be read, because then the image
    cannot be decoded either."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            width, height = Image.open(io.BytesIO(body)).size
    except Image.DecompressionBombError:
        return MOST_PIXELS + 1
    except (OSError, SyntaxError, ValueError, EOFError, IndexError):
        return 0
    return width * height
