"""Read answers of CKAN's action API: data sets with their resources (`package_search`, `package_show`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from geocrawl.formats.json_values import JsonObject, integer_of, one_or_more, string_of
from geocrawl.model import Url
from geocrawl.page.addresses import address_in
from geocrawl.page.content import RawLink
from geocrawl.page.metadata import link
from geocrawl.page.protocols import kind_among
from geocrawl.urls import RECORDS, ckan_search_url, records_start, records_url

SIGNAL = "ckan"
_ACTION = re.compile(r"/api/(?:\d/)?action/\w+/?\Z")


def read_ckan(data: JsonObject, url: Url) -> list[RawLink] | None:
    """Return links to the data sets' resources and to the next page; None for any other document."""
    result = data.get("result")
    if "success" not in data or result is None:
        return None
    if isinstance(result, list) and all(isinstance(each, str) for each in result):
        return _by_search(url)  # names only: one search replaces a request for each
    if isinstance(result, dict) and isinstance(result.get("results"), list):
        packages = one_or_more(result["results"])
        following = _next_page(url, integer_of(result.get("count")), len(result["results"]))
    else:
        packages, following = one_or_more(result), []
    return [*(found for package in packages for found in _resources(package)), *following]


def _resources(package: JsonObject) -> Iterator[RawLink]:
    title = string_of(package.get("title")) or string_of(package.get("name"))
    organisation = string_of(package.get("organization"), "title", "name") or string_of(package.get("author"))
    for resource in one_or_more(package.get("resources")):
        href = address_in(string_of(resource.get("url")))
        if href:
            name, form = string_of(resource.get("name")), string_of(resource.get("format"))
            stated = [string_of(resource.get(key)) for key in ("protocol", "resource_locator_protocol", "service_type")]
            yield link(
                href,
                SIGNAL,
                names=[title, name, form],
                descriptions=[organisation, string_of(resource.get("description"))],
                kind=kind_among(form, *stated),
            )


def _next_page(url: Url, count: int, returned: int) -> list[RawLink]:
    start = records_start(url)
    if start is None or not returned or start + returned >= count:
        return []
    following = records_url(url, start + returned)
    return [RawLink(following.address, RECORDS)] if following is not None else []


def _by_search(url: Url) -> list[RawLink]:
    root = _ACTION.sub("", url.address.partition("?")[0])
    search = ckan_search_url(root) if "package_list" in url.address else None
    return [RawLink(search.address, RECORDS)] if search is not None else []
