"""Answers inside the cells of a text file: several questions, JSON, rejected rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes
from crowdpilot.io.delimited import line_of, text_table
from crowdpilot.io.engine import Column, Table, engine
from crowdpilot.io.format import Raw
from crowdpilot.io.nested_answers import label_of
from crowdpilot.io.source import Source

Columns = Mapping[str, Callable[[], Column]]  # the labels of each question, made when asked for

LABEL = "(label)"  # no column of a file is called like this


def answered(
    source: Source,
    table: Table,
    roles: Mapping[str, str],
    questions: Columns,
    void: NDArray[np.bool_] | None = None,
) -> Raw:
    """The answers to the chosen question; where `void` is true there is none.

    A column that the user has named as the label comes before all questions.
    """
    own = roles.get("label")
    label = table[own] if own else questions[source.choose(questions)]()
    if void is not None:
        codes, names = engine().vocabulary(label)
        label = engine().named(np.where(void, np.int32(-1), codes), names)
    return text_table(source, table.append_column(LABEL, label), {**roles, "label": LABEL})


def is_one_of(column: Column, *words: str) -> NDArray[np.bool_]:
    """Whether each text is one of the words, in small or capital letters."""
    codes, names = engine().vocabulary(column)
    found = [text is not None and text.lower() in words for text in engine().values(names)]
    return np.asarray([*found, False])[codes]


def json_questions(
    source: Source, column: Column, answers: Callable[[Any], Mapping[str, Any]]
) -> dict[str, Callable[[], Column]]:
    """The questions in a column of JSON texts, each distinct one read once."""
    codes, names = engine().vocabulary(column)
    parsed: list[Mapping[str, Any]] = []
    for n, text in enumerate(engine().values(names)):
        try:
            parsed.append(answers(json.loads(text)) if text else {})
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            found = f"found {text[:40]!r}, expected answers as JSON"
            raise source.error(found, line_of(source, int(np.argmax(codes == n)))) from error
    questions = dict.fromkeys(question for said in parsed for question in said)
    return {q: partial(_labels, source, codes, [said.get(q) for said in parsed]) for q in questions}


def _labels(source: Source, codes: Codes, values: list[Any]) -> Column:
    labels: list[Any] = []
    for n, value in enumerate(values):
        try:
            labels.append(label_of(value))
        except ValueError as error:
            line = line_of(source, int(np.argmax(codes == n)))
            raise source.error(f"found {error}, expected one label", line) from error
    return engine().named(codes, engine().to_text(engine().column(labels)))
