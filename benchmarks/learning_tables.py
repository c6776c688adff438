"""Tables of what was learned: means and standard deviations over seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, stdev
from typing import Any

from benchmarks.learning_methods import Entry
from benchmarks.tables import NONE, markdown

BySeed = dict[str, dict[str, Any]]  # the scores of a row, by seed
Table = dict[str, BySeed]  # by row

DASC_PAPER = {  # test accuracy in % by set and row: Table 2
    "labelme": {
        "two_stage mv hard": 81.3, "two_stage ds hard": 82.2,
        "anno_reg": 82.3, "crowdlayer": 84.0, "wdn": 77.1,
        "anno_reg + resample": 83.2, "crowdlayer + resample": 85.6, "wdn + resample": 80.6,
        "anno_reg + reweight": 83.6, "crowdlayer + reweight": 85.6, "wdn + reweight": 78.8,
        "anno_reg + focal": 81.7, "crowdlayer + focal": 84.2, "wdn + focal": 78.4,
        "anno_reg + confidence": 82.4, "crowdlayer + confidence": 71.4, "wdn + confidence": 77.7,
        "anno_reg + random": 83.3, "crowdlayer + random": 77.3, "wdn + random": 74.3,
        "anno_reg + dasc": 85.6, "crowdlayer + dasc": 87.6, "wdn + dasc": 82.3,
    },
    "music": {
        "two_stage mv hard": 59.3, "two_stage ds hard": 65.2,
        "anno_reg": 65.8, "crowdlayer": 66.3, "wdn": 55.1,
        "anno_reg + resample": 66.3, "crowdlayer + resample": 68.3, "wdn + resample": 51.6,
        "anno_reg + reweight": 67.1, "crowdlayer + reweight": 66.7, "wdn + reweight": 56.2,
        "anno_reg + focal": 63.4, "crowdlayer + focal": 65.0, "wdn + focal": 57.5,
        "anno_reg + confidence": 65.8, "crowdlayer + confidence": 57.6, "wdn + confidence": 61.5,
        "anno_reg + random": 66.7, "crowdlayer + random": 63.2, "wdn + random": 60.1,
        "anno_reg + dasc": 68.0, "crowdlayer + dasc": 68.5, "wdn + dasc": 65.7,
    },
}  # fmt: skip
WAUM_PAPER = {  # Table 1
    "labelme": {
        "two_stage mv hard": 85.4, "two_stage naive_soft soft": 86.1, "two_stage ds soft": 86.8,
        "two_stage glad soft": 87.1, "crowdlayer": 85.4, "conal[scale=0]": 88.1, "conal": 86.2,
        "waum + two_stage wds soft": 87.1, "waum + conal[scale=0]": 89.2, "waum + conal": 90.0,
    }
}  # fmt: skip


def values(by_seed: BySeed, measure: str) -> list[float]:
    """One measure of all seeds that gave it."""
    return [scores[measure] for scores in by_seed.values() if measure in scores]


def spread(numbers: Sequence[float], *, scale: float = 100, digits: int = 1, sign: bool = False) -> str:
    """Mean ± standard deviation as text."""
    if not numbers:
        return NONE
    form = f"{'+' if sign else ''}.{digits}f"
    mean = format(scale * fmean(numbers), form)
    return f"{mean} ± {scale * stdev(numbers):.{digits}f}" if len(numbers) > 1 else mean


def gains(table: Table, entry: Entry, measure: str = "accuracy") -> list[float]:
    """How much better a row is than its base, seed by seed."""
    base, mine = table.get(entry.base or "", {}), table.get(entry.name, {})
    both = [seed for seed in mine if measure in mine[seed] and measure in base.get(seed, {})]
    return [mine[seed][measure] - base[seed][measure] for seed in both]


def render_set(name: str, table: Table, entries: Iterable[Entry]) -> str:
    """All rows of a set, in groups."""
    shown = [entry for entry in entries if entry.name in table]
    text = ""
    for group in dict.fromkeys(entry.group for entry in shown):
        members = [entry for entry in shown if entry.group == group]
        text += f"\n### {name}: {group.lower()}\n\n{_rows(name, table, members)}"
    return text + reasons(name, table)


def _rows(name: str, table: Table, entries: list[Entry]) -> str:
    papers = {"DASC paper": DASC_PAPER.get(name, {}), "WAUM paper": WAUM_PAPER.get(name, {})}
    papers = {title: known for title, known in papers.items() if any(e.name in known for e in entries)}
    has_base = any(entry.base for entry in entries)
    columns: dict[str, Callable[[Entry], str]] = {
        "accuracy %": lambda e: spread(values(table[e.name], "accuracy")),
        "ECE %": lambda e: spread(values(table[e.name], "ece")),
        "macro F1 %": lambda e: spread(values(table[e.name], "macro_f1")),
        "seconds": lambda e: spread(values(table[e.name], "seconds"), scale=1),
    }
    if has_base:
        columns["gain"] = lambda e: spread(gains(table, e), sign=True)
        columns["gain in ECE"] = lambda e: spread(gains(table, e, "ece"), sign=True)
    rows = [
        [
            e.name,
            *(show(e) for show in columns.values()),
            *(_said(known, e, has_base) for known in papers.values()),
        ]
        for e in entries
    ]
    return markdown(["", *columns, *papers], rows)


def _said(known: dict[str, float], entry: Entry, has_base: bool) -> str:
    """What a paper says, and its gain over the base."""
    if entry.name not in known:
        return NONE
    gain = f" ({known[entry.name] - known[entry.base]:+.1f})" if has_base and entry.base in known else ""
    return f"{known[entry.name]:.1f}{gain}"


def cross(
    tables: dict[str, Table], rows: Iterable[str], *, measure: str = "accuracy", flip: bool = False
) -> str:
    """One measure of all rows in all tables, with a column for each table, or for each row if flipped."""
    cells = {
        (title, row): spread(values(table.get(row, {}), measure))
        for title, table in tables.items()
        for row in rows
    }
    down, across = (list(tables), list(rows)) if flip else (list(rows), list(tables))
    body = [[d, *(cells[(d, a) if flip else (a, d)] for a in across)] for d in down]
    return markdown(["", *across], [line for line in body if set(line[1:]) != {NONE}])


def reasons(name: str, table: Table) -> str:
    """Why some runs gave nothing."""
    lines = [
        f"- {row}, seed {seed}: {scores['reason']}"
        for row, by_seed in table.items()
        for seed, scores in by_seed.items()
        if "reason" in scores
    ]
    return f"\nMissing of {name}:\n\n" + "\n".join(lines) + "\n" if lines else ""
