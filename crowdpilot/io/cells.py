"""Answers inside the cells of a text file: several questions, JSON, rejected rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crowdpilot.arrays import Codes
from crowdpilot.io.answers import label_of
from crowdpilot.io.delimited import line_of, text_table
from crowdpilot.io.encoding import vocabulary
from crowdpilot.io.format import Raw
from crowdpilot.io.source import Source
from crowdpilot.io.tables import to_column

Columns = Mapping[str, Callable[[], pa.ChunkedArray]]  # the labels of each question, made when asked for

LABEL = "(label)"  # no column of a file is called like this


def answered(
    source: Source, table: pa.Table, roles: Mapping[str, str], questions: Columns, void: Any = None
) -> Raw:
    """The answers to the chosen question; where `void` is true there is none.

    A column that the user has named as the label comes before all questions.
    """
    own = roles.get("label")
    label = table[own] if own else questions[source.choose(questions)]()
    if void is not None:
        label = pc.if_else(void, None, label.cast(pa.string()))
    return text_table(source, table.append_column(LABEL, label), {**roles, "label": LABEL})


def is_one_of(column: pa.ChunkedArray, *words: str) -> pa.ChunkedArray:
    """Whether each text is one of the words, in small or capital letters."""
    return pc.is_in(pc.utf8_lower(column), pa.array(words))


def json_questions(
    source: Source, column: pa.ChunkedArray, answers: Callable[[Any], Mapping[str, Any]]
) -> dict[str, Callable[[], pa.ChunkedArray]]:
    """The questions in a column of JSON texts, each distinct one read once."""
    codes, names = vocabulary(column)
    parsed: list[Mapping[str, Any]] = []
    for n, text in enumerate(names.to_pylist()):
        try:
            parsed.append(answers(json.loads(text)) if text else {})
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            found = f"found {text[:40]!r}, expected answers as JSON"
            raise source.error(found, line_of(source, int(np.argmax(codes == n)))) from error
    questions = dict.fromkeys(question for said in parsed for question in said)
    return {q: partial(_labels, source, codes, [said.get(q) for said in parsed]) for q in questions}


def _labels(source: Source, codes: Codes, values: list[Any]) -> pa.ChunkedArray:
    labels: list[Any] = []
    for n, value in enumerate(values):
        try:
            labels.append(label_of(value))
        except ValueError as error:
            line = line_of(source, int(np.argmax(codes == n)))
            raise source.error(f"found {error}, expected one label", line) from error
    column = to_column([*labels, None]).cast(pa.string())
    return pa.chunked_array([column.take(pa.array(codes % (len(labels) + 1)))])
