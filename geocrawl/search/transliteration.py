"""Write Cyrillic and Greek words in Latin letters, as people type them on other keyboards: `kadastr` for кадастр."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_LATIN_FORMS: Final = """
а a, б b, в v, г g, д d, е e, ж zh, з z, и i, к k, л l, м m, н n, о o, п p, р r, с s, т t, у u, ф f, х kh, ц ts, ч ch,
ш sh, щ shch, ъ, ы y, ь, э e, ю yu, я ya, і i, є ie, ґ g, ј j,
α a, β v, γ g, δ d, ε e, ζ z, η i, θ th, ι i, κ k, λ l, μ m, ν n, ξ x, ο o, π p, ρ r, σ s, ς s, τ t, υ y, φ f, χ ch,
ψ ps, ω o
"""
_LATIN: Final[Mapping[str, str]] = {
    pair.split()[0]: "".join(pair.split()[1:]) for pair in _LATIN_FORMS.replace("\n", " ").split(",")
}
_TABLE: Final = str.maketrans(dict(_LATIN))


def in_latin(word: str) -> str:
    """Return a folded word with Cyrillic and Greek letters written in Latin ones."""
    return word if word.isascii() else word.translate(_TABLE)


def letters_for(latin: str) -> tuple[str, ...]:
    """Return the Cyrillic and Greek letters whose Latin form begins with a letter."""
    return tuple(letter for letter, form in _LATIN.items() if form.startswith(latin))
