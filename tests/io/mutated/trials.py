"""Trials: a file is written, read, and what was read is compared with what was written."""

from __future__ import annotations

import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import crowdpilot
from crowdpilot.io.reading import ReadingWarning
from crowdpilot.votes import Votes
from tests.io.mutated.crowd import simulated
from tests.io.mutated.draft import Draft
from tests.io.mutated.layouts import LAYOUTS
from tests.io.mutated.mutations import apply, fitting, without_conflicts
from tests.io.mutated.real import real

READ, REFUSED, WARNED = "read", "refused", "warned"
MISREAD, CRASHED = "misread", "crashed"  # never
REAL_SHARE = 0.1  # files of the corpus
NUMBERS_OF_MUTATIONS = (0, 1, 1, 2, 2, 3)  # each as often as the others
MAX_QUOTED = 3  # characters of a word that may stand in a sentence by accident
Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Trial:
    """What came of one file: `outcome` is one of the five, `detail` says why.

    A file that is refused is read again with options; it is `settled` if that gives the votes.
    """

    seed: int
    layout: str
    mutations: tuple[str, ...]
    content: bytes
    truth: frozenset[Triple]
    outcome: str
    detail: str
    settled: bool = False


def draft_of(seed: int) -> Draft:
    """The file of a seed."""
    random = Random(seed)
    weights = [weight for _, weight in LAYOUTS.values()]
    layout = random.choices([make for make, _ in LAYOUTS.values()], weights)[0]
    draft = real(random) if random.random() < REAL_SHARE else layout(random, simulated(random))
    possible = fitting(draft)
    chosen = random.sample(possible, k=min(random.choice(NUMBERS_OF_MUTATIONS), len(possible)))
    for mutation in without_conflicts(sorted(chosen, key=possible.index)):
        apply(random, draft, mutation)
    return draft


def run(seeds: Iterable[int]) -> Iterator[Trial]:
    """A trial for each seed."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            draft = draft_of(seed)
            path = Path(folder) / f"votes{draft.suffix}"
            source = draft.source(path)
            outcome, detail = tried(source, draft, draft.options)
            settled = False
            if outcome == REFUSED and (options := draft.settling()):
                second, messages = tried(source, draft, options)
                settled = second == READ
                if second in (MISREAD, CRASHED):
                    outcome, detail = second, f"with {options}: {messages}"
            yield Trial(
                seed, draft.layout, tuple(draft.mutations), draft.content(), draft.truth(), outcome, detail,
                settled,
            )  # fmt: skip


def tried(source: Any, draft: Draft, options: dict[str, Any]) -> tuple[str, str]:
    """The outcome of reading, and why."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            votes = crowdpilot.read(source, **options)
        except ValueError as error:
            return (CRASHED if "\n" in str(error) else REFUSED), str(error)
        except Exception as error:  # whatever it is, it must not happen
            return CRASHED, f"{type(error).__name__}: {error}"
    said = [str(one.message) for one in caught if issubclass(one.category, ReadingWarning)]
    messages = "; ".join(said)
    if agrees(votes, draft):
        is_silent = draft.merges_spellings and _has_spellings(draft) and not is_named(draft.words, said)
        return (MISREAD, "spellings are merged in silence") if is_silent else (READ, messages)
    words = [*(invented(votes, draft) or draft.words), *draft.row_words, *draft.torn()]
    return (WARNED if is_named(words, said) else MISREAD), messages


def invented(votes: Votes, draft: Draft) -> list[str]:
    """The workers and labels that nobody wrote, if there are such and no vote that was written is missing."""
    written = Counter((key(worker), key(label, True)) for _, worker, label in draft.truth())
    names = votes.workers[votes.worker].tolist(), votes.classes[votes.label].tolist()
    found = Counter((key(worker), key(label, True)) for worker, label in zip(*names, strict=True))
    if not written or not written <= found:
        return []
    known = {name for pair in written for name in pair}
    return sorted({name for pair in found for name in pair} - known)


def is_named(words: Iterable[str], sentences: Iterable[str]) -> bool:
    """Whether a sentence has one of the words; short ones only in quotes."""
    said = [plain(sentence.partition(": ")[2]) for sentence in sentences]
    sought = [plain(word) if len(word) > MAX_QUOTED else f"'{plain(word)}'" for word in words]
    return any(word in sentence for sentence in said for word in sought)


def agrees(votes: Votes, draft: Draft) -> bool:
    """Whether the votes are those that were written, up to how numbers and numbered tasks are called."""
    names = [[key(name, draft.merges_spellings) for name in votes.classes.tolist()]]
    names += [[key(name) for name in each.tolist()] for each in (votes.tasks, votes.workers)]
    if any(len(set(each)) < len(each) for each in names):
        return False  # one name became two
    classes, tasks, workers = names
    codes = zip(votes.task, votes.worker, votes.label, strict=True)
    found = {(tasks[t], workers[w], classes[c]) for t, w, c in codes}
    for truth in draft.truths():
        written = {(key(t), key(w), key(c, draft.merges_spellings)) for t, w, c in truth}
        if found == written:
            return True
        if not draft.tasks_named and _without_names(found) == _without_names(written):
            return True
    return False


def plain(text: str) -> str:
    """A text without what respelled names differ in."""
    return text.casefold().replace("_", " ").strip()


def key(name: object, folded: bool = False) -> str:
    """A name, however it is typed: 3, 3.0 and "3" are the same."""
    text = str(name).strip()
    text = text[:-2] if re.fullmatch(r"-?\d+\.0", text) else text
    return text.casefold() if folded else text


def _has_spellings(draft: Draft) -> bool:
    """Whether a class really is written in two ways that are not blanks alone."""
    labels = {
        value.strip()
        for column in draft.columns
        if column.role in ("label", "votes")
        for value in column.values
    }
    return len({key(label, True) for label in labels}) < len(labels)


def _without_names(votes: Iterable[Triple]) -> Counter[frozenset[tuple[str, str]]]:
    tasks: dict[str, set[tuple[str, str]]] = {}
    for task, worker, label in votes:
        tasks.setdefault(task, set()).add((worker, label))
    return Counter(frozenset(said) for said in tasks.values())
