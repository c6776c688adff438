"""Texts that begin like a formula get an apostrophe, and only those."""

from __future__ import annotations

import pytest

from crowdpilot.service.uploads.spreadsheet_cells import neutralised, original


@pytest.mark.parametrize(
    "text", ["=1", "+x", "-x", "@x", "\tx", "\rx", "\nx", "-1+1", "+1 cmd", "=-1", "'=1"]
)
def test_what_begins_like_a_formula_is_made_harmless(text: str) -> None:
    assert neutralised(text) == "'" + text
    assert original("'" + text) == text


def test_a_formula_after_a_separator_is_made_harmless() -> None:
    assert neutralised("a;=1\n@b") == "a;'=1\n'@b"


@pytest.mark.parametrize("text", ["", "x", "-1", "+1", "-0.5", "1", "x=1", "'tis", "a, b"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert neutralised(text) == original(text) == text
