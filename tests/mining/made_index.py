"""Common Crawl's columnar index of addresses, made: its columns, types, partitions, order and compression.

After commoncrawl/cc-index-table (cc-index-schema-flat.json): a flat schema written by Spark, gzip, one folder for each
crawl and subset, sorted by `url_surtkey`; NULL where the index of addresses has no such field. Columns were added over
the years, so an older crawl lacks some.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

CRAWL = "CC-MAIN-2026-43"
_TEXT, _INT = pa.string(), pa.int32()
_HOST_PARTS = ("tld", "2nd_last_part", "3rd_last_part", "4th_last_part", "5th_last_part")
_HOST_COLUMNS = (
    "url_host_name",
    *(f"url_host_{part}" for part in _HOST_PARTS),
    "url_host_registry_suffix",
    "url_host_registered_domain",
    "url_host_private_suffix",
    "url_host_private_domain",
    "url_host_name_reversed",
)
SCHEMA = pa.schema(
    [
        ("url_surtkey", _TEXT),
        ("url", _TEXT),
        *((name, _TEXT) for name in _HOST_COLUMNS),
        *[("url_protocol", _TEXT), ("url_port", _INT), ("url_path", _TEXT), ("url_query", _TEXT)],
        *[("fetch_time", pa.timestamp("ms", tz="UTC")), ("fetch_status", pa.int16()), ("fetch_redirect", _TEXT)],
        *((f"content_{name}", _TEXT) for name in ("digest", "mime_type", "mime_detected")),
        *((f"content_{name}", _TEXT) for name in ("charset", "languages", "truncated")),
        *[
            ("warc_filename", _TEXT),
            ("warc_record_offset", _INT),
            ("warc_record_length", _INT),
            ("warc_segment", _TEXT),
        ],
    ]
)
LATER = ("fetch_redirect", "content_charset", "content_languages", "content_truncated")
"""Columns that crawls before 2018-39 and 2019-47 lack."""
_LINES = (
    "news about index blog post article product category tag page shop item forum thread topic user profile gallery",
    "image view detail contact service map maps portal data dataset download archive press release event calendar team",
    "history law tax water road school health culture tourism weather layer viewer api docs help faq search result",
    "report study paper library member login register cart recipe game video music film book author city region hotel",
    "windows mapping roadmap sitemap wmsupport wfscorp featured geography hotspots mapserver-tips capabilities getmap",
)
_WORDS = " ".join(_LINES).split()
_ENDS = ("", "/", ".html", ".php", ".htm", ".aspx", "/index.html")
_PARAMETERS = ("id=", "p=", "page=", "q=", "utm_source=", "service=", "map=", "cat=")
_TLDS = (
    "com",
    "com",
    "com",
    "org",
    "net",
    "de",
    "ru",
    "fr",
    "it",
    "nl",
    "pl",
    "jp",
    "es",
    "cz",
    "edu",
    "gov",
    "ca",
    "cn",
)
_DIGITS = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", np.uint8)
_FILES = 5_000
_SEED = 20261005


def write_part(folder: Path, urls: Sequence[str], *, part: int = 0, without: Sequence[str] = ()) -> Path:
    """Write a part of the index with these addresses, sorted as there; `without`: columns that it lacks."""
    draw = np.random.default_rng(_SEED + part)
    split = [urlsplit(url) for url in urls]
    hosts = [each.hostname or "" for each in split]
    n = len(urls)
    file, columns = (
        draw.integers(0, _FILES, n),
        dict(zip(_HOST_COLUMNS, zip(*map(_host, hosts), strict=True), strict=True)),
    )
    values = {
        **columns,
        "url_surtkey": [_surt(host, each.path, each.query) for host, each in zip(hosts, split, strict=True)],
        "url": list(urls),
        "url_protocol": [each.scheme for each in split],
        "url_port": [_port(url) for url in urls],
        "url_path": [each.path for each in split],
        "url_query": [each.query or None for each in split],
    }
    table = _completed({name: pa.array(each, SCHEMA.field(name).type) for name, each in values.items()}, file, draw)
    return _write(folder, table.drop_columns(list(without)), part)


def _ordinary(n: int, part: int, draw: np.random.Generator) -> dict[str, pa.Array]:
    """Return columns of made addresses, with about 60 pages a host."""
    rnd = random.Random(_SEED + part)
    begins = ("www.", "", "m.", "blog.", "data.")
    names = [
        f"{rnd.choice(begins)}{rnd.choice(_WORDS)}-{rnd.choice(_WORDS)}{part}x{i}.{rnd.choice(_TLDS)}"
        for i in range(max(1, n // 60))
    ]
    host = draw.integers(0, len(names), n)
    number = pc.cast(pa.array(draw.integers(1, 10**6, n)), _TEXT)
    word, other = (_drawn(_WORDS, n, draw) for _ in range(2))
    path = pc.binary_join_element_wise("/", word, "/", other, "-", number, _drawn(_ENDS, n, draw), "")
    path = pc.if_else(pa.array(draw.random(n) < 0.03), "/", path)
    asked = pc.binary_join_element_wise(_drawn(_PARAMETERS, n, draw), word, "&n=", number, "")
    query = pc.if_else(pa.array(draw.random(n) < 0.18), asked, pa.scalar(None, _TEXT))
    protocol = _drawn(("https", "https", "https", "https", "https", "https", "http"), n, draw)
    mark = pc.coalesce(pc.binary_join_element_wise("?", query, ""), "")
    parts = dict(zip(_HOST_COLUMNS, zip(*map(_host, names), strict=True), strict=True))
    columns = {name: pa.array(values, _TEXT).take(pa.array(host)) for name, values in parts.items()}
    address = pc.binary_join_element_wise(protocol, "://", columns["url_host_name"], path, mark, "")
    return {**columns, "url": address, "url_path": path, "url_query": query, "url_protocol": protocol}


def _completed(values: dict[str, pa.Array], file: np.ndarray, draw: np.random.Generator) -> pa.Table:
    """Return a table with the columns of the fetch and of the archive added, in the order of the index."""
    n = len(file)
    begun = 1_759_622_400_000
    digests = _DIGITS[draw.integers(0, 32, (n, 32))]
    offsets = pa.py_buffer((np.arange(n + 1, dtype=np.int32) * 32).tobytes())
    files = [
        f"crawl-data/{CRAWL}/segments/17{i % 100:08d}.7/warc/CC-MAIN-20261005000000-{i:05d}.warc.gz"
        for i in range(_FILES)
    ]
    html = _drawn(("text/html", "text/html", "text/html", "application/xml", "application/json"), n, draw)
    values |= {
        "fetch_time": pc.cast(
            pa.array(begun + draw.integers(0, 10**9, n) // 1000 * 1000), SCHEMA.field("fetch_time").type
        ),
        "fetch_status": pa.array(np.full(n, 200, np.int16)),
        "fetch_redirect": pa.nulls(n, _TEXT),
        "content_digest": pa.StringArray.from_buffers(n, offsets, pa.py_buffer(digests.tobytes())),
        "content_mime_type": html,
        "content_mime_detected": html,
        "content_charset": _drawn(("UTF-8", "UTF-8", "ISO-8859-1", "GB2312"), n, draw),
        "content_languages": _drawn(("eng", "deu", "rus", "fra", "zho", "eng,deu"), n, draw),
        "content_truncated": pa.nulls(n, _TEXT),
        "warc_filename": pa.array(files, _TEXT).take(pa.array(file)),
        "warc_record_offset": pa.array(draw.integers(0, 1_200_000_000, n, dtype=np.int32)),
        "warc_record_length": pa.array(draw.lognormal(9.3, 0.9, n).clip(500, 1_000_000).astype(np.int32)),
        "warc_segment": pc.binary_join_element_wise("17", pc.cast(pa.array(file % 100), _TEXT), ".7", ""),
    }
    return pa.table({name: values[name] for name in SCHEMA.names}, schema=SCHEMA)


def _write(folder: Path, table: pa.Table, part: int) -> Path:
    place = folder / f"crawl={CRAWL}" / "subset=warc"
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"part-{part:05d}-{uuid.UUID(int=_SEED)}.c000.gz.parquet"
    table = table.take(pc.sort_indices(table, [("url_surtkey", "ascending")]))
    pq.write_table(table, path, compression="gzip", compression_level=1, row_group_size=350_000, version="1.0")
    return path


def _drawn(words: Sequence[str], n: int, draw: np.random.Generator) -> pa.Array:
    return pa.array(words, _TEXT).take(pa.array(draw.integers(0, len(words), n)))


def _host(host: str) -> tuple[str | None, ...]:
    """Return the columns about a host: its parts from the end, its suffix and its domain; NULL for an IP address."""
    if host.replace(".", "").isdigit() or ":" in host:
        return (host, *[None] * (len(_HOST_COLUMNS) - 1))
    parts = host.split(".")[::-1]
    domain = ".".join(parts[1::-1]) if len(parts) > 1 else None
    last = [parts[i] if i < len(parts) else None for i in range(len(_HOST_PARTS))]
    return (host, *last, parts[0], domain, parts[0], domain, ".".join(parts))


def _surt(host: str, path: str, query: str) -> str:
    reverse = host if host.replace(".", "").isdigit() else ",".join(host.removeprefix("www.").split(".")[::-1])
    return f"{reverse}){path}{'?' + query if query else ''}".lower()


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        return None
