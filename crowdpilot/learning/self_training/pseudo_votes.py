"""Votes that a trained method foresees where nobody voted, and which of them to believe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, divide
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.method import Method
from crowdpilot.votes import Votes

Choice = Literal["dasc", "confidence", "random"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
CELLS = 2**20  # numbers in a block of (tasks, workers, classes), the largest array made here


class Foreseen(NamedTuple):
    """Votes that nobody gave: worker `worker[n]` would say `label[n]` of task `task[n]`."""

    task: Codes
    worker: Codes
    label: Codes  # the most probable one
    doubt: Floats  # the smaller, the sooner it is believed

    def take(self, which: NDArray[np.intp]) -> Foreseen:
        """Some of them."""
        return Foreseen(self.task[which], self.worker[which], self.label[which], self.doubt[which])

    def join(self, more: Foreseen) -> Foreseen:
        """Those, and others after them."""
        both = (np.concatenate([getattr(v, name) for v in (self, more)]) for name in self._fields)
        return Foreseen(*both)


def foresee(method: Method, rows: Rows, taken: Votes) -> Iterator[Foreseen]:
    """What each worker would say of each task they did not vote on, in blocks of tasks.

    The doubt is the entropy of the foreseen label, Eq. 2 of the paper of `SelfTraining`. No array
    is larger than (tasks of a block, workers, classes), which is `CELLS` numbers or one task.
    """
    J, K = len(taken.workers), len(taken.classes)
    order = np.argsort(taken.task, kind="stable")
    device = next(method.parameters()).device
    method.eval()
    for part in torch.arange(len(taken.tasks)).split(max(1, CELLS // max(1, J * K))):
        first, last = int(part[0]), int(part[-1]) + 1
        with torch.no_grad():
            probs = method.annotate(rows.take(part, train=False).to(device)).double()
        doubt = torch.special.entr(probs).sum(dim=-1).cpu().numpy()
        label = probs.argmax(dim=-1).to(torch.int32).cpu().numpy()
        given = order[slice(*np.searchsorted(taken.task, (first, last), sorter=order))]
        missing = np.ones((last - first, J), bool)
        missing[taken.task[given] - first, taken.worker[given]] = False
        row, worker = np.nonzero(missing)
        yield Foreseen(
            (row + first).astype(np.int32), worker.astype(np.int32), label[missing], doubt[missing]
        )


def choose_foreseen(
    blocks: Iterator[Foreseen], choice: Choice, add: int, classes: int, rng: np.random.Generator
) -> Foreseen:
    """At most `add` of the foreseen votes, in the order of their tasks.

    Only those that can still be chosen are held in memory: `add` of each class for "dasc", `add`
    in all for the others.

    Parameters
    ----------
    blocks
        All foreseen votes.
    choice
        "dasc", the least doubtful of each class, as many as `shares` says; "confidence", the least
        doubtful of all; or "random".
    add, classes
        How many to choose, and how many classes there are.
    rng
        Decides "random".
    """
    by_class = choice == "dasc"
    none = np.empty(0, np.int32)
    kept = Foreseen(none, none, none, np.empty(0))
    found = np.zeros(classes)
    for block in blocks:
        if choice == "random":
            block = block._replace(doubt=rng.random(len(block.doubt)))
        found += np.bincount(block.label, minlength=classes)
        both = kept.join(block)
        kept = _least_doubtful(both, both.label * by_class, np.full(classes, add))
    if by_class:
        kept = _least_doubtful(kept, kept.label, np.rint(add * shares(found)))
    return kept.take(np.lexsort((kept.worker, kept.task)))


def shares(found: Floats) -> Floats:
    """The share t of each class among the chosen votes: t_c is proportional to 1 / N'_c (Eqs. 3 and 4).

    N'_c is how many votes for the class are foreseen. A class of which none is foreseen has no
    share. A class with fewer foreseen votes than its share gives all it has, and the others are not
    given the rest: that would undo the balance (and lifts less, as measured on LabelMe).

    Examples
    --------
    >>> shares(np.array([100.0, 300.0, 0.0])).tolist()
    [0.75, 0.25, 0.0]
    """
    inverse = divide(np.ones(len(found)), found, 0)
    return divide(inverse, inverse.sum(), 0)


def _least_doubtful(votes: Foreseen, group: Codes, most: NDArray[np.number]) -> Foreseen:
    """The first `most` of each group; of equally doubtful ones, those that came first."""
    order = np.lexsort((votes.doubt, group))
    group = group[order]
    place = np.arange(len(order)) - np.searchsorted(group, group)
    return votes.take(order[place < most[group]])
