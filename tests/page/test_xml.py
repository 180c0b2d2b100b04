"""Feeds, sitemaps, metadata and XML of other kinds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from geocrawl.page.xml import read_xml
from tests.support.pages import hrefs, read, url

ISO = """<?xml version="1.0" encoding="UTF-8"?>
<gmd:MD_Metadata xmlns:gmd="http://www.isotc211.org/2005/gmd" xmlns:gco="http://www.isotc211.org/2005/gco"
  xmlns:xlink="http://www.w3.org/1999/xlink"><gmd:title><gco:CharacterString>Lakes</gco:CharacterString></gmd:title>
 <gmd:CI_OnlineResource><gmd:linkage><gmd:URL>http://m.example/wms?map=a&amp;service=WMS</gmd:URL></gmd:linkage>
  <gmd:protocol><gco:CharacterString>OGC:WMS</gco:CharacterString></gmd:protocol>
  <gmd:name><gco:CharacterString>lakes</gco:CharacterString></gmd:name>
  <gmd:description><gco:CharacterString>View service</gco:CharacterString></gmd:description></gmd:CI_OnlineResource>
 <gmd:operatesOn xlink:href="http://m.example/record?id=1"/><gmd:x codeList="http://no.example/c#x"/>
</gmd:MD_Metadata>"""


def test_a_metadata_record_leads_to_its_online_resources() -> None:
    document = read(ISO, "text/html")
    assert (document.xml_root, document.title) == ("MD_Metadata", "Lakes")
    service, record = document.links
    assert (service.url.address, service.kind) == ("http://m.example/wms?map=a&service=WMS", "wms")
    assert (service.anchor, service.context, service.where) == ("Lakes lakes OGC:WMS", "View service", "metadata")
    assert record.url.address == "http://m.example/record?id=1"


def test_a_sitemap_leads_to_its_pages() -> None:
    document = read(
        "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc> http://h.example/a </loc>"
        "<lastmod>2024-01-01</lastmod></url><url><loc>http://h.example/b?x=1&amp;y=2</loc></url></urlset>",
        "application/xml",
    )
    assert hrefs(document) == ["http://h.example/a", "http://h.example/b?x=1&y=2"]
    assert {link.where for link in document.links} == {"sitemap"}


def test_an_rss_item_is_the_anchor_of_its_link() -> None:
    document = read(
        "<rss version='2.0'><channel><title>News</title><item><title>New WMS</title><link>http://h.example/1</link>"
        "<description>Of lakes</description></item></channel></rss>",
        "text/plain",
    )
    assert [(link.anchor, link.context) for link in document.links] == [("New WMS", "Of lakes")]
    assert (document.title, document.xml_root) == ("News", "rss")


def test_an_atom_entry_leads_to_its_links_even_relative_ones() -> None:
    document = read(
        "<feed xmlns='http://www.w3.org/2005/Atom' xml:lang='DE'><entry><title>WMS</title>"
        "<link rel='alternate' href='/e1'/></entry></feed>",
        "application/atom+xml",
    )
    (link,) = document.links
    assert (link.url.address, link.anchor, link.rel) == ("http://h.example/e1", "WMS", "alternate")
    assert document.language == "de"


def test_capabilities_show_by_their_root() -> None:
    document = read("<?xml version='1.0'?><!-- c --><WMS_Capabilities version='1.3.0'><Service/></WMS_Capabilities>")
    assert document.xml_root == "WMS_Capabilities"
    assert read("<!DOCTYPE WMT_MS_Capabilities SYSTEM 'x.dtd' [<!ENTITY a 'b'>]><WMT_MS_Capabilities/>").xml_root


def test_xhtml_is_read_as_html() -> None:
    document = read(
        "<?xml version='1.0'?><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0' 'x'>"
        "<html xmlns='http://www.w3.org/1999/xhtml' xml:lang='en'><body><a href='x'>X</a></body></html>",
        "application/xhtml+xml",
    )
    assert (hrefs(document), document.xml_root, document.language) == (["http://h.example/d/x"], "", "en")


def test_a_false_encoding_in_the_declaration_does_no_harm() -> None:
    assert read("<?xml version='1.0' encoding='utf-16'?><r><title>é</title></r>").title == "é"
    assert read("<?xml version='1.0' encoding='gb2312'?><r><title>地图</title></r>".encode("gb18030")).title == "地图"


def test_broken_xml_is_read_as_far_as_it_goes() -> None:
    document = read("<?xml version='1.0'?><r><a>http://h.example/1</a><b>&nbsp;<c>http://h.example/2", "text/xml")
    assert hrefs(document) == ["http://h.example/1", "http://h.example/2"]


def test_entities_are_neither_expanded_nor_fetched() -> None:
    bomb = "".join(f"<!ENTITY e{n} '{f'&e{n - 1};' * 10}'>" for n in range(1, 10))
    text = f"<?xml version='1.0'?><!DOCTYPE r [<!ENTITY e0 'boom'>{bomb}<!ENTITY f SYSTEM 'file:///etc/passwd'>]><r>&e9;&f;</r>"
    document = read(text, "text/xml")
    assert "boom" not in document.text
    assert "root:" not in document.text


def test_deep_xml_does_not_raise() -> None:
    assert read("<?xml version='1.0'?>" + "<a>" * 100_000, "text/xml").xml_root == "a"


@given(
    st.lists(
        st.sampled_from(["<a>", "</a>", "<b href='/x'>", "http://h.example/", "&e;", "<![CDATA[", "]]>", "\0", "é"])
    )
)
def test_any_soup_of_xml_is_read(soup: list[str]) -> None:
    read_xml("".join(soup), url("http://h.example/"), max_links=5)
