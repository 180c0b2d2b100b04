"""Find the files that a map viewer loads, and read services in them, without running the viewer.

The index page of a viewer is nearly empty: its program loads a configuration beside the page, which names lists of
layers in turn. Three signs lead to such a file: the page or its address names it, the page loads a program of
`data/viewers.toml`, whose file has a conventional name, or another configuration names it. Configurations in JSON and
XML are reduced to what says something about services, and read by the reader of scripts (`scripts`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import islice
from typing import Any

from lxml import etree

from geocrawl.formats.json import JsonObject, integer_of, object_of, objects, string_of
from geocrawl.formats.xml import local_name
from geocrawl.model import CONFIGURATION, Url
from geocrawl.page.content import MAX_HREF_CHARS, RawLink
from geocrawl.page.embedded import may_mention_services
from geocrawl.page.naming import kind_in_name, may_be_service
from geocrawl.page.script_files import DATA_FILE, files_in_attributes, files_in_code
from geocrawl.page.scripts import addresses_in_code
from geocrawl.urls import query_parameters

MAX_FILES = 6
"""Most files of one page or configuration that are requested."""
_MAX_CODE_CHARS = 100_000
"""Most characters of a page's inline scripts, and of a script file, in which names of files are searched."""

# --------------------------------------------------------------------------- files of a page


_ARCGIS_PAGE = re.compile(r"(.*?)/(?:apps|home)/")
_ARCGIS_ID = re.compile(r"[0-9a-f]{32}")
_ARCGIS_NAMES = frozenset({"webmap", "appid", "id", "itemid", "webmapid"})
_LIZMAP_PAGE = re.compile(r"(.*/index\.php)/view/(?:map|embed)/?\Z")


def files_of_page(url: Url, html: str, sources: Sequence[str], codes: Iterable[str]) -> Iterator[RawLink]:
    """Yield links to the files that the viewer on a page loads, at most `MAX_FILES`; none for any other page.

    `sources`: addresses of its linked scripts. `codes`: its inline scripts.
    """
    if sources or "<script" in html:
        yield from islice(_once(_files_of_page(url, html, sources, codes)), MAX_FILES)


def _files_of_page(url: Url, html: str, sources: Sequence[str], codes: Iterable[str]) -> Iterator[RawLink]:
    named = list(_named_in_address(url))
    yield from named
    if "onfig" in html or "mapbook" in html or "-project" in html:
        yield from (RawLink(file, CONFIGURATION) for name, file in files_in_attributes(html) if _is_telling(name))
    code = "\n".join(codes)[:_MAX_CODE_CHARS]
    viewer = _viewer_with("\n".join((*sources, code)).lower())
    if viewer is None:
        return
    for _, file in files_in_code(code):
        yield RawLink(file, CONFIGURATION)
        named.append(RawLink(file, CONFIGURATION))
    place = url.address.partition("?")[0]
    for file in () if named else viewer.files:
        yield RawLink(place.rstrip("/") + file[1:] if file.startswith("~") else file, CONFIGURATION)


def _named_in_address(url: Url) -> Iterator[RawLink]:
    """Yield what the address of a viewer names: a file (`?config=apps/roads.xml`), an item of a portal, a project."""
    place, _, query = url.address.partition("?")
    if not query:
        return
    parameters = {name.lower(): value for name, value in query_parameters(url)}
    for value in parameters.values():
        if DATA_FILE.fullmatch(value):
            yield RawLink(value, CONFIGURATION)
    if portal := _ARCGIS_PAGE.match(place, len(url.origin)):
        for name, value in parameters.items():
            if name in _ARCGIS_NAMES and _ARCGIS_ID.fullmatch(value):
                yield _item(url.origin + portal[1], value)
    if (lizmap := _LIZMAP_PAGE.match(place)) and {"repository", "project"} <= parameters.keys():
        project = "&".join(f"{name}={parameters[name]}" for name in ("repository", "project"))
        yield RawLink(f"{lizmap[1]}/lizmap/service?{project}", "script", kind="wms")
        yield RawLink(f"{lizmap[1]}/lizmap/service/getProjectConfig?{project}", CONFIGURATION)


def _item(portal: str, item: str) -> RawLink:
    """Return a link to an item's data (ArcGIS REST API, Item Data): a web map, or an application that names one."""
    return RawLink(f"{portal.rstrip('/')}/sharing/rest/content/items/{item}/data?f=json", CONFIGURATION)


def _viewer_with(signs: str) -> Viewer | None:
    """Return the first viewer that scripts (in lower case) reveal; None without one."""
    return next((viewer for viewer in all_viewers() if any(sign in signs for sign in viewer.signs)), None)


@dataclass(frozen=True, slots=True)
class Viewer:
    """A program that shows maps: its signs, and the files that it loads."""

    key: str
    name: str
    signs: tuple[str, ...]
    files: tuple[str, ...]


@lru_cache(maxsize=1)
def all_viewers() -> tuple[Viewer, ...]:
    """Return the viewers of the table, in its order."""
    import tomllib

    text = resources.files("geocrawl").joinpath("data/viewers.toml").read_text("utf-8")
    return tuple(
        Viewer(key, table["name"], tuple(table["signs"]), tuple(table["files"]))
        for key, table in tomllib.loads(text).items()
    )


def _once(links: Iterable[RawLink]) -> Iterator[RawLink]:
    seen: set[str] = set()
    for link in links:
        name = link.href.removeprefix("./")
        if name not in seen:
            seen.add(name)
            yield link


# --------------------------------------------------------------------------- files of a script or a configuration


_TELLING = r"conf|config|settings|project|services|layers|themes|catalogs?|init|mapbook|sources"
_TELLING_KEY = re.compile(
    rf"\A(?!.*(?:style|lang|locale|print|font))(?:.*(?:{_TELLING})(?:uration|uri|url|file|path|s)?\Z|(?:{_TELLING}))",
    re.I,
)
_CODE_FOLDERS = frozenset({"js", "javascript", "scripts", "script", "src", "lib", "app", "dist", "build"})


def files_in_script(code: str, url: Url) -> Iterator[RawLink]:
    """Yield links to the data files that a script at `url` names under a telling key (`layerConf`, `themesUrl`)."""
    found = files_in_code(code) if len(code) <= _MAX_CODE_CHARS else ()
    files = (RawLink(_from_page(file, url), CONFIGURATION) for key, file in found if _is_telling(key))
    yield from islice(_once(files), MAX_FILES)


def _is_telling(key: str) -> bool:
    """Return whether a key or an attribute says by its name that its value is a part of a configuration."""
    return _TELLING_KEY.search(key) is not None


def _tells(key: str, file: str) -> bool:
    """Return whether a key, or the name of a file, says that the file is a part of a configuration."""
    return _is_telling(key) or file.lower().endswith((".config.json", "/config.json"))


def _from_page(href: str, url: Url) -> str:
    """Return the address of a file that a file at `url` names, relative to that file.

    Programs resolve such names against their page. The page is where the named folder is, and above folders of code.
    """
    if href.startswith("/") or "://" in href:
        return href
    href = href.removeprefix("./")
    folder = url.address.partition("?")[0].rpartition("/")[0].rpartition("/")[2].lower()
    is_above = folder in _CODE_FOLDERS or href.lower().startswith(f"{folder}/")
    return f"../{href}" if folder and is_above else href


# --------------------------------------------------------------------------- configurations in JSON and XML


_MAX_VALUES = 500_000
"""Most values of a configuration that are looked at."""
_MAX_DEPTH = 50
"""Most levels of a configuration that are read."""
_MAX_WORD_CHARS = 80
_TITLES = frozenset({"title", "name", "label", "text"})
_SAYS_TYPE = re.compile(r"typ|service|protocol|provider|class|kind|driver|format|conformsto")
_WMS_KEYS = frozenset(
    {"featureinfourl", "legendurl", "mapcrs", "sublayers", "infoformats", "wms_name", "wfssupport", "issingletile"}
)
"""Keys that clients of WMS have beside an address; two of them say that it is one."""
_MEDIA_TYPE = re.compile(r"(?:application|text|image|video|audio|model|multipart)/", re.I)
_NEXTGIS = {
    "wmsserver_service": ("wms", "wms"),
    "wfsserver_service": ("wfs", "wfs"),
    "ogcfserver_service": ("ogcapi", "ogcf"),
}
"""Class of a resource → kind of service, and the end of its address (NextGIS Web, "OGC services")."""


def read_configuration(data: Any, url: Url) -> Iterator[RawLink]:
    """Yield the addresses in a configuration at `url` that may be services, then links to the files that it names."""
    reader = _Reduction(url)
    code = json.dumps(reader.reduced(data, "", 0), ensure_ascii=False)
    found = addresses_in_code(code, "json") if may_mention_services(code.lower()) else ()
    for link in (*reader.services, *found):
        if link.href.startswith("/") or "://" in link.href:
            yield link
        elif not _MEDIA_TYPE.match(link.href):
            yield link._replace(href=_from_page(link.href, url))
    yield from islice(_once(reader.files), MAX_FILES)


def read_xml_configuration(root: etree._Element, url: Url) -> Iterator[RawLink]:
    """Yield the links of a configuration in XML: attributes and elements of one text count as members of an object."""
    return read_configuration(_as_object(root, 0), url)


def _as_object(element: etree._Element, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {str(name).rpartition("}")[2]: value for name, value in element.attrib.items()}
    for below in element.iterchildren("*"):
        text = (below.text or "").strip()
        value: Any = text
        if (len(below) or below.attrib) and depth < _MAX_DEPTH:
            value = _as_object(below, depth + 1)
            if text:
                value["url" if "/" in text else "text"] = text
        name = local_name(below)
        if name in found or not isinstance(value, str):
            known = found.setdefault(name, [])
            found[name] = [*(known if isinstance(known, list) else [known]), value]
        else:
            found[name] = value
    return found


def _name_sources(value: JsonObject, kept: dict[str, Any]) -> None:
    """State in each source of a configuration the type that a layer of it states."""
    types = {string_of(layer.get("source")): string_of(layer.get("type")) for layer in objects(value.get("layers"))}
    for name in ("source", "sources"):
        for key, source in object_of(kept.get(name)).items():
            if types.get(key) and isinstance(source, dict):
                source.setdefault("type", types[key])


def _kind_stated(value: JsonObject) -> str:
    """Return the kind that an object states under any key for types (`typ`, `service`); '' for none."""
    words = (text for key, text in value.items() if isinstance(text, str) and _SAYS_TYPE.search(key.lower()))
    return next((kind for word in words if "/" not in word and (kind := kind_in_name(word))), "")


class _Reduction:
    """Reduces a configuration to types, titles and addresses, each layer's once, and collects what it names besides."""

    def __init__(self, url: Url) -> None:
        self.url = url
        self.files: list[RawLink] = []
        self.services: list[RawLink] = []
        """Services whose addresses are made of parts."""
        self._values = 0
        self._known: set[tuple[str, ...]] = set()
        self._portal = url.address.partition("/sharing/rest/")[0] if "/sharing/rest/" in url.address else ""

    def reduced(self, value: Any, key: str, depth: int) -> Any:
        """Return a value without what says nothing about services; None for nothing."""
        self._values += 1
        if self._values > _MAX_VALUES or depth > 2 * _MAX_DEPTH:
            return None
        if isinstance(value, str):
            return self._text(value, key)
        if isinstance(value, list):
            if value and isinstance(value[0], (int, float)):
                return None  # coordinates
            kept = (self.reduced(item, key, depth + 1) for item in value)
            return [{key: each} if isinstance(each, str) and key else each for each in kept if each] or None
        return self._object(value, depth) if isinstance(value, Mapping) else None

    def _object(self, value: JsonObject, depth: int) -> JsonObject | None:
        self._note_parts(value)
        texts = tuple(
            text.partition("?")[0]
            for key, text in value.items()
            if isinstance(text, str) and ("/" in text or _SAYS_TYPE.search(key.lower())) and len(text) <= MAX_HREF_CHARS
        )
        if len(texts) > 1 and not any(isinstance(member, (list, Mapping)) for member in value.values()):
            if texts in self._known:
                return None  # another layer of a known service
            self._known.add(texts)
        kept = {str(key): member for key, text in value.items() if (member := self.reduced(text, str(key), depth + 1))}
        _name_sources(value, kept)
        if len(_WMS_KEYS.intersection(str(key).lower() for key in value)) > 1:
            kept["type"] = "wms"
        elif "type" not in value and (kind := _kind_stated(kept)):
            kept["type"] = kind
        return kept or None

    def _text(self, text: str, key: str) -> str | None:
        if len(text) > MAX_HREF_CHARS:
            return None
        if key.lower() == "initializationurls":  # TerriaJS: a name, or the address of a file
            is_name = "/" not in text and not text.endswith(".json")
            self._add_file(f"init/{text}.json" if is_name else text)
        elif DATA_FILE.fullmatch(text) and not may_be_service(text) and _tells(key, text):
            self._add_file(text)
        if "/" in text:
            return text
        is_short = len(text) <= _MAX_WORD_CHARS
        says = key.lower() in _TITLES or _SAYS_TYPE.search(key.lower()) or kind_in_name(text)
        return text if is_short and says else None

    def _add_file(self, href: str) -> None:
        if len(self.files) <= MAX_FILES:
            self.files.append(RawLink(_from_page(href, self.url), CONFIGURATION))

    def _note_parts(self, value: JsonObject) -> None:
        """Note a web map of an ArcGIS portal, or a service of NextGIS Web, which objects name by numbers."""
        self._portal = string_of(value.get("portalUrl")) or self._portal
        for key, member in value.items():
            if (
                key.lower() in _ARCGIS_NAMES
                and isinstance(member, str)
                and self._portal
                and _ARCGIS_ID.fullmatch(member)
            ):
                self.files.append(_item(self._portal, member))
        kind, end = _NEXTGIS.get(string_of(value.get("cls")), ("", ""))
        number = integer_of(value.get("id"))
        if kind and number >= 0:
            root = self.url.address.partition("/api/")[0]
            self.services.append(RawLink(f"{root}/api/resource/{number}/{end}", "json", kind=kind))
