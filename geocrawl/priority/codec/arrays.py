"""Pack a strategy's named arrays: a line of JSON that describes the arrays, then their compressed bytes."""

from __future__ import annotations

import json
import zlib
from typing import Any

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
    body = zlib.compress(b"".join(_encoded(a) for a in arrays.values()), _FAST)
    return json.dumps({"format": format_, "arrays": head}).encode() + b"\n" + body


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
