"""The layout of a table with a row for each task, or for each worker: which columns hold votes.

Columns of votes share a few values, as people do who choose from the same classes. Other columns are texts,
numbers of rows, or facts about the tasks, and are not read as people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from crowdpilot.io.inference.column_names import WEAK_ALIASES, candidates, listed, name_key
from crowdpilot.io.inference.column_roles import is_index_name
from crowdpilot.io.inference.column_summary import Summary
from crowdpilot.io.inference.similar_names import NUMBER, label_key

NO_VOTE = "-1"
MIN_WORDS_OF_SENTENCE = 3
MIN_COLUMNS_TO_DOUBT = 4
NUMBERED_TASK = re.compile(r"(q|question|item|task|image|picture|photo|text|stimulus|trial|doc|document)\d+")
METADATA_KEYS = frozenset(
    (
        "majority", "majorityvote", "majoritylabel", "mv", "consensus", "consensuslabel", "final",
        "finallabel", "aggregated", "agreement", "confidence", "entropy", "count", "total", "sum", "votes",
        "nvotes", "n", "numvotes", "mean", "average", "avg", "median", "split", "fold", "difficulty",
        "length", "age", "category", "batch", "status", "group", "condition", "type", "topic", "domain",
        "section", "year", "version", "session", "campaign", "score", "rank", "comment",
        "comments", "remark", "remarks", "note", "notes", "reason", "reasons", "explanation", "feedback",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Positions of columns: what names the rows (None: their number), the true label, and the votes.

    Rows are tasks, or workers if `rows_are_workers`. `missing` are labels that mean no vote.
    """

    row: int | None
    gold: int | None
    votes: list[int]
    ignored: list[int] = field(default_factory=list)
    rows_are_workers: bool = False
    missing: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)


def find_layout(
    names: Sequence[str],
    columns: Sequence[Summary],
    chosen: Mapping[str, str | None],
    *,
    is_forced: bool = False,
) -> Layout | None:
    """The layout of a table; None if it does not look like one with a row for each task or worker.

    Parameters
    ----------
    names, columns
        Of the table, in their order.
    chosen
        Columns that the user has named.
    is_forced
        The user says that it is such a table: then all columns but that of the task and the true label
        are workers, unless they hold texts.
    """
    if "label" in chosen or len(names) < 2:
        return None
    table = _Wide(names, columns, chosen)
    if is_forced:
        return table.layout(table.row_column(), is_forced=True)
    labels = candidates(names, "label")
    workers = [name for name in candidates(names, "worker") if not columns[names.index(name)].is_constant]
    if "worker" in chosen or (workers and not labels):
        return table.of_workers(chosen.get("worker") or workers[0])
    if workers or len(names) < 3:
        return None
    if table.rows_are_votes():
        return None
    row = table.row_column()
    layout = table.layout(row)
    if layout and not labels and table.has_names_of_tasks(layout.votes):
        return table.of_workers(table.weak_worker() or (None if row is None else names[row]))
    if layout and labels and len(layout.votes) > 2:
        raise ValueError(
            f"{labels[0]!r} may be a worker or the label of all: leave the column out, or name it as the "
            f"true label with --format wide --columns gold={labels[0]}"
        )
    return None if labels else layout


@dataclass(frozen=True)
class _Wide:
    names: Sequence[str]
    columns: Sequence[Summary]
    chosen: Mapping[str, str | None]

    def row_column(self) -> int | None:
        """What names the tasks: a column with such a name, else the only one whose values do not repeat."""
        if named := self.chosen.get("task"):
            return self.names.index(named)
        strong = [self.names.index(name) for name in candidates(self.names, "task")]
        if strong:
            return 0 if 0 in strong else strong[0]
        rows = max(column.filled for column in self.columns)
        unique = [n for n, column in enumerate(self.columns) if column.is_unique and column.filled == rows]
        first = [n for n in unique if n == 0 and is_index_name(self.names[0])]
        weak = [self.names.index(name) for name in candidates(self.names, "task", WEAK_ALIASES)]
        usual = [n for n in weak if n in unique]
        texts = [n for n in unique if not self.columns[n].are_labels]
        return next(iter([*usual, *first, *texts]), None)

    def weak_worker(self) -> str | None:
        """A column with a name that is usual for workers, such as `Email Address`, if no value repeats."""
        weak = candidates(self.names, "worker", WEAK_ALIASES)
        return next((name for name in weak if self.columns[self.names.index(name)].is_unique), None)

    def rows_are_votes(self) -> bool:
        """Whether a column with a usual name of tasks or workers repeats its values."""
        names = [name for role in ("task", "worker") for name in candidates(self.names, role, WEAK_ALIASES)]
        positions = [self.names.index(name) for name in names]
        if "task" in self.chosen or candidates(self.names, "task"):
            return False
        return any(not self.columns[n].is_unique for n in positions) or any(
            column.repeats_texts for column in self.columns
        )

    def gold_column(self) -> int | None:
        """The column of true labels."""
        if "gold" in self.chosen:
            named = self.chosen["gold"]
            return None if named is None else self.names.index(named)
        found = candidates(self.names, "gold")
        return self.names.index(found[0]) if found else None

    def has_names_of_tasks(self, votes: Sequence[int]) -> bool:
        """Whether columns of votes are called as tasks are: `item 1`, `Q2`, or whole sentences."""
        names = [self.names[n] for n in votes]
        sentences = sum(len(name.split()) >= MIN_WORDS_OF_SENTENCE for name in names)
        return 2 * sentences > len(names) or all(NUMBERED_TASK.fullmatch(name_key(name)) for name in names)

    def of_workers(self, name: str | None) -> Layout | None:
        """The layout with a row for each worker and a column for each task, as surveys have it."""
        row = None if name is None else self.names.index(name)
        layout = self.layout(row)
        is_unique = row is None or self.columns[row].is_unique
        if layout is None or candidates(self.names, "task") or not is_unique:
            return None
        count = f"{len(layout.votes)} columns are read as tasks"
        settle = f"if rows are tasks, use --format wide{f' --columns task={name}' if name else ''}"
        note = f"each row is a worker ({name or 'its number'}), and {count}; {settle}"
        return Layout(row, None, layout.votes, layout.ignored, True, layout.missing, [note, *layout.notes])

    def layout(self, row: int | None, *, is_forced: bool = False) -> Layout | None:
        """The columns of votes around that which names the rows."""
        gold = self.gold_column()
        rest = [n for n in range(len(self.names)) if n not in (row, gold)]
        twice = [n for n in rest if self._is_copy(n)]
        special = twice if is_forced else [n for n in rest if n in twice or self._is_metadata(n)]
        texts = [n for n in rest if n not in special and not self.columns[n].are_labels]
        likely = [n for n in rest if n not in special and n not in texts]
        votes = likely if is_forced else self._sharing(likely)
        if is_forced and not votes:
            votes, texts = rest, []
        if len(votes) < (1 if is_forced else 2) or (
            row is None and not is_forced and not self._is_clear(votes)
        ):
            return None
        if not is_forced:
            self._check_header(votes)
        ignored = [n for n in rest if n not in votes]
        foreign = [self.names[n] for n in ignored if is_forced or n in likely or n in special]
        odd = [] if is_forced else [self.names[n] for n in votes if self._is_odd(n, votes)]
        notes = _notes(foreign, odd)
        rows = max(column.filled for column in self.columns)
        if (
            not is_forced
            and len(votes) > max(rows, MIN_COLUMNS_TO_DOUBT)
            and not candidates(self.names, "task")
        ):
            notes.append(
                f"{rows} rows are read as tasks and {len(votes)} columns as workers; if rows are workers, "
                "name their column with columns= (--columns worker=NAME)"
            )
        return Layout(row, gold, votes, ignored, False, self._missing(votes), notes)

    def _check_header(self, votes: Sequence[int]) -> None:
        """Raise if a column is called like a label, as it is where the first line is data."""
        labels = {label_key(value) for n in votes for value in self.columns[n].values}
        names = [self.names[n] for n in votes if not NUMBER.fullmatch(self.names[n].strip())]
        if data := [name for name in names if label_key(name) in labels]:
            raise ValueError(
                f"a column is called {data[0]!r}, which is a label too: if the first line is data, name the "
                "columns with header= (--header task,NAME,NAME,...)"
            )

    def _is_copy(self, n: int) -> bool:
        """Whether a column is an earlier one again, as `ben.1` is for `ben`."""
        key = _key_of_copies(self.names[n])
        earlier = [m for m in range(n) if _key_of_copies(self.names[m]) == key]
        return any(self.columns[m].content == self.columns[n].content for m in earlier)

    def _is_odd(self, n: int, votes: Sequence[int]) -> bool:
        """Whether most values of a column occur in no other one."""
        others = frozenset[str]().union(*(self.columns[m].values for m in votes if m != n))
        own = self.columns[n].values - others
        return len(votes) > 2 and len(own) > 1 and 2 * len(own) > len(self.columns[n].values)

    def _is_metadata(self, n: int) -> bool:
        key = name_key(self.names[n])
        is_index = is_index_name(self.names[n]) and self.columns[n].is_unique
        is_number = any(
            self.names[n] in candidates(self.names, role) for role in ("weight", "seconds", "time")
        )
        return key in METADATA_KEYS or is_index or is_number

    def _sharing(self, likely: Sequence[int]) -> list[int]:
        """The largest group of columns that share values; those with one value join it, as it says little."""
        groups: list[tuple[set[str], list[int]]] = []
        for n in likely:
            values = set(self.columns[n].values)
            if len(values) > 1:
                linked = [group for group in groups if group[0] & values]
                groups = [group for group in groups if not group[0] & values]
                members = [n, *(m for _, inner in linked for m in inner)]
                groups.append((values.union(*(inner for inner, _ in linked)), members))
        large = [members for _, members in groups if len(members) > 1]
        if len(large) > 1:
            shown = " or ".join(f"{self.names[min(m)]!r} …" for m in large[:2])
            raise ValueError(f"there are several groups of columns with votes, {shown}; keep one of them")
        if groups and not large and len(likely) - len(groups) < 1:
            return []
        kept = large[0] if large else (groups[0][1] if len(groups) == 1 else [])
        known = frozenset[str]().union(*(self.columns[n].values for n in kept))
        single = [n for n in likely if self._may_join(self.columns[n], known)]
        return sorted([*kept, *single]) if kept or not groups else []

    def _may_join(self, column: Summary, known: frozenset[str]) -> bool:
        """Whether a column with at most one value may be of a worker: a value of others, or just one cell."""
        return len(column.values) < 2 and (not known or column.values <= known or column.filled < 2)

    def _is_clear(self, votes: Sequence[int]) -> bool:
        """Whether two columns share two values, so that rows without a name may be tasks."""
        sets = [self.columns[n].values for n in votes]
        return any(len(a & b) > 1 for n, a in enumerate(sets) for b in sets[:n])

    def _missing(self, votes: Sequence[int]) -> frozenset[str]:
        """-1 among whole numbers from 0 means no vote, if no cell is empty; 1 and -1 alone are classes."""
        values = {label_key(value) for n in votes for value in self.columns[n].values}
        rest = values - {NO_VOTE}
        is_full = len({self.columns[n].filled for n in votes}) == 1
        numbers = rest != {"1"} and all(value.isdecimal() for value in rest)
        return frozenset((NO_VOTE,)) if NO_VOTE in values and rest and numbers and is_full else frozenset()


def _key_of_copies(name: str) -> str:
    """A name without the number that pandas adds to the second column of that name."""
    before, dot, number = name.strip().rpartition(".")
    single = before if dot and number.isdecimal() else name
    return name_key(single) or single


def _notes(foreign: Sequence[str], odd: Sequence[str]) -> list[str]:
    notes = []
    if foreign:
        notes.append(f"{listed(foreign)} are not read, since their values are not those of workers")
    if odd:
        notes.append(f"{listed(odd)} are read as workers, though most of their labels are of nobody else")
    return notes
