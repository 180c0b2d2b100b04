"""Read in which language a service's texts are written, as a code of ISO 639-1."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

LEAST_CHARS = 60
"""Shorter texts tell no language."""
_MOST_CHARS = 2_000
_LEAST_SURE = 0.5
"""Least probability of a language, as py3langid estimates it."""
_NO_WORDS = re.compile(r"\b\w+:/\S+|\S*[\d_@/\\]\S*|<[^>]*>")
"""Addresses, names of layers, numbers and elements of HTML, which belong to no language."""
_MEMBERS = {"nb": "no", "nn": "no", "yue": "zh", "wuu": "zh"}
"""Languages that go by the code that people look for."""
_CODE_CHARS = 2
_PAIRS = (
    "ar:ara bg:bul bs:bos ca:cat cs:ces da:dan de:deu el:ell en:eng es:spa et:est eu:eus fa:fas fi:fin fr:fra ga:gle "
    "gl:glg he:heb hi:hin hr:hrv hu:hun id:ind is:isl it:ita ja:jpn ka:kat kk:kaz ko:kor lb:ltz lt:lit lv:lav mk:mkd "
    "ms:msa mt:mlt nl:nld no:nor pl:pol pt:por ro:ron ru:rus sk:slk sl:slv sq:sqi sr:srp sv:swe th:tha tr:tur uk:ukr "
    "vi:vie zh:zho"
)
_THREE_LETTERS = {pair[:2]: pair[3:] for pair in _PAIRS.split()}
"""Code of ISO 639-1 → that of ISO 639-2/T, of languages in which many services are described."""
_TWO_LETTERS = {code: two for two, code in _THREE_LETTERS.items()} | {
    **{"alb": "sq", "baq": "eu", "chi": "zh", "cze": "cs", "dut": "nl", "fre": "fr", "geo": "ka", "ger": "de"},
    **{"gre": "el", "ice": "is", "mac": "mk", "may": "ms", "nob": "no", "nno": "no", "per": "fa", "rum": "ro"},
    "slo": "sk",
}
"""Code of three letters, also that of ISO 639-2/B → code of ISO 639-1."""


def language_of(texts: Iterable[str]) -> str:
    """Return the language of a service's texts, the weightiest first: as many are read as it takes to have 60
    characters of words, and up to 2,000 until these tell one; '' for fewer, for a mixture, and without py3langid
    (`geocrawl[language]`)."""
    words, enough = dict[str, None](), LEAST_CHARS  # services repeat their title
    count = asked = 0
    for text in texts:
        bare = " ".join(_NO_WORDS.sub(" ", text[:_MOST_CHARS]).split())
        if not bare or bare in words:
            continue
        words[bare] = None
        count += len(bare) + 1
        if count > enough:
            if (code := _classified(words)) or count > _MOST_CHARS:
                return code
            asked, enough = count, min(2 * count, _MOST_CHARS)
    return _classified(words) if count > max(asked, LEAST_CHARS) else ""


def _classified(words: Iterable[str]) -> str:
    """Return the language of some words; '' where none is probable, and without py3langid."""
    identifier = _identifier()
    if identifier is None:
        return ""
    code, probability = identifier.classify(" ".join(words)[:_MOST_CHARS])
    code = str(_MEMBERS.get(code, code))
    return code if probability >= _LEAST_SURE and len(code) == _CODE_CHARS else ""


@cache
def _identifier() -> Any:
    """Return the model, which takes 0.7 s to load and 77 MB of memory; None where it is not installed, or there is
    no room for the temporary file to which it is unpacked."""
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    except (ImportError, OSError):
        return None


def two_letters(code: str) -> str:
    """Return the code in ISO 639-1 of a language that a document names by a code of any form: ger, deu, de-DE, nb; ''
    for none, and for rarer languages."""
    first = re.split(r"[-_]", code.strip().lower())[0]
    first = _MEMBERS.get(first, _TWO_LETTERS.get(first, first))
    return first if first in _THREE_LETTERS else ""


def three_letters(code: str) -> str:
    """Return the code of a language in ISO 639-2/T, which metadata name; '' for '' and for rarer languages."""
    return _THREE_LETTERS.get(code, "")


def is_meant(code: str, asked: str) -> bool:
    """Return whether texts in a language are asked for by its code, alone or with a country: de, DE or de-AT."""
    return code == re.split(r"[-_]", asked.lower())[0]
