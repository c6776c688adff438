"""What a column of a table holds, in short: how many values, which ones, and whether they may be labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from crowdpilot.io.columns import Column, value_text
from crowdpilot.io.inference.column_content import MAX_UNCHECKED_VALUES
from crowdpilot.io.inference.similar_names import label_key
from crowdpilot.names import is_missing

MISSING_CELLS = frozenset(("", "NA", "N/A", "NaN", "nan", "<NA>", "null", "NULL", "None"))
MIN_TEXT_CHARACTERS = 40  # longer values are texts, not labels


class Summary(NamedTuple):
    """What a column holds: how many cells are filled, with which values, and a hash of all in order."""

    filled: int
    values: frozenset[str]
    content: int = 0

    @property
    def is_unique(self) -> bool:
        """Whether no value repeats."""
        return self.filled == len(self.values)

    @property
    def is_constant(self) -> bool:
        """Whether all of several cells hold one value."""
        return len(self.values) < 2 < self.filled

    @property
    def repeats_texts(self) -> bool:
        """Whether long texts stand in it, each of them several times."""
        is_text = any(len(value) > MIN_TEXT_CHARACTERS for value in self.values)
        return is_text and 2 * len(self.values) <= self.filled

    @property
    def are_labels(self) -> bool:
        """Whether the values may be labels: short ones that repeat, if there are enough to repeat."""
        repeats = self.filled <= MAX_UNCHECKED_VALUES or 2 * len(self.values) <= self.filled
        return repeats and all(len(value) <= MIN_TEXT_CHARACTERS for value in self.values)


def summarize(values: Iterable[Any]) -> Summary:
    """Summary of the values in some rows."""
    texts = ["" if is_missing(value) else value_text(value) for value in values]
    filled = [text for text in texts if text.strip() not in MISSING_CELLS]
    return Summary(len(filled), frozenset(filled), hash(tuple(map(_cell_key, texts))))


def summarize_column(column: Column) -> Summary:
    """Summary of a whole column."""
    codes, names = column.distinct
    texts = [value_text(name) for name in names.tolist()]
    empty = [n for n, text in enumerate(texts) if text.strip() in MISSING_CELLS]
    filled = sum(int((codes == n).sum()) for n in empty)
    keys = [*map(_cell_key, texts), ""]
    kept = frozenset(text for n, text in enumerate(texts) if n not in empty)
    return Summary(int((codes >= 0).sum()) - filled, kept, hash(tuple(keys[code] for code in codes.tolist())))


def _cell_key(text: str) -> str:
    return "" if text.strip() in MISSING_CELLS else str(label_key(text))
