"""Votes in the full report of Appen (Figure Eight, CrowdFlower): a CSV with a row for each judgment.

Layout: https://success.appen.com/hc/en-us/articles/202703075 (Guide to: Reports Page and Options Page)
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from functools import partial

import numpy as np

from crowdpilot.arrays import Floats
from crowdpilot.io.columns import Column, NumberError, Table
from crowdpilot.io.csv_reading import read_columns
from crowdpilot.io.engine import engine
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.nested_answers import Mask, chosen_answers, is_one_of
from crowdpilot.io.source import Source

UNIT, WORKER, STARTED, CREATED, TAINTED = "_unit_id", "_worker_id", "_started_at", "_created_at", "_tainted"
GOLD = "_gold"  # behind the name of a question: the answers to test questions that are right
CONFIDENCE = ":confidence"  # behind the name of a question in an aggregated report
AGGREGATED = {"_trusted_judgments", "_unit_state"}
AMERICAN = "%m/%d/%Y %H:%M:%S"
TIME, SECONDS, ONE_GOLD = "(time)", "(seconds)", "(gold)"


def sniff(source: Source) -> bool:
    """Whether there are the columns of a report."""
    names = {*source.header}
    return UNIT in names and (WORKER in names or bool(names & AGGREGATED))


def parse(source: Source) -> VotesTable:
    """The answers to one question; a tainted judgment is no vote."""
    header = source.header
    if WORKER not in header:
        problem = "this is an aggregated report of Appen, which has one answer for each unit and no workers"
        raise source.error(f"{problem}; download the full report")
    questions = _questions(source)
    about = [name for name in (STARTED, CREATED, TAINTED) if name in header]
    roles = source.roles(header, {"task": UNIT, "worker": WORKER})
    chosen = None if "label" in roles else source.choose(questions)
    gold = [name for name in [f"{chosen}{GOLD}"] if name in header and "gold" not in source.columns]
    table = read_columns(source, [*roles.values(), *about, *questions, *gold])
    table, roles = _with_times(table, roles)
    notes: list[str] = []
    if gold:
        table, roles = (
            table.append_column(ONE_GOLD, _gold(table[gold[0]], notes)),
            {**roles, "gold": ONE_GOLD},
        )
    labels = {name: partial(table.__getitem__, name) for name in questions}
    votes = chosen_answers(source, table, roles, labels, {"tainted": _tainted(table)}, _origins(roles, gold))
    return replace(votes, notes=[*votes.notes, *notes])


def _origins(roles: dict[str, str], gold: list[str]) -> dict[str, str]:
    """Where the roles come from whose values are calculated."""
    columns = {
        TIME: repr(CREATED),
        SECONDS: f"{STARTED!r} and {CREATED!r}",
        ONE_GOLD: "".join(map(repr, gold)),
    }
    return {role: columns[name] for role, name in roles.items() if name in columns}


def _questions(source: Source) -> list[str]:
    """The columns with a column of right answers beside them; else any that is not Appen's own."""
    header = source.header
    tested = [name for name in header if name + GOLD in header]
    if tested and (source.question is None or source.question in tested):
        return tested
    others = [name for name in header if not name.startswith("_") and not name.endswith(GOLD)]
    if source.question is None and "label" not in source.columns and len(others) > 1:
        shown = " or ".join(map(repr, others))
        problem = f"the answers may be in {shown}, since task data stand beside them"
        raise source.error(f"{problem}; name the column with question= (--question {others[0]})")
    return others


def _tainted(table: Table) -> Mask:
    is_here = TAINTED in table.column_names
    return is_one_of(table[TAINTED], "true") if is_here else np.zeros(len(table), bool)


def _gold(column: Column, notes: list[str]) -> Column:
    """The right answers; where several are right, in lines of one cell, none is the true label."""
    values = column.values()
    several = [value for value in values if value and "\n" in value.strip()]
    if several:
        notes.append(
            f"{len(several)} rows are of test questions with several right answers, which have no true label"
        )
    return engine().column(
        [value.strip() if value and "\n" not in value.strip() else None for value in values]
    )


def _with_times(table: Table, roles: dict[str, str]) -> tuple[Table, dict[str, str]]:
    """When a judgment was made, and how long it took."""
    times = {name: _times(table[name]) for name in (STARTED, CREATED) if name in table.column_names}
    created, started = times.get(CREATED), times.get(STARTED)
    if created is not None and "time" not in roles:
        table, roles = table.append_column(TIME, engine().column(created)), {**roles, "time": TIME}
    if created is not None and started is not None and "seconds" not in roles:
        seconds = engine().column(created - started)
        table, roles = table.append_column(SECONDS, seconds), {**roles, "seconds": SECONDS}
    return table, roles


def _times(column: Column) -> Floats | None:
    """Seconds since 1970, also of months before days, as Appen writes them; None if they are no times."""
    codes, names = column.distinct
    try:
        known = [_american(str(text)) for text in names.tolist()]
        return np.asarray([*known, np.nan])[codes]
    except ValueError:
        pass
    try:
        return column.times()
    except NumberError:
        return None


def _american(text: str) -> float:
    if not text.strip():
        return float("nan")
    return datetime.datetime.strptime(text, AMERICAN).replace(tzinfo=datetime.UTC).timestamp()


FORMAT = Format(
    "full report of Appen (Figure Eight), CSV",
    sniff,
    parse,
    has_columns=True,
    has_questions=True,
    sample="_unit_id,_worker_id,_golden,q,q_gold\na,x,false,cat,\n",
)
