"""Following: what is known of workers moves with every vote, and not only when all is learned anew.

This is incremental EM, as in `crowdpilot.aggregation.online`: the counts behind the matrices of workers are
sums over votes of what is believed of their items, and of an item that has a new vote they are replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crowdpilot.arrays import Floats, to_probs
from crowdpilot.confusion_matrices import count_labels
from crowdpilot.hybrid.campaign.worker_model import guessing

if TYPE_CHECKING:
    from crowdpilot.aggregation.online.vote_log import Rows
    from crowdpilot.hybrid.campaign.question import Question


def recount(question: Question) -> None:
    """The counts behind all matrices, from all votes and what is believed of their items now."""
    votes = question.votes()
    usual = to_probs(guessing(question.usual, votes, question.history))[question.kind]
    said = count_labels(votes, question.probs) + question.history
    new = said.sum(axis=(1, 2), keepdims=True) == 0
    question.counts = said + question.plan.shared * np.where(new, question.common[question.kind], usual)
    question.counted = question.probs.copy()


def follow(question: Question, items: Rows, first: int | None = None) -> None:
    """Move what is known of those who voted on some items, where votes from row `first` on are new."""
    rows, place = question.book.of(items)
    worker, label = question.book.worker[rows], question.book.label[rows]
    before = question.counted[items][place]
    if first is not None:
        before[rows >= first] = 0
    add_(question.counts, worker, label, question.probs[items][place] - before)
    question.counted[items] = question.probs[items]
    moved = np.unique(worker)
    question.logs[moved] = np.log(to_probs(question.counts[moved]))
    question.heard[items] = 0
    np.add.at(question.heard, items[place], question.logs[worker, :, label])
    question.believe(items)


def uncount(question: Question, item: int, worker: int, label: int) -> None:
    """What a vote has counted for is taken back."""
    add_(question.counts, np.array([worker]), np.array([label]), -question.counted[[item]])


def add_(counts: Floats, worker: Rows, label: Rows, change: Floats) -> None:
    """Add to the counts (workers, true, said) what is believed of the items of votes."""
    true = np.arange(counts.shape[1])
    np.add.at(counts, (worker[:, None], true, label[:, None]), change)
