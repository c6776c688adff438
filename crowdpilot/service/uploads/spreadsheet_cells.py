r"""Cells of CSV that no spreadsheet takes for a formula, and back.

A spreadsheet may run a cell that begins with a sign such as `=`, perhaps after spaces and characters that
nobody sees, and may split a text at tabs, line ends, commas, semicolons and bars. So an apostrophe is put
before each part of a text that begins like a formula; before one that has apostrophes already too, so that
the original can be found again.
"""

from __future__ import annotations

import re

SEPARATORS = ",;|\t\r\n"  # at which some spreadsheet may begin a new cell
SIGNS = "=+\\-@＝＋－＠﹦﹢﹣﹫−"  # the last is the minus of mathematics
INVISIBLE = (  # quotes, and what is blank or not shown; no separator
    '"\\x00-\\x08\\x0b\\x0c\\x0e-\\x20\\x7f-\\xa0\\xad\\u034f\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891'
    "\\u08e2\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200f\\u2028-\\u202f\\u205f-\\u206f"
    "\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\U000110bd\\U000110cd\\U00013430-\\U0001343f"
    "\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff"
)
BEGINNING = rf"(?:^|(?<=[{SEPARATORS}]))"
DANGEROUS = re.compile(rf"{BEGINNING}(?='*[{INVISIBLE}]*[{SIGNS}])|^(?='*[{INVISIBLE}]*[\t\r\n])")
NEUTRALISED = re.compile(rf"{BEGINNING}'(?='*[{INVISIBLE}]*[{SIGNS}])|^'(?='*[{INVISIBLE}]*[\t\r\n])")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")  # which a spreadsheet does not run


def neutralised(text: str) -> str:
    """A text that no spreadsheet takes for a formula; a number stays as it is.

    Examples
    --------
    >>> neutralised("=1+1"), neutralised("a; @b"), neutralised("-1.5"), neutralised("plain")
    ("'=1+1", "a;' @b", '-1.5', 'plain')
    """
    return text if NUMBER.fullmatch(text) else DANGEROUS.sub("'", text)


def original(text: str) -> str:
    """The text of which `neutralised` has made this one.

    Examples
    --------
    >>> original("'=1+1"), original("a;' @b"), original("'tis")
    ('=1+1', 'a; @b', "'tis")
    """
    return NEUTRALISED.sub("", text)
