"""Pseudo-votes: votes predicted for pairs of task and worker without one, and the selection among them."""

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

Selection = Literal["dasc", "confidence", "random"]
SELECTIONS: tuple[Selection, ...] = get_args(Selection)
MAX_BLOCK_NUMBERS = 2**20  # in a block of (tasks, workers, classes), the largest array made here


class PseudoVotes(NamedTuple):
    """Predicted votes: worker `worker[n]` would give `label[n]` to task `task[n]`."""

    task: Codes
    worker: Codes
    label: Codes  # the most probable one
    uncertainty: Floats  # entropy, or a random number; the lowest are selected

    def take(self, which: NDArray[np.intp]) -> PseudoVotes:
        """The pseudo-votes at these indices."""
        return PseudoVotes(self.task[which], self.worker[which], self.label[which], self.uncertainty[which])

    def join(self, more: PseudoVotes) -> PseudoVotes:
        """These pseudo-votes followed by more."""
        both = (np.concatenate([getattr(v, name) for v in (self, more)]) for name in self._fields)
        return PseudoVotes(*both)


def predict_missing_votes(method: Method, rows: Rows, taken: Votes) -> Iterator[PseudoVotes]:
    """The most probable label of each worker for each task without their vote, in blocks of tasks.

    The uncertainty is the entropy of the predicted label, Eq. 2 of the paper of `SelfTraining`. No array is
    larger than (tasks of a block, workers, classes), which is `MAX_BLOCK_NUMBERS` numbers or one task.
    """
    J, K = len(taken.workers), len(taken.classes)
    order = np.argsort(taken.task, kind="stable")
    device = next(method.parameters()).device
    method.eval()
    for part in torch.arange(len(taken.tasks)).split(max(1, MAX_BLOCK_NUMBERS // max(1, J * K))):
        first, last = int(part[0]), int(part[-1]) + 1
        with torch.no_grad():
            probs = method.predict_votes(rows.take(part, train=False).to(device)).double()
        uncertainty = torch.special.entr(probs).sum(dim=-1).cpu().numpy()
        label = probs.argmax(dim=-1).to(torch.int32).cpu().numpy()
        cast = order[slice(*np.searchsorted(taken.task, (first, last), sorter=order))]
        missing = np.ones((last - first, J), bool)
        missing[taken.task[cast] - first, taken.worker[cast]] = False
        row, worker = np.nonzero(missing)
        yield PseudoVotes(
            (row + first).astype(np.int32), worker.astype(np.int32), label[missing], uncertainty[missing]
        )


def select_pseudo_votes(
    blocks: Iterator[PseudoVotes], selection: Selection, add: int, classes: int, rng: np.random.Generator
) -> PseudoVotes:
    """At most `add` of the pseudo-votes, in the order of their tasks.

    Only those that can still be selected are held in memory: `add` of each class for "dasc", `add`
    in all for the others.

    Parameters
    ----------
    blocks
        All pseudo-votes.
    selection
        "dasc", the least uncertain of each class, in the proportions of `class_shares`; "confidence",
        the least uncertain of all; or "random".
    add, classes
        How many to select, and how many classes there are.
    rng
        Of "random".
    """
    by_class = selection == "dasc"
    none = np.empty(0, np.int32)
    selected = PseudoVotes(none, none, none, np.empty(0))
    predicted = np.zeros(classes)  # votes for each class
    for block in blocks:
        if selection == "random":
            block = block._replace(uncertainty=rng.random(len(block.uncertainty)))
        predicted += np.bincount(block.label, minlength=classes)
        both = selected.join(block)
        selected = _least_uncertain(both, both.label * by_class, np.full(classes, add))
    if by_class:
        selected = _least_uncertain(selected, selected.label, np.rint(add * class_shares(predicted)))
    return selected.take(np.lexsort((selected.worker, selected.task)))


def class_shares(predicted: Floats) -> Floats:
    """The share t of each class among the selected pseudo-votes, t_c ∝ 1 / N'_c (Eqs. 3 and 4), (classes,).

    N'_c is how many votes for the class are predicted; a class without any has no share. A class with
    fewer pseudo-votes than its share contributes all it has, and the rest is not passed on to the others:
    that would undo the balance (and gains less, as measured on LabelMe).

    Examples
    --------
    >>> class_shares(np.array([100.0, 300.0, 0.0])).tolist()
    [0.75, 0.25, 0.0]
    """
    inverse = divide(np.ones(len(predicted)), predicted, 0)
    return divide(inverse, inverse.sum(), 0)


def _least_uncertain(votes: PseudoVotes, group: Codes, most: NDArray[np.number]) -> PseudoVotes:
    """The `most` least uncertain ones of each group; ties in their order."""
    order = np.lexsort((votes.uncertainty, group))
    group = group[order]
    rank = np.arange(len(order)) - np.searchsorted(group, group)
    return votes.take(order[rank < most[group]])
