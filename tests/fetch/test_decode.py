"""Content encodings undone within limits: bombs cost the limit, not their content."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.fetch.decode import Body, BodyLimits, Decoder, unnamed_encoding
from geocrawl.fetch.failures import Unreadable
from geocrawl.model import FailureCode

MIB = 1024 * 1024
LIMITS = BodyLimits(body_bytes=8 * MIB, ratio=200, ratio_free_bytes=MIB, encodings=2)


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: bytes(brotli.compress(data, quality=5)),
    "zstd": zstandard.ZstdCompressor().compress,
}


def decode(encoding: str, data: bytes, limits: BodyLimits = LIMITS, step: int = 16 * 1024) -> bytes:
    decoder = Decoder(encoding, limits)
    out = b"".join(piece for at in range(0, len(data), step) for piece in decoder.feed(data[at : at + step]))
    decoder.finish()
    return out


@pytest.mark.parametrize("encoding", ENCODERS)
@given(data=st.binary(max_size=3000), step=st.integers(1, 200))
def test_what_was_packed_comes_out_however_it_is_cut(encoding: str, data: bytes, step: int) -> None:
    assert decode(encoding, ENCODERS[encoding](data), step=step) == data


@pytest.mark.parametrize("encoding", ENCODERS)
def test_long_bodies_come_out_whole(encoding: str) -> None:
    data = b"".join(b"<Layer><Name>layer %d</Name></Layer>\n" % number for number in range(60_000))
    assert decode(encoding, ENCODERS[encoding](data)) == data


@given(data=st.binary(max_size=2000), step=st.integers(1, 200))
def test_deflate_without_its_frame_is_read(data: bytes, step: int) -> None:
    packed = raw_deflate(data)
    if len(packed) >= 2 and not (packed[0] & 15 == 8 and int.from_bytes(packed[:2], "big") % 31 == 0):
        assert decode("deflate", packed, step=step) == data


def test_encodings_are_undone_in_reverse_order() -> None:
    assert decode("gzip, br", brotli.compress(gzip.compress(b"hello"))) == b"hello"


def test_members_and_frames_are_joined_and_rubbish_after_gzip_is_left() -> None:
    assert decode("gzip", gzip.compress(b"a") + gzip.compress(b"b") + b"\0\0rubbish") == b"ab"
    packed = zstandard.ZstdCompressor().compress(b"a") + zstandard.ZstdCompressor().compress(b"b")
    assert decode("zstd", packed) == b"ab"


@pytest.mark.parametrize("encoding", ["", "identity", "utf-8", "none", "ISO-8859-1"])
def test_a_name_that_is_no_encoding_is_passed_over(encoding: str) -> None:
    assert decode(encoding, b"as it is") == b"as it is"


def test_a_body_that_was_never_packed_is_read_as_it_is() -> None:
    assert decode("gzip", b"<html>not packed</html>", step=1) == b"<html>not packed</html>"


def test_an_empty_body_has_no_encoding() -> None:
    assert decode("gzip", b"") == b""


def brotli_bomb(size: int) -> bytes:
    packer = brotli.Compressor(quality=9)
    return b"".join(packer.process(bytes(MIB)) for _ in range(size // MIB)) + bytes(packer.finish())


def gzip_bomb(size: int) -> bytes:
    packer = zlib.compressobj(6, wbits=31)
    return b"".join(packer.compress(bytes(MIB)) for _ in range(size // MIB)) + packer.flush()


def zstd_bomb(size: int) -> bytes:
    packer = zstandard.ZstdCompressor(level=3).compressobj()
    return b"".join(packer.compress(bytes(MIB)) for _ in range(size // MIB)) + packer.flush()


BOMBS: dict[str, Callable[[int], bytes]] = {"gzip": gzip_bomb, "br": brotli_bomb, "zstd": zstd_bomb}


@pytest.mark.parametrize("encoding", BOMBS)
def test_a_bomb_ends_early_and_takes_little_memory(encoding: str) -> None:
    bomb = BOMBS[encoding](64 * MIB)
    decoder = Decoder(encoding, LIMITS)
    size = most = 0
    tracemalloc.start()
    with pytest.raises(Unreadable) as caught:
        for at in range(0, len(bomb), 16 * 1024):
            for piece in decoder.feed(bomb[at : at + 16 * 1024]):
                size += len(piece)
                most = max(most, len(piece))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.code is FailureCode.RATIO
    assert most <= 4 * MIB
    assert size <= 8 * MIB
    assert peak <= 24 * MIB


def test_the_inner_of_two_encodings_is_counted_too() -> None:
    inner = gzip.compress(b"") * 4_000_000  # grows to nothing, and would take long to find out
    with pytest.raises(Unreadable) as caught:
        decode("gzip, br", brotli.compress(inner, quality=5))
    assert caught.value.code in (FailureCode.RATIO, FailureCode.BODY_LIMIT)


def test_many_empty_frames_are_given_up() -> None:
    frame = zstandard.ZstdCompressor().compress(b"")
    assert decode("zstd", frame * 10_000) == b""
    with pytest.raises(Unreadable, match="more than 10,000 frames"):
        decode("zstd", frame * 10_001)


def test_more_sent_than_may_come_out_is_too_long() -> None:
    with pytest.raises(Unreadable) as caught:
        decode("gzip", gzip.compress(b"") * 4000, BodyLimits(1000, 200, MIB, 2))
    assert caught.value.code is FailureCode.BODY_LIMIT


@pytest.mark.parametrize("encoding", ENCODERS)
@given(data=st.binary(max_size=300))
def test_rubbish_is_a_value_error_of_ours_or_read_as_it_is(encoding: str, data: bytes) -> None:
    try:
        decode(encoding, data)
    except Unreadable as problem:
        assert problem.code in (FailureCode.BAD_HTTP, FailureCode.TRUNCATED, FailureCode.RATIO)


@pytest.mark.parametrize(
    ("body", "name"), [(gzip.compress(b"a", mtime=0), "gzip"), (zlib.compress(b"a"), "deflate"), (b"a", "")]
)
def test_an_encoding_that_no_header_names_is_known_by_the_first_bytes(body: bytes, name: str) -> None:
    assert unnamed_encoding(body) == name


def test_a_body_that_may_be_cut_is_kept_to_the_limit() -> None:
    body = Body(BodyLimits(10), cut=True)
    assert body.add(b"0123456") and not body.add(b"789abc")
    assert body.cut and body.bytes() == b"0123456789"
