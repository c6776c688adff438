"""Votes in the assignments of a Toloka pool: a TSV with a row for each task of each assignment.

Layout: https://toloka.ai/docs/guide/result-of-eval
"""

from __future__ import annotations

from functools import partial

from crowdpilot.io.csv_reading import read_columns
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.nested_answers import chosen_answers, is_one_of
from crowdpilot.io.source import Source

INPUT, OUTPUT, GOLDEN = "INPUT:", "OUTPUT:", "GOLDEN:"
PRESET = {"task": "ASSIGNMENT:task_id", "worker": "ASSIGNMENT:worker_id", "time": "ASSIGNMENT:submitted"}
STATUS = "ASSIGNMENT:status"
VOID = ("rejected", "skipped", "expired", "active")


def sniff(source: Source) -> bool:
    """Whether there are outputs and assignments."""
    return any(name.startswith(OUTPUT) for name in source.header) and PRESET["worker"] in source.header


def parse(source: Source) -> VotesTable:
    """The output of one name, with its golden value where there is one."""
    header = source.header
    outputs = [name.removeprefix(OUTPUT) for name in header if name.startswith(OUTPUT)]
    roles = source.roles(header, _preset(source, outputs))
    status = [STATUS] if STATUS in header else []
    table = read_columns(source, [*roles.values(), *status, *(OUTPUT + name for name in outputs)])
    questions = {name: partial(table.__getitem__, OUTPUT + name) for name in outputs}
    void = {word: is_one_of(table[STATUS], word) for word in VOID} if status else {}
    return chosen_answers(source, table, roles, questions, void)


def _preset(source: Source, outputs: list[str]) -> dict[str, str]:
    """The id of the task if there is one, else its only input."""
    preset = {role: name for role, name in PRESET.items() if name in source.header}
    inputs = [name for name in source.header if name.startswith(INPUT)]
    if "task" not in preset and len(inputs) == 1:
        preset["task"] = inputs[0]
    if "label" not in source.columns and GOLDEN + (golden := source.choose(outputs)) in source.header:
        preset["gold"] = GOLDEN + golden
    return preset


FORMAT = Format(
    "assignments of a Toloka pool, TSV",
    sniff,
    parse,
    has_columns=True,
    has_questions=True,
    sample="INPUT:i\tOUTPUT:q\tASSIGNMENT:worker_id\na\tcat\tx\n",
)
