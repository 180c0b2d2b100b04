"""Pack what strategies keep as bytes: named arrays, and the values of a page and its links."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from geocrawl.errors import UsageError

Arrays = dict[str, NDArray[Any]]
_FAST = 1
"""zlib's fastest level, because the crawl waits while a dump is written."""


def pack_arrays(format_: str, arrays: Arrays) -> bytes:
    """Return one-dimensional arrays of numbers as bytes; equal arrays result in equal bytes.

    `format_` names kind and version.
    """
    head = [[name, a.dtype.str, len(a)] for name, a in arrays.items()]
    packer = zlib.compressobj(_FAST)
    body = [packer.compress(_encoded(a)) for a in arrays.values()]  # one after the other: they are large
    return b"".join((json.dumps({"format": format_, "arrays": head}).encode(), b"\n", *body, packer.flush()))


def unpack_arrays(format_: str, state: bytes) -> Arrays:
    """Unpack the arrays of `pack_arrays`. Raises UsageError for another format or version, and for damaged bytes."""
    head, _, body = state.partition(b"\n")
    try:
        described = json.loads(head)
        if described["format"] != format_:
            raise ValueError(f"it is {described['format']!r}")
        raw, arrays, at = zlib.decompress(body), {}, 0
        for name, kind, count in described["arrays"]:
            dtype = np.dtype(kind)
            arrays[str(name)] = _decoded(raw, dtype, count, at)
            at += dtype.itemsize * count
        if at != len(raw):
            raise ValueError(f"{len(raw)} bytes instead of {at}")
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise UsageError(f"the strategy's state is no {format_} ({error}); begin with an empty database") from error
    return arrays


def _encoded(a: NDArray[Any]) -> bytes:
    """Return the bytes of an array; 64-bit integers (sorted keys, ids) as differences, which compress far better."""
    return (np.diff(a, prepend=a.dtype.type(0)) if a.dtype == np.int64 else a).tobytes()


def _decoded(raw: bytes, dtype: np.dtype[Any], count: int, at: int) -> NDArray[Any]:
    a = np.frombuffer(raw, dtype, count, at)
    return np.cumsum(a, dtype=np.int64) if dtype == np.int64 else a.copy()


# --------------------------------------------------------------------------- values of links
# Only values above 0 are packed, each with a hash of the link's identity: most links have the value 0.


MAX_LINKS = 2_500
"""Number of first links of a page whose values are packed: 20 KB before compression."""
_PAGE, _LINK = struct.Struct("<f"), struct.Struct("<If")


class LinkValues(NamedTuple):
    """The values of a page and of its links, with the precision of 32-bit floats."""

    page: float
    links: dict[int, float]

    def of(self, identity: str) -> float:
        """Return the value of the link with this identity, 0 when none was packed."""
        return self.links.get(_hash(identity), 0.0)


def pack_link_values(page: float, links: Iterable[tuple[str, float]]) -> bytes:
    """Return 4 to some 20,000 bytes that contain the page's value and the values of its links.

    `links` are pairs of identity and value; of a link that occurs several times the highest value counts.
    """
    best: dict[int, float] = {}
    for identity, value in links:
        if value > 0.0:
            key = _hash(identity)
            if value > best.get(key, 0.0) and (key in best or len(best) < MAX_LINKS):
                best[key] = value
    return zlib.compress(_PAGE.pack(page) + b"".join(_LINK.pack(*item) for item in best.items()), 1)


def unpack_link_values(packed: bytes) -> LinkValues:
    """Unpack the values of `pack_link_values`. Raises UsageError for other bytes (a database of another version)."""
    try:
        raw = zlib.decompress(packed)
        return LinkValues(_PAGE.unpack_from(raw)[0], dict(_LINK.iter_unpack(raw[_PAGE.size :])))
    except (zlib.error, struct.error) as error:
        raise UsageError(f"the features of a feedback cannot be read ({error}): written by another version") from error


def _hash(identity: str) -> int:
    return zlib.crc32(identity.encode("utf-8", "surrogatepass"))
