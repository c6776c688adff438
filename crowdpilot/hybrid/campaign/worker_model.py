"""The crew: what is known of the workers, from their votes, the machine and what was believed before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from crowdpilot.aggregation.em.backend import Params, Stats
from crowdpilot.aggregation.models.dawid_skene import DawidSkene
from crowdpilot.arrays import Codes, Floats, softmax, to_probs
from crowdpilot.confusion_matrices import hear
from crowdpilot.votes import Votes


class Crew(NamedTuple):
    """How workers confuse classes, and what is believed of the items they voted on."""

    confusion: Floats  # (workers, true, said)
    common: Floats  # (kinds, true, said): of somebody of each kind about whom nothing is known
    counts: Floats  # (workers, true, said): their votes, without imaginary ones
    believed: Floats  # (tasks, classes)


@dataclass(frozen=True)
class Foreseen(DawidSkene):
    """Dawid and Skene's model where something is known of each task beforehand.

    Parameters
    ----------
    before
        Log-probability of each class before any vote, (tasks, classes).
    rows
        Imaginary votes of each worker, (workers, true, said).
    past
        Imaginary items of each class, (classes,).
    """

    before: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False, compare=False)
    rows: Floats = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)

    past: Floats = field(default_factory=lambda: np.zeros(1), repr=False, compare=False)

    name: ClassVar[str] = "foreseen"
    divisible: ClassVar[bool] = False  # what is known beforehand would have to be divided too

    def pseudo(self, votes: Votes) -> Stats:
        return np.full(len(votes.classes), self.class_smoothing) + self.past, self.rows

    def beliefs(self, votes: Votes, probs: Floats) -> Iterator[Floats]:
        yield votes.clamp(softmax(self.before + hear(votes, np.log(to_probs(self.rows)))))

    def joint(self, votes: Votes, params: Params) -> Floats:
        joint = hear(votes, params.log_confusion) + self.before
        return joint + params.log_prior if self.prior == "estimated" else joint

    def score(self, pseudo: Stats, params: Params) -> float:
        return float((pseudo[1] * params.log_confusion).sum())


def fit_crew(
    votes: Votes,
    before: Floats,
    usual: Floats,
    *,
    kind: Codes | None = None,
    estimate: bool = False,
    shared: float = 12.0,
    history: Stats | None = None,
) -> Crew:
    """Confusion matrices of all workers by EM.

    Each worker begins with `shared` imaginary votes on each class, divided as usual for their kind.
    They are many, and not learned: while most items have one vote, skills and shares of classes can
    make up for each other, and what keeps them apart is what is known beforehand. What a kind has in
    common, for those who are new, is learned from all votes on top of `usual`.

    Parameters
    ----------
    votes
        Tasks whose class is known are taken from `votes.gold`.
    before
        Log-probability of each class before any vote, (tasks, classes).
    usual
        Imaginary votes of each kind of worker, (kinds, true, said), before any real one.
    kind
        Of each worker; all are of the first if not given.
    estimate
        Whether the shares of the classes are found too, instead of being part of `before`.
    shared
        Imaginary votes of each worker on each class.
    history
        Counts of earlier votes: classes of their tasks (classes,) and (workers, true, said).
    """
    kinds = np.zeros(len(votes.workers), np.int32) if kind is None else kind
    past, earlier = (np.zeros(1), np.zeros((1, 1, 1))) if history is None else history
    usual = guessing(usual, votes, earlier)
    rows = shared * to_probs(usual)[kinds]
    model = Foreseen(
        prior="estimated" if estimate else "uniform",
        before=before,
        rows=rows + earlier,
        past=past,
        tol=1e-5,
        max_iter=100,
    )
    found = model.fit(votes)
    said = found.params["stats"][1] + earlier
    common = usual.astype(np.float64)
    np.add.at(common, kinds, said)
    common = to_probs(common)
    new = said.sum(axis=(1, 2), keepdims=True) == 0
    return Crew(np.where(new, common[kinds], to_probs(said + rows)), common, said, found.probs)


def guessing(usual: Floats, votes: Votes, earlier: Floats) -> Floats:
    """The same imaginary votes, where those who do not know guess as labels are given in all.

    Somebody who knows the answer with probability s and otherwise guesses gives label *l* to an item
    of class *k* with probability s [k = l] + (1 - s) share[l]. Then the shares of the classes are
    those of the labels, until replicated votes tell otherwise: a rare label is not taken for a common
    mistake.
    """
    K = usual.shape[1]
    given = np.bincount(votes.label, minlength=K) + np.sum(earlier, axis=(0, 1)) + 1.0
    total = usual[:, 0].sum(axis=1)[:, None, None]
    knows = (usual[:, :1, :1] - usual[:, :1, 1:2]) / total
    imagined: Floats = total * (knows * np.eye(K) + (1 - knows) * given / given.sum())
    return imagined
