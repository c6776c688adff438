"""All mutations, which of them fit a file, and the order in which they are applied."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.io.mutated.columns import (
    doubled_column,
    free_text,
    gold_column,
    id_column,
    label_like_column,
    number_column,
    respelled_names,
    shuffled_columns,
    text_column,
    unnamed_index,
)
from tests.io.mutated.draft import IN_CELLS, Draft
from tests.io.mutated.rows import (
    described_header,
    doubled_rows,
    header_again,
    missing_labels,
    repeated_votes,
    shuffled_rows,
    spellings,
    total_row,
)
from tests.io.mutated.text import (
    blank_lines,
    byte_order_mark,
    carriage_returns,
    comment_lines,
    cut_off,
    no_header,
    other_delimiter,
    quoted_cells,
    trailing_delimiter,
    utf_16,
    western,
    wrong_suffix,
)

Mutation = Callable[[Random, Draft], None]

COLUMNS: tuple[Mutation, ...] = (  # in this order
    text_column, free_text, gold_column, label_like_column, id_column, number_column, doubled_column,
    shuffled_columns, respelled_names, unnamed_index,
)  # fmt: skip
ROWS: tuple[Mutation, ...] = (
    repeated_votes, missing_labels, spellings, doubled_rows, shuffled_rows, header_again, described_header,
    total_row,
)  # fmt: skip
CSV_TEXT: tuple[Mutation, ...] = (
    other_delimiter, quoted_cells, no_header, comment_lines, blank_lines, trailing_delimiter, wrong_suffix,
)  # fmt: skip
TEXT: tuple[Mutation, ...] = (byte_order_mark, utf_16, western, carriage_returns, cut_off)
LONG_ONLY = (repeated_votes, doubled_rows)
JSON_BARRED = header_again, described_header, total_row, unnamed_index, doubled_column  # no such records


def fitting(draft: Draft) -> list[Mutation]:
    """The mutations that make sense for a draft."""
    if draft.archive is not None:
        return [wrong_suffix]
    if draft.text is not None:
        is_document = draft.text[:1] in "[{" and draft.suffix != ".jsonl"
        barred = () if is_document else (cut_off, carriage_returns)  # whole lines less, lines inside cells
        return [mutation for mutation in (*TEXT, blank_lines, wrong_suffix) if mutation not in barred]
    if draft.kind in IN_CELLS:
        return [mutation for mutation in (*COLUMNS, *ROWS) if _fits(mutation, draft)]
    if draft.kind != "csv":
        return [mutation for mutation in (*COLUMNS, *ROWS, *TEXT) if _fits(mutation, draft)]
    return [mutation for mutation in (*COLUMNS, *ROWS, *CSV_TEXT, *TEXT) if _fits(mutation, draft)]


def _fits(mutation: Mutation, draft: Draft) -> bool:
    if draft.kind not in ("csv", "xlsx") and mutation in JSON_BARRED:
        return False
    if draft.columns_are_tasks and mutation in (*COLUMNS, described_header, total_row):
        return False
    return draft.column("label") is not None or mutation not in LONG_ONLY


def without_conflicts(mutations: list[Mutation]) -> list[Mutation]:
    """The same with one encoding at most, one thing before the header, and one that happens to it."""
    chosen = {_kind(mutation): mutation for mutation in mutations}
    return list(chosen.values())


def _kind(mutation: Mutation) -> str:
    if mutation in (byte_order_mark, utf_16, western):
        return "encoding"
    if mutation in (no_header, described_header, header_again):
        return "header"
    return "before" if mutation in (comment_lines, blank_lines) else mutation.__name__


def apply(random: Random, draft: Draft, mutation: Mutation) -> None:
    """Mutate a draft, and note it; what cannot be written in an encoding is left as it was."""
    mutation(random, draft)
    draft.mutations.append(mutation.__name__)
    if draft.encoding == "cp1252":
        try:
            draft.content()
        except UnicodeEncodeError:
            draft.encoding = "utf-8"
