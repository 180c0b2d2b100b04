"""The level of a link by eq. 3: which words count in a URL and an anchor."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geocrawl.model import Relevance
from geocrawl.priority.models import LINKS_FILE, read_links, shipped_models
from geocrawl.priority.nearness import LinkMeasure, LinkModel
from tests.priority.documents import LINKS


@pytest.mark.parametrize(
    ("address", "anchor", "level", "words"),
    [
        ("http://a.example/wms130/list", "", 2, ("wms",)),
        ("http://a.example/rest/WMSServer", "", 2, ("wms",)),
        ("http://a.example/getWMS.html", "", 2, ("wms",)),
        ("http://a.example/x?u=service%3DWMS", "", 2, ("wms",)),
        ("http://a.example/%E5%9C%B0%E5%9B%BE%E6%9C%8D%E5%8A%A1", "", 2, ("地图服务",)),
        ("http://a.example/1", "在线地图服务目录", 2, ("地图服务",)),
        ("http://a.example/1", "Our WMS servers", 2, ("wms",)),
        ("http://a.example/doc/GetCapabilities", "", 2, ("getcapabilities",)),
        ("http://gis.a.example/", "", 1, ("gis",)),
        ("http://a.example/arcgis/rest", "", 1, ("arcgis",)),
        ("http://a.example/1", "地理信息中心", 1, ("地理信息",)),
        ("http://a.example/my_gis", "WMTS", 1, ("gis", "wmts")),
        ("http://a.example/gis", "WMS", 2, ("wms",)),
        ("http://a.example/register", "logistics", 0, ()),
        ("http://a.example/swms.html", "newsms", 0, ()),
        ("http://a.example/soup", "政务服务", 0, ()),
    ],
)
def test_words_count_where_they_stand_by_themselves(
    address: str, anchor: str, level: int, words: tuple[str, ...]
) -> None:
    assert LinkMeasure(LINKS).match(address, anchor) == (Relevance(level), words)


def test_a_keyword_that_is_also_an_abbreviation_is_of_level_two() -> None:
    measure = LinkMeasure(LinkModel({"en": ("wms",)}, ("wms",)))
    assert measure.match("http://a.example/wms", "").level is Relevance.HIGH


@pytest.mark.parametrize(
    ("both", "address", "level", "words"),
    [
        (Relevance.SOME, "http://a.example/wms", 1, ("wms",)),
        (Relevance.SOME, "http://a.example/ows/wmts", 1, ("ows", "wmts")),
        (Relevance.SOME, "http://a.example/wms/getcapabilities", 2, ("getcapabilities",)),
        (Relevance.HIGH, "http://a.example/ows/wmts", 2, ("ows",)),
    ],
)
def test_a_keyword_that_is_also_an_abbreviation_is_of_level_one_where_that_is_asked(
    both: Relevance, address: str, level: int, words: tuple[str, ...]
) -> None:
    measure = LinkMeasure(LinkModel({"en": ("wms", "ows", "getcapabilities")}, ("wms", "ows", "wmts")), both)
    assert measure.match(address, "") == (Relevance(level), words)


@given(st.text(max_size=60), st.text(max_size=40))
def test_any_text_has_a_level(address: str, anchor: str) -> None:
    match = LinkMeasure(LINKS).match(address, anchor)
    assert match.level in Relevance
    assert bool(match.words) == (match.level > 0)


HUBS = {
    "de": ("Geodienste und Geodatenkatalog des Landes", "Geburtsurkunde online beantragen"),
    "fr": ("Le Géoportail de la région", "Plan du site et mentions légales"),
    "es": ("Servicios de mapas e información geográfica", "Mapa del sitio"),
    "pt": ("Catálogo de dados geoespaciais", "Mapa do site"),
    "it": ("Geoportale nazionale", "Mappa del sito"),
    "nl": ("Naar het geoportaal", "Sitemap van de gemeente"),
    "sv": ("Karttjänster för kommunen", "Öppettider och kontakt"),
    "fi": ("Kunnan paikkatietopalvelu", "Sivukartta"),
    "et": ("Maa-ameti geoportaal", "Sisukaart"),
    "lv": ("Valsts vienotais ģeoportāls", "Vietnes karte"),
    "lt": ("Erdvinių duomenų rinkiniai", "Svetainės medis"),
    "pl": ("Usługi danych przestrzennych", "Mapa strony"),
    "cs": ("Mapové služby kraje", "Mapa stránek"),
    "sk": ("Register priestorových údajov", "Mapa stránky"),
    "sl": ("Katalog prostorskih podatkov", "Zemljevid strani"),
    "hr": ("Nacionalna infrastruktura prostornih podataka", "Mapa weba"),
    "hu": ("Térinformatikai portál", "Oldaltérkép"),
    "ro": ("Infrastructura datelor spațiale", "Harta site-ului"),
    "tr": ("Ulusal coğrafi veri portalı", "Site haritası"),
    "el": ("Πύλη γεωχωρικών δεδομένων", "Χάρτης ιστοτόπου"),
    "ru": ("Фонд пространственных данных, геопортала раздел", "Карта сайта"),
    "bg": ("Достъп до пространствени данни", "Карта на сайта"),
    "uk": ("Портал геопросторових даних", "Мапа сайту"),
    "kk": ("Облыстың геопорталы", "Сайт картасы"),
    "mn": ("Орон зайн мэдээллийн сан", "Сайтын бүтэц"),
    "ka": ("ეროვნული გეოპორტალი", "საიტის რუკა"),
    "hy": ("Ազգային գեոպորտալը", "Կայքի քարտեզ"),
    "ar": ("منصة البيانات الجيومكانية الوطنية", "خريطة الموقع"),
    "fa": ("سامانه اطلاعات مکانی کشور", "نقشه سایت"),
    "he": ("שכבות למידע גאוגרפי של העירייה", "מפת האתר"),
    "hi": ("राष्ट्रीय भू-स्थानिक पोर्टल", "साइट मानचित्र"),
    "bn": ("জাতীয় ভূ-স্থানিক তথ্য", "সাইট ম্যাপ"),
    "th": ("ระบบภูมิสารสนเทศจังหวัด", "แผนผังเว็บไซต์"),
    "lo": ("ລະບົບຂໍ້ມູນຂ່າວສານພູມສາດ", "ແຜນຜັງເວັບໄຊ"),
    "vi": ("Cổng thông tin không gian địa lý", "Sơ đồ trang web"),
    "id": ("Simpul jaringan informasi geospasial daerah", "Peta situs"),
    "ja": ("県の地理空間情報ライブラリ", "サイトマップ"),
    "zh-Hant": ("國土空間資料庫與圖資服務", "網站地圖"),
    "ko": ("국가공간정보포털", "사이트맵"),
}
"""Language → an anchor that leads to a hub of services, and one that every office's page has."""


@pytest.mark.parametrize("language", HUBS)
def test_hubs_of_services_are_known_in_the_languages_of_their_portals(language: str) -> None:
    measure = LinkMeasure(read_links(shipped_models() / LINKS_FILE))
    hub, ordinary = HUBS[language]
    assert measure.match("http://a.example/1", hub).level is Relevance.SOME
    assert measure.match("http://a.example/1", hub.upper()).level is Relevance.SOME
    assert measure.match("http://a.example/1", ordinary).level is Relevance.NONE
