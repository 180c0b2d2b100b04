"""Read under which licence a service may be used, from its texts on fees and constraints.

A code is that of SPDX where SPDX has one, else the licence's short name with its version. A text that names no known
licence, or several, has no code: the text says more than a guess. Editions of a Creative Commons licence for one
country have the code of its version. `no-conditions` and `no-fees` stand for texts that say just that, in the words of
WMS 1.3.0 (7.2.4.2 reserves `none`), of INSPIRE's code lists and of people; they grant nothing.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

NO_CONDITIONS, NO_FEES = "no-conditions", "no-fees"
OPEN = "open"
"""Word for all licences that are open by the Open Definition 2.1, in a search."""
_CLOSED = ("DL-DE-BY-NC-1.0", "CC-BY-NC", "CC-BY-ND", NO_CONDITIONS, NO_FEES)
"""Beginnings of the codes that are not open."""


def _version(number: int) -> str:
    """Return the pattern of a whole version behind a name."""
    return rf"(?: v| version| versjon| versione)? ?{number}(?:\.0)?\b(?!\.)"


_LICENCES: tuple[tuple[str, str, str], ...] = (
    ("CC0-1.0", r"\bcc ?(?:0|zero)\b|publicdomain zero 1\.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    ("CC-PDM-1.0", r"public ?domain mark", "https://creativecommons.org/publicdomain/mark/1.0/"),
    ("PDDL-1.0", r"\bpddl\b|domain dedication and licen[cs]e", "https://opendatacommons.org/licenses/pddl/1-0/"),
    (
        "ODC-By-1.0",
        r"\bodc by\b|open ?data ?commons(?:\.org licenses by| attribution)\b",
        "https://opendatacommons.org/licenses/by/1-0/",
    ),
    ("ODbL-1.0", r"\bodbl\b|open database licen[cs]e", "https://opendatacommons.org/licenses/odbl/1-0/"),
    (
        "DL-DE-BY-2.0",
        r"\bdl de by 2[ .]0|datenlizenz deutschland namensnennung (?:version )?2\.0",
        "https://www.govdata.de/dl-de/by-2-0",
    ),
    (
        "DL-DE-ZERO-2.0",
        r"\bdl de zero 2[ .]0|datenlizenz deutschland zero (?:version )?2\.0",
        "https://www.govdata.de/dl-de/zero-2-0",
    ),
    (
        "DL-DE-BY-1.0",
        r"\bdl de by 1[ .]0|datenlizenz deutschland namensnennung (?:version )?1\.0",
        "https://www.govdata.de/dl-de/by-1-0",
    ),
    (
        "DL-DE-BY-NC-1.0",
        r"\bdl de by nc 1[ .]0|namensnennung nicht kommerziell (?:version )?1\.0",
        "https://www.govdata.de/dl-de/by-nc-1-0",
    ),
    ("GeoNutzV", r"\bgeonutzv", "https://sg.geodatenzentrum.de/web_public/gdz/lizenz/geonutzv.pdf"),
    *(
        (
            f"OGL-UK-{n}.0",
            r"\b(?:open government licen[cs]e|ogl)(?: for public sector information)?(?: ogl)?(?: uk)?" + _version(n),
            f"https://www.nationalarchives.gov.uk/doc/open-government-licence/version/{n}/",
        )
        for n in (3, 2, 1)
    ),
    (
        "OGL-Canada-2.0",
        r"\bogl canada|open government licen[cs]e canada|licence du gouvernement ouvert canada",
        "https://open.canada.ca/en/open-government-licence-canada",
    ),
    *(
        (
            f"etalab-{n}.0",
            r"\b(?:licence ouverte|etalab)(?: open licen[cs]e| etalab)*" + _version(n),
            "https://www.etalab.gouv.fr/licence-ouverte-open-licence/",
        )
        for n in (2, 1)
    ),
    *(
        (
            f"NLOD-{n}.0",
            r"(?:norsk lisens for offentlige data|licen[cs]e for open government data|\bnlod)(?: nlod)?(?: no| en)?"
            + _version(n),
            f"https://data.norge.no/nlod/no/{n}.0",
        )
        for n in (2, 1)
    ),
    *(
        (
            f"IODL-{n}.0",
            r"(?:italian open data licen[cs]e|\biodl)(?: iodl)?" + _version(n),
            f"https://www.dati.gov.it/iodl/{n}.0/",
        )
        for n in (2, 1)
    ),
    ("OGDL-Taiwan-1.0", r"政府資料開放授權條款|\bogdl taiwan", "https://data.gov.tw/license"),
    ("CDLA-Permissive-1.0", r"\bcdla permissive 1\.0", "https://cdla.dev/permissive-1-0/"),
    ("CDLA-Permissive-2.0", r"\bcdla permissive 2\.0", "https://cdla.dev/permissive-2-0/"),
    ("CDLA-Sharing-1.0", r"\bcdla sharing 1\.0", "https://cdla.dev/sharing-1-0/"),
    ("public-domain", r"(?:is|are) in the public domain|\A(?:us )?(?:government )?public domain\Z", ""),
    ("Apache-2.0", r"\Aapache(?: licen[cs]e)?(?: version)? 2\.0\Z", "https://www.apache.org/licenses/LICENSE-2.0"),
    ("MIT", r"\Amit(?: licen[cs]e)?\Z", "https://opensource.org/license/mit"),
)
"""Code, pattern in a folded text, address of the licence."""
_PATTERNS = tuple((code, re.compile(pattern)) for code, pattern, _ in _LICENCES)
_ADDRESSES = {code: address for code, _, address in _LICENCES}
_CC = re.compile(
    r"(?:\bcc ?|creative ?commons(?:\.org licenses| licen[cs]e)? |クリエイティフ コモンス )"
    r"(?P<by>by\b|(?:attribution|namensnennung|reconocimiento|atribucion|attribuzione|atribuicao|naamsvermelding"
    r"|navngivelse|erkannande|nimea|uznanie autorstwa|署名|表示)(?=[ \d]|\Z))"
    r"(?P<nc> (?:nc\b|non ?commercial|nicht kommerziell|pas d utilisation commerciale|no ?comercial|non commerciale"
    r"|niet ?commercieel|nao ?comercial|非商业性使用|非営利))?"
    r"(?P<sa> (?:sa\b|share ?alike|weitergabe unter gleichen bedingungen|partage dans les memes conditions"
    r"|compartir ?igual|condividi allo stesso modo|gelijk ?delen|相同方式共享|継承))?"
    r"(?P<nd> (?:nd\b|no ?deriv\w*|keine bearbeitung(?:en)?|pas de modification|sin ?obra ?derivada"
    r"|non opere derivate|禁止演绎|改変禁止))?"
    r"(?: licen[cs]e)?(?: v| version)? ?(?P<version>[1-4](?:\.\d)?)?\b"
)
"""A licence of Creative Commons in a folded text: by its letters, its address, or its name in some languages."""
_OTHERS = re.compile(r"\b(?:not|nicht|no es|non e|n est pas|compatible|kompatib\w+|similar|equivalent)\b[^.;]{0,30}\Z")
"""Matches what stands before the name of a licence that a text does not grant."""
_SAYS_LICENCE = re.compile(r"licen[csz]|lizenz|licencia|licenza|creative ?commons")

_NONE = """
none no nil keine keinerlei aucun aucune ninguno ninguna cap nessuno nessuna nenhum nenhuma geen ingen inga
inget ei brak zadne ziadne nincs nema nav puudub няма нет немає yok 无 無 没有 なし 無し 없음
"""
_NO_CONDITIONS = """
no conditions apply; no conditions; no conditions apply to access and use; no condition applies; no constraints;
no restrictions; no restriction; no limitations; no limitation; no access constraints; no use constraints;
no access restrictions; no limitations on public access; no limitations to public access; unrestricted;
no restrictions on public access; no constraints apply; there are no access constraints; noconditionsapply;
nolimitations; keine bedingungen; es gelten keine bedingungen; keine zugriffsbeschrankungen;
es gelten keine zugriffsbeschrankungen; keine beschrankungen; keine einschrankungen; keine nutzungsbeschrankungen;
keine zugangsbeschrankungen; es gelten keine beschrankungen; es gelten keine einschrankungen; keine restriktionen;
es bestehen keine zugriffsbeschrankungen; uneingeschrankt; aucune condition ne s applique; aucune condition;
aucune restriction; aucune contrainte; aucune limitation; pas de restriction; pas de restrictions; sans restriction;
pas de restriction d acces public; pas de contrainte; no se aplican condiciones; sin restricciones; sin condiciones;
no hay restricciones; ninguna restriccion; sin limitaciones; sin limitaciones al acceso publico;
no existen restricciones; no hay limitaciones al acceso publico; no se aplican limitaciones al acceso publico;
sense restriccions; nessuna condizione applicata; nessuna condizione applicabile; nessuna condizione;
nessuna limitazione; nessun vincolo; nessuna restrizione; nessuna limitazione all accesso pubblico; sem restricoes;
sem condicoes; nenhuma restricao; nao se aplicam condicoes; sem limitacoes ao acesso publico; geen beperkingen;
geen voorwaarden; geen condities; geen gebruiksbeperkingen; geen toegangsbeperkingen;
geen overige gebruiksbeperkingen; ingen begrænsninger; ingen betingelser; ingen restriktioner; ingen begrensninger;
ingen restriksjoner; inga begransningar; inga restriktioner; inga villkor; inga villkor galler; ei kayttorajoituksia;
ei rajoituksia; ei ehtoja; brak ograniczen; brak warunkow; bez omezeni; zadna omezeni; zadne podminky; bez obmedzeni;
ziadne podmienky; ziadne podmienky neplatia; nincs korlatozas; nincsenek feltetelek; brez omejitev; bez ogranicenja;
nema uvjeta; nu se aplica conditii; fara restrictii; piirangud puuduvad; apribojimu nera; nav ierobezojumu;
без ограничении; нет ограничении; без обмежень; няма ограничения; 无限制; 無限制; 没有限制; 不受限制;
制限なし; 利用制限なし; 제한 없음
"""
_NO_FEES = """
no fees; no fee; no fees apply; free; free of charge; no charge; no charges; no cost; no costs; at no charge; 0; 0.00;
0 eur; 0 euro; 0 00 eur; kostenlos; kostenfrei; gebuhrenfrei; keine gebuhren; keine gebuhr; keine kosten;
unentgeltlich; entgeltfrei; es fallen keine kosten an; es werden keine gebuhren erhoben; frei; gratuit; gratuite;
pas de frais; aucun frais; sans frais; gratuito; gratuita; gratis; sin coste; sin costo; sin costes; sin tasas;
nessun costo; nessun onere; nessuna tariffa; sem custos; sem custo; sem taxas; kosteloos; geen kosten; ingen gebyr;
ingen gebyrer; vederlagsfri; avgiftsfri; avgiftsfritt; inga avgifter; kostnadsfri; ingen avgift; ei kayttomaksua;
ei kayttomaksuja; ei maksua; maksuton; ilmainen; bezpłatny; bezpłatna; bezpłatne; bezpłatnie; brak opłat; zdarma;
bezplatne; bez poplatku; zadne poplatky; zadarmo; bez poplatkov; ingyenes; dijmentes; brezplacno; besplatno;
fara taxe; tasuta; nemokamai; nemokama; bez maksas; bezmaksas; δωρεαν; бесплатно; безкоштовно; безплатно; ucretsiz;
免费; 免費; 无费用; 無料; 무료
"""


def _listed(texts: str) -> frozenset[str]:
    return frozenset(" ".join(text.split()) for text in texts.split(";"))


_EMPTY = frozenset(("", "n a", "n.a"))
_SAY_NONE = _listed(_NO_CONDITIONS) | _listed(_NO_FEES) | frozenset(_NONE.split())
_SEPARATORS = re.compile(r"(?:[^\w.]|_|(?<!\w)\.|\.(?!\w))+")
_CODE = re.compile(r"https?://inspire\.ec\.europa\.eu/\S*/(\w+)/?")
_MOST_CHARS = 10_000


@lru_cache(maxsize=4_096)  # most services of a site have the same texts
def licence_of(access_constraints: str, fees: str) -> str:
    """Return the code of the licence under which a service may be used, by its texts; '' when they do not tell."""
    texts = [text for text in (access_constraints, fees) if text]
    found = {code for text in texts for code in _codes(_folded(text))}
    found = {code for code in found if not any(is_meant(other, code) for other in found - {code})}
    if found:
        return found.pop() if len(found) == 1 else ""
    said = [_plainly(text) for text in (access_constraints, fees)]
    if not all(text in _SAY_NONE or text in _EMPTY for text in said):
        return ""
    return NO_CONDITIONS if said[0] in _SAY_NONE else NO_FEES if said[1] in _SAY_NONE else ""


def restricts(text: str) -> bool:
    """Return whether a text on fees or constraints states any."""
    said = _plainly(text)
    return said not in _SAY_NONE and said not in _EMPTY


def _plainly(text: str) -> str:
    """Return a text folded; of the address of a code of INSPIRE, the code."""
    code = _CODE.fullmatch(text.strip())
    return _folded(code[1] if code else text)


def is_meant(code: str, asked: str) -> bool:
    """Return whether a service with the code of a licence is one that a person asks for: by the code, by the code
    without its version (`CC-BY`), or as `open`."""
    code, asked = code.casefold(), asked.casefold()
    if asked == OPEN:
        return bool(code) and not code.startswith(tuple(map(str.casefold, _CLOSED)))
    return code == asked or (code.startswith(f"{asked}-") and code[len(asked) + 1 :][:1].isdigit())


def licence_address(code: str) -> str:
    """Return the address of a licence's text; '' where none is known."""
    if code.startswith("CC-BY"):
        letters, _, version = code.removeprefix("CC-").rpartition("-")
        return f"https://creativecommons.org/licenses/{letters.lower()}/{version}/" if version[:1].isdigit() else ""
    return _ADDRESSES.get(code, "")


def _codes(text: str) -> set[str]:
    """Return the codes of the licences that a folded text names."""
    found = {code for code, pattern in _PATTERNS for match in pattern.finditer(text) if not _means_another(text, match)}
    for match in _CC.finditer(text):
        letters = "-".join(name.upper() for name in ("by", "nc", "sa", "nd") if match[name])
        version = match["version"]
        if _means_another(text, match) or not (version or match[0] == text or _SAYS_LICENCE.search(text)):
            continue
        found.add(f"CC-{letters}-{version if '.' in version else f'{version}.0'}" if version else f"CC-{letters}")
    return found


def _means_another(text: str, match: re.Match[str]) -> bool:
    return _OTHERS.search(text[max(match.start() - 60, 0) : match.start()]) is not None


def _folded(text: str) -> str:
    """Return a text in lower case, without diacritics of Latin letters; words, and numbers with a point, stay apart."""
    decomposed = unicodedata.normalize("NFKD", text[:_MOST_CHARS].casefold())
    bare = "".join(each for each in decomposed if not unicodedata.combining(each))
    return _SEPARATORS.sub(" ", unicodedata.normalize("NFC", bare)).strip()
