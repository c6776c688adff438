"""Votes in the responses to a Qualtrics survey: a row for each response, a column for each question.

Below the header stand the texts of the questions and a row of JSON with the id of each. Layout:
https://www.qualtrics.com/support/survey-platform/data-and-analysis-module/data/download-data/understanding-your-dataset/
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from crowdpilot.io.columns import Column, Table, column_of_names, encode_column, stack, table_of
from crowdpilot.io.csv_reading import read_columns, text_table
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.inference.column_names import listed
from crowdpilot.io.nested_answers import Mask
from crowdpilot.io.source import Source
from crowdpilot.names import to_names

WORKER, TIME, STATUS = "ResponseId", "RecordedDate", "Status"
IMPORT_ID = "ImportId"
OPTION = "choiceId"  # of a column that says whether one of several options is ticked
HEADER_ROWS = 3  # names, texts of questions, ids
QUESTION = re.compile(r"(\d+_)?QID\d+(_\d+|#\d+_\d+)*")  # of a loop, and a row of a table of questions
NUMBER_OF_TRIAL = re.compile(r"1|2|8|9|12|17|40")  # previews, tests and spam, where values are numbers
WORD_OF_TRIAL = re.compile("preview|test|spam", re.IGNORECASE)


def sniff(source: Source) -> bool:
    """Whether the third row holds ids as JSON."""
    if IMPORT_ID not in source.start or "\0" in source.start:
        return False
    return len(source.sample) > 1 and any(map(_id_of, source.sample[1]))


def _id_of(cell: str) -> str:
    """The id of a question in a cell of the third row; empty if there is none, or if it is one option."""
    if IMPORT_ID not in cell:
        return ""
    try:
        about = json.loads(cell)
        return f"{about[IMPORT_ID]}{OPTION if OPTION in about else ''}"
    except (ValueError, TypeError, LookupError):
        return ""


def parse(source: Source) -> VotesTable:
    """The task is a question, the worker a response, the label an answer."""
    header = source.header
    preset = {role: name for role, name in (("worker", WORKER), ("time", TIME)) if name in header}
    roles = source.roles(header, preset)
    if unknown := sorted({*roles} - {"worker", "time"}):
        problem = f"columns= names the {unknown[0]}, but the tasks are the columns of questions"
        raise source.error(f"{problem}; choose them with question= (--question NAME,NAME)")
    status = [STATUS] if STATUS in header else []
    names = _items(source)
    rows = replace(
        source, header_names=header
    )  # the first line is read as well, and left out with the others
    table = read_columns(rows, [*roles.values(), *status, *names])
    table = table.filter(np.arange(len(table)) >= HEADER_ROWS)
    if source.question is None:
        _check_same_answers(source, table, names)
    votes = replace(text_table(rows, table, roles), notes=_notes(source, names))
    return _to_long(votes, names, _is_trial(table))


def _items(source: Source) -> list[str]:
    """The columns of questions; of those that the user names, where `*` stands for any letters."""
    ids = dict(zip(source.header, map(_id_of, source.sample[1]), strict=False))
    questions = [name for name, import_id in ids.items() if QUESTION.fullmatch(import_id)]
    if source.question is None:
        if not questions:
            raise source.error("found no column of a question with options, expected at least one")
        return questions
    patterns = [part.strip() for part in source.question.split(",")]
    if missing := [p for p in patterns if not any(fnmatchcase(name, p) for name in source.header)]:
        raise source.error(f"there is no question {missing[0]!r}, only {listed(questions)}")
    return [name for name in source.header if any(fnmatchcase(name, pattern) for pattern in patterns)]


def _check_same_answers(source: Source, table: Table, names: Sequence[str]) -> None:
    """Raise if a question has no answer in common with the others, as one about age or consent."""
    answers = {name: {text for text in table[name].distinct.names.tolist() if text} for name in names}
    for name, said in answers.items():
        others = set().union(*(answers[other] for other in names if other != name))
        if said and others and not said & others:
            problem = f"the answers to {name} ({listed(sorted(said)[:3])}) occur in no other question"
            then = "tasks are questions with the same options; choose them with question="
            raise source.error(f"{problem}, and {then} (--question {_pattern(names, name)})")


def _pattern(names: Sequence[str], odd: str) -> str:
    others = [name for name in names if name != odd]
    return ",".join(others[:2]) + (",..." if len(others) > 2 else "")


def _notes(source: Source, names: Sequence[str]) -> list[str]:
    if source.question is not None or len(names) < 2:
        return []
    return [
        f"each of the {len(names)} questions ({listed(names)}) is read as a task, and each response as a "
        f"worker; question= (--question {names[0]},{names[1]}) chooses some of them"
    ]


def _is_trial(table: Table) -> Mask:
    """Whether a response is a preview, a test or spam."""
    if STATUS not in table.column_names:
        return np.zeros(len(table), bool)
    codes, names = table[STATUS].distinct
    found = [bool(NUMBER_OF_TRIAL.fullmatch(t) or WORD_OF_TRIAL.search(t)) for t in map(str, names.tolist())]
    return np.asarray([*found, False])[codes]


def _to_long(votes: VotesTable, names: Sequence[str], is_trial: Mask) -> VotesTable:
    """A row for each answer to each question."""
    table = votes.table
    cells = encode_column(stack([table[name] for name in names]), votes.numbers_as_text)
    rows = np.tile(np.arange(len(table)), len(names))
    task = np.repeat(np.arange(len(names)), len(table))
    kept = {role: table[name].distinct for role, name in votes.roles.items()}
    columns: dict[str, Column] = {
        role: column_of_names(codes[rows], values) for role, (codes, values) in kept.items()
    }
    columns["task"] = column_of_names(task, to_names(list(names)))
    columns["label"] = column_of_names(np.where(is_trial[rows], -1, cells.codes), cells.names)
    trials = int(is_trial.sum()) * len(names)
    return replace(
        votes, table=table_of(columns), roles={role: role for role in columns}, names=(),
        tasks=to_names(list(names)), left_out={"of previews, tests or spam": trials} if trials else {},
        described={
            "task": "the names of questions", "worker": repr(votes.roles.get("worker", WORKER)),
            "label": "the answers", **({"time": repr(votes.roles["time"])} if "time" in votes.roles else {}),
        },
        ignored=[name for name in votes.names if name not in (*names, *votes.roles.values())],
        position=lambda n: votes.position(int(rows[n]) + HEADER_ROWS),
    )  # fmt: skip


FORMAT = Format(
    "responses to a Qualtrics survey, CSV or TSV: tasks are the questions",
    sniff,
    parse,
    has_columns=True,
    has_questions=True,
    sample='ResponseId,a\nResponse ID,Which one?\n"{""ImportId"":""_recordId""}","{""ImportId"":""QID1""}"\n'
    "x,cat\n",
)
