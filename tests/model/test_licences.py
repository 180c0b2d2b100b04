"""Which licence texts name, in the words of services and in those of the licences themselves."""

from __future__ import annotations

import pytest

from geocrawl.model import licences
from geocrawl.model.licences import is_meant, licence_address, licence_of, restricts

DL_DE = (
    '{"id":"dl-de-by-2.0","name":"Datenlizenz Deutschland – Namensnennung – Version 2.0","url":'
    '"https://www.govdata.de/dl-de/by-2-0","quelle":"Landesamt"}'
)
GA = (
    "© Commonwealth of Australia (Geoscience Australia) 2018. This product is released under the Creative Commons "
    "Attribution 4.0 International Licence. http://creativecommons.org/licenses/by/4.0/legalcode"
)
IODL = "Italian Open Data License v2.0, https://www.dati.gov.it/iodl/2.0/"
NAMED = {
    DL_DE: "DL-DE-BY-2.0",
    "Nutzung nach https://www.govdata.de/dl-de/zero-2-0": "DL-DE-ZERO-2.0",
    "Datenlizenz Deutschland - Namensnennung - Version 2.0; Zugriff: keine": "DL-DE-BY-2.0",
    "Verordnung zur Festlegung der Nutzungsbestimmungen (GeoNutzV), http://www.gesetze-im-internet.de": "GeoNutzV",
    GA: "CC-BY-4.0",
    "Basemap @ CC BY 4.0 Land Information New Zealand": "CC-BY-4.0",
    "CC BY SA 4.0 NZ": "CC-BY-SA-4.0",
    "CC_BY_NC_ND_3.0": "CC-BY-NC-ND-3.0",
    "https://creativecommons.org/licenses/by-nc-sa/2.5/it/": "CC-BY-NC-SA-2.5",
    "Creative Commons Attribution-NonCommercial-ShareAlike 4.0": "CC-BY-NC-SA-4.0",
    "Creative Commons Namensnennung 4.0 International (CC BY 4.0)": "CC-BY-4.0",
    "知识共享 CC BY 4.0": "CC-BY-4.0",
    "クリエイティブ・コモンズ 表示 4.0 国際": "CC-BY-4.0",
    "Licence CC-BY": "CC-BY",
    "CC0": "CC0-1.0",
    "https://creativecommons.org/publicdomain/zero/1.0/": "CC0-1.0",
    "Contains public sector information licensed under the Open Government Licence v3.0.": "OGL-UK-3.0",
    "http://www.nationalarchives.gov.uk/doc/open-government-licence/version/2/": "OGL-UK-2.0",
    "Open Government Licence - Canada": "OGL-Canada-2.0",
    "Licence Ouverte / Open Licence version 2.0": "etalab-2.0",
    "etalab-2.0": "etalab-2.0",
    "Norsk lisens for offentlige data (NLOD) 2.0": "NLOD-2.0",
    "https://data.norge.no/nlod/no/1.0": "NLOD-1.0",
    IODL: "IODL-2.0",
    "Open Database License (ODbL) 1.0, http://opendatacommons.org/licenses/odbl/1.0/": "ODbL-1.0",
    "PDDL-1.0": "PDDL-1.0",
    "ODC-BY 1.0": "ODC-By-1.0",
    "This data set is in the public domain.": "public-domain",
    "CDLA-Sharing-1.0": "CDLA-Sharing-1.0",
}
UNREAD = (
    "",
    "proprietary",
    "conditions unknown",
    "No restrictions, but please don't abuse the server!",
    "Licencia compatible con CC-BY 4.0",
    "This is not licensed under CC BY 4.0.",
    "Data: ODbL 1.0; tiles: CC BY-SA 4.0",
    "Open Government Licence - Alberta, version 2.1",
    "Questions cc by mail to the office",
    "Access Constraints: see https://example.org/free",
    "free registration",
    "public domain names are not ours",
)


@pytest.mark.parametrize("text", NAMED)
def test_a_text_that_names_a_licence_has_its_code(text: str) -> None:
    assert licence_of(text, "") == licence_of("", text) == licence_of(text, "none") == NAMED[text]


@pytest.mark.parametrize("text", UNREAD)
def test_a_text_that_names_none_or_several_has_no_code(text: str) -> None:
    assert licence_of(text, "") == ""


@pytest.mark.parametrize(
    ("constraints", "fees", "code"),
    [
        ("NONE", "NONE", "no-conditions"),
        ("Es gelten keine Zugriffsbeschränkungen", "", "no-conditions"),
        ("ei käyttörajoituksia", "ei käyttömaksua", "no-conditions"),
        ("http://inspire.ec.europa.eu/metadata-codelist/LimitationsOnPublicAccess/noLimitations", "0", "no-conditions"),
        ("none", "5 EUR", ""),
        ("", "aucun", "no-fees"),
        ("", "Kostenfrei", "no-fees"),
        ("Vaatii käyttäjätunnuksen", "none", ""),
        ("-", "-", ""),
        ("CC BY 4.0", "ODbL", ""),
        ("CC BY 4.0", "Creative Commons licence CC-BY", "CC-BY-4.0"),
    ],
)
def test_texts_that_state_no_conditions_say_so_and_grant_nothing(constraints: str, fees: str, code: str) -> None:
    assert licence_of(constraints, fees) == code
    assert not (code.startswith("no-") and is_meant(code, "open"))


def test_a_licence_is_asked_for_by_its_code_its_family_or_as_open() -> None:
    assert [code for code in NAMED.values() if not is_meant(code, "open")] == [
        code for code in NAMED.values() if "NC" in code or "ND" in code
    ]
    assert is_meant("CC-BY-4.0", "cc-by-4.0")
    assert is_meant("CC-BY-4.0", "CC-BY")
    assert not is_meant("CC-BY-SA-4.0", "CC-BY")
    assert not is_meant("", "open")


def test_each_licence_has_an_address_but_for_families_and_the_public_domain() -> None:
    without = {code for code in NAMED.values() if not licence_address(code)}
    assert without == {"CC-BY", "public-domain"}
    assert licence_address("CC-BY-NC-SA-4.0") == "https://creativecommons.org/licenses/by-nc-sa/4.0/"


def test_the_lists_are_written_as_texts_are_compared() -> None:
    listed = (*licences._SAY_NONE, *licences._EMPTY)
    assert [text for text in listed if licences._folded(text) != text] == []
    assert restricts("Geen geld") and not restricts("GEEN.")
