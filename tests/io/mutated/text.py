"""Mutations of the text of a file: delimiters, encodings, what stands before the header, a lost end."""

from __future__ import annotations

import csv
from random import Random

from tests.io.mutated.draft import Column, Draft


def other_delimiter(random: Random, draft: Draft) -> None:
    """Semicolons, tabs or bars."""
    draft.delimiter = random.choice((";", "\t", "|"))


def quoted_cells(random: Random, draft: Draft) -> None:
    """A quote around each cell."""
    draft.quoting = csv.QUOTE_ALL


def no_header(random: Random, draft: Draft) -> None:
    """The first row holds votes."""
    draft.has_header = False
    draft.words += ["header", "name"]


def comment_lines(random: Random, draft: Draft) -> None:
    """Lines before the header that are no table."""
    draft.before = random.choice(("# exported on 2026-03-01\n", "# a\n# b\n", "Results of March\n\n"))


def blank_lines(random: Random, draft: Draft) -> None:
    """Empty lines at the beginning."""
    draft.before = "\n" * random.randint(1, 3)


def trailing_delimiter(random: Random, draft: Draft) -> None:
    """A delimiter at the end of each line."""
    draft.columns.append(Column("", [""] * len(draft.votes)))


def byte_order_mark(random: Random, draft: Draft) -> None:
    """UTF-8 as Excel writes it."""
    draft.encoding = "utf-8-sig"


def utf_16(random: Random, draft: Draft) -> None:
    """UTF-16 with a mark."""
    draft.encoding = "utf-16"


def western(random: Random, draft: Draft) -> None:
    """The encoding of Windows in Western Europe."""
    draft.encoding = "cp1252"


def carriage_returns(random: Random, draft: Draft) -> None:
    """Ends of lines as Windows has them."""
    draft.newline = "\r\n"


def cut_off(random: Random, draft: Draft) -> None:
    """The end of the file is lost."""
    draft.kept_share = random.uniform(0.6, 0.999)
    draft.words += ["line", "end", "cut"]


def wrong_suffix(random: Random, draft: Draft) -> None:
    """A name that speaks of another format."""
    draft.suffix = random.choice([s for s in (".csv", ".tsv", ".txt", ".json", ".dat") if s != draft.suffix])
