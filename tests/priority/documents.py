"""Documents and models for the tests of the strategies."""

from __future__ import annotations

from geocrawl.model import Document, Link, Relevance, Url
from geocrawl.ports import QueuedLink
from geocrawl.priority.nearness import LinkModel, TopicModel
from geocrawl.urls import read_url

TOPIC = TopicModel({"en": {"wms": 3.0, "layer": 2.0, "map": 1.0}, "zh": {"wms": 2.0, "图层": 2.0, "地图": 1.0}})
LINKS = LinkModel({"en": ("wms", "getcapabilities"), "zh": ("地图服务",)}, ("gis", "arcgis", "wmts", "ogc", "地理信息"))


def url(text: str) -> Url:
    read = read_url(text)
    assert read is not None
    return read


def link(address: str, anchor: str = "") -> Link:
    return Link(url(address), anchor)


def document(text: str = "", *links: Link, title: str = "", depth: int = 1) -> Document:
    return Document(
        url=url("http://pages.example/start"),
        depth=depth,
        status=200,
        content_type="text/html",
        encoding="utf-8",
        title=title,
        text=text,
        links=links,
    )


def waiting(
    address: str = "http://a.example/", anchor: str = "", *, depth: int = 2, page: Relevance = Relevance.NONE
) -> QueuedLink:
    return QueuedLink(1, url(address), anchor, depth, page)
