"""Votes as `{task: {worker: label}}`, or the other way round: of files and in memory."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from crowdpilot.io.columns import TableError, column_of_names, table_of
from crowdpilot.io.engine import engine
from crowdpilot.io.format import VotesTable
from crowdpilot.io.inference.column_names import find_columns
from crowdpilot.names import to_names

INVERSE = "peerannot_inverse"
MIN_NAMES_TO_DOUBT = 20
MIN_TIMES_MORE_WORKERS = 3  # than tasks: then the workers may stand outside


def nested_votes(answers: Mapping[Any, Mapping[Any, Any]], format: str | None = None) -> VotesTable:
    """The votes; without a format, the tasks are outside unless their names say otherwise."""
    inner = list(chain.from_iterable(answers.values()))
    is_inverse = format == INVERSE
    notes = [] if format else doubts(answers, dict.fromkeys(inner))
    outside, inside = ("worker", "task") if is_inverse else ("task", "worker")
    names = to_names(list(answers))
    code = np.repeat(np.arange(len(answers)), [len(labels) for labels in answers.values()])
    columns = {
        outside: column_of_names(code, names),
        inside: engine().column(inner),
        "label": engine().column(list(chain.from_iterable(labels.values() for labels in answers.values()))),
    }
    described = {outside: "the outer names", inside: "the inner names"}
    votes = VotesTable(
        table_of(columns), {name: name for name in columns}, notes=notes, described=described,
        format=format or "peerannot",
    )  # fmt: skip
    return replace(votes, workers=names) if is_inverse else replace(votes, tasks=names)


def doubts(outer: Collection[Any], inner: Collection[Any]) -> list[str]:
    """What speaks against tasks outside and workers inside; an error if the names say so."""
    how = f"if workers are outside, say format={INVERSE!r} (--format {INVERSE})"
    if _are_called(outer, "worker") or _are_called(inner, "task"):
        shown = f"{next(iter(outer))!r} outside and {next(iter(inner), '')!r} inside"
        raise TableError(
            f"found {shown}, expected {{task: {{worker: label}}}}; {how}, else format='peerannot'"
        )
    if len(inner) < MIN_NAMES_TO_DOUBT or len(inner) < MIN_TIMES_MORE_WORKERS * len(outer):
        return []
    return [f"read as {len(outer)} tasks outside with {len(inner)} workers inside; {how}"]


def _are_called(names: Collection[Any], role: str) -> bool:
    """Whether all names begin with a word for a role, as `worker_12` does."""
    words = {re.split(r"[\W\d_]", str(name), maxsplit=1)[0] for name in names}
    return len(words) == 1 and bool(find_columns(words, [role]))
