"""Information gain and χ² against values computed by hand."""

from __future__ import annotations

import math

import pytest

from geocrawl.lab.training.feature_selection import chi_square, information_gain, ranked_terms


@pytest.mark.parametrize(
    ("on_with", "off_with", "on", "off", "gain", "chi2"),
    [
        (2, 0, 2, 2, 1.0, 4.0),  # tells all: H(C) = 1 bit; 4·(2·2)²/(2·2·2·2)
        (0, 2, 2, 2, 1.0, 4.0),  # as telling when only the others have it
        (1, 1, 2, 2, 0.0, 0.0),  # tells nothing
        (1, 0, 2, 2, 1 - 0.75 * (math.log2(3) - 2 / 3), 4 / 3),  # H(C|¬t) = H(1/3); 4·(1·2)²/(2·2·1·3)
        (3, 1, 4, 4, 1 - (2 - 0.75 * math.log2(3)), 2.0),  # H(3/4) on both sides; 8·(3·3 − 1·1)²/(4·4·4·4)
        (2, 2, 2, 2, 0.0, 0.0),  # every page has it
    ],
)
def test_measures_are_those_of_the_equations(
    on_with: int, off_with: int, on: int, off: int, gain: float, chi2: float
) -> None:
    assert information_gain(on_with, off_with, on, off) == pytest.approx(gain, abs=1e-12)
    assert chi_square(on_with, off_with, on, off) == pytest.approx(chi2)


def test_the_best_terms_come_first_and_a_page_counts_once() -> None:
    pages = [
        (["wms", "wms", "page"], True),
        (["wms", "layer", "page"], True),
        (["soup", "page"], False),
        (["soup", "cup"], False),
    ]
    ranked = ranked_terms(pages, 3)
    assert ranked == {"gain": ("soup", "wms", "cup"), "chi2": ("soup", "wms", "cup")}
