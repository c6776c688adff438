from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.reporting.formatting import about, count, listed, percent, shorten, width


@pytest.mark.parametrize(
    ("n", "said"), [(0, "no votes"), (1, "1 vote"), (2, "2 votes"), (1234567, "1,234,567 votes")]
)
def test_a_number_has_its_noun(n: int, said: str) -> None:
    assert count(n, "vote") == said


def test_a_noun_may_have_a_plural_of_its_own() -> None:
    assert [count(n, "class", "classes") for n in (0, 1, 2)] == ["no classes", "1 class", "2 classes"]


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0, "0 %"),
        (1, "1_0_0 %"),
        (0.5, "50 %"),
        (0.9413, "94.1 %"),
        (0.0001, "under 0.1 %"),
        (0.99999, "over 99.9 %"),
        (0.9994, "99.9 %"),
        (float("nan"), "an unknown share"),
    ],
)
def test_a_share_never_claims_all_or_nothing_when_it_is_not(share: float, said: str) -> None:
    assert percent(share).replace("\N{NO-BREAK SPACE}", " ") == said.replace("_", "")


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0"), (7, "7"), (2.547, "2.55"), (43.17, "43.2"), (12345.6, "12,346"), (0.0123, "0.0123")],
)  # fmt: skip
def test_a_number_has_three_digits_that_count(value: float, said: str) -> None:
    assert about(value) == said


def test_words_are_listed() -> None:
    assert [listed(list("abc"[:n])) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert listed(["a", "b"], "or") == "a or b"


def test_a_long_name_loses_its_middle() -> None:
    assert shorten("a name of many words", 11) == "a nam…words"


@pytest.mark.parametrize("name", ["", " ", "\n\t", "\u2028", "\x00"])
def test_a_name_that_shows_nothing_is_called_blank(name: str) -> None:
    assert shorten(name, 10) == "(blank)"


@given(st.text(), st.integers(8, 40))
def test_a_short_name_fits_and_stands_on_one_line(name: str, length: int) -> None:
    short = shorten(name, length)
    assert width(short) <= length
    assert short.isprintable()


@given(st.text("abc xyz", min_size=1).map(str.strip).filter(lambda text: text and "  " not in text))
def test_a_name_that_fits_stays_as_it_is(name: str) -> None:
    assert shorten(name, len(name)) == name


def test_wide_signs_count_twice() -> None:
    assert width("日本") == 4
    assert width(shorten("日本語のとても長い名前", 9)) <= 9
