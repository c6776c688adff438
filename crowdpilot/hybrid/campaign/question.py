"""Question: one thing that is asked about every item, with all that is known of the answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdpilot.aggregation.online.vote_log import Book
from crowdpilot.arrays import Codes, Floats, to_probs
from crowdpilot.calibration import find_map, fit_on_votes
from crowdpilot.confusion_matrices import count_labels, hear
from crowdpilot.growing_arrays import grown
from crowdpilot.hybrid.campaign.classifier import Learner, find_boldness
from crowdpilot.hybrid.campaign.items import Rows
from crowdpilot.hybrid.campaign.online_update import follow, recount, uncount
from crowdpilot.hybrid.campaign.worker_model import fit_crew
from crowdpilot.hybrid.plan import Plan
from crowdpilot.hybrid.policy import Evidence
from crowdpilot.hybrid.value.posterior import crowd_only, find_fusion
from crowdpilot.votes import Votes

FIRST = 20  # votes before a machine learns anything
LEAST = 1e-6  # of what a machine says


class Question:
    """Votes, matrices of workers, the machine's word, and what is believed of each item.

    Parameters
    ----------
    plan
        The settings of the campaign.
    usual
        Imaginary votes of each kind of worker, (kinds, true, said).
    learner
        What learns to say something of each item, if anything does.
    """

    def __init__(self, plan: Plan, usual: Floats, learner: Learner | None = None) -> None:
        K = usual.shape[1]
        self.plan, self.usual, self.learner = plan, usual, learner
        self.join = find_fusion(plan.fusion)
        self.book = Book()
        self.gold = np.zeros(0, np.int32)  # the known class of each item, -1 where it is not known
        self.tally = np.zeros((0, K))
        self.heard = np.zeros((0, K))  # log-probability of the votes on each item, were it of each class
        self.probs = np.zeros((0, K))
        self.machine: Floats | None = None
        self.bold = 1.0  # the power to which its probabilities are honest
        self.prior = np.full(K, 1 / K)
        self.common = to_probs(usual)
        self.kind = np.zeros(0, np.int32)
        self.logs = np.zeros((0, K, K))
        self.history = np.zeros((0, K, K))  # what workers said of items that are forgotten, (true, said)
        self.past = np.zeros(K)  # classes of those items
        self.counts = np.zeros((0, K, K))  # votes behind each matrix, if they are followed
        self.counted = np.zeros((0, K))  # what they take items to be

    @property
    def classes(self) -> int:
        """How many answers there are."""
        return int(self.usual.shape[1])

    def enlist(self, kind: int) -> None:
        """A new worker, who is taken to be like the others of the kind."""
        self.kind = grown(self.kind, [kind])
        self.logs = grown(self.logs, np.log(self.common[[kind]]))
        self.history = grown(self.history, np.zeros((1, *self.past.shape * 2)))
        if self.plan.follow:
            self.counts = grown(self.counts, self.plan.shared * self.common[[kind]])

    def add(self, gold: Codes, machine: Floats | None) -> None:
        """New items; if there is a machine and it has not seen them, it says what it says on average."""
        n, K = len(gold), self.classes
        if machine is None and self.machine is not None:
            machine = np.tile(self.machine.mean(axis=0), (n, 1))
        if machine is not None:
            new = floored(machine, LEAST)
            old = np.tile(self.prior, (len(self.gold), 1)) if self.machine is None else self.machine
            self.machine = grown(old, new)
        self.gold = grown(self.gold, gold)
        for name in ("tally", "heard", "probs"):
            setattr(self, name, grown(getattr(self, name), np.zeros((n, K))))
        if self.plan.follow:
            self.counted = grown(self.counted, np.zeros((n, K)))
        self.believe(np.arange(len(self.gold) - n, len(self.gold)))

    def hear(self, item: Rows, worker: Rows, label: Rows) -> None:
        """New votes, in time that depends on their number and that of the classes."""
        first, items = self.book.add(item, worker, label), np.unique(item)
        np.add.at(self.tally, (item, label), 1)
        np.add.at(self.heard, item, self.logs[worker, :, label])
        self.believe(items)
        if self.plan.follow:
            follow(self, items, first)

    def unhear(self, item: int, worker: int) -> bool:
        """Forget the vote of a worker on an item; whether there was one."""
        row = self.book.find(item, worker)
        if row < 0:
            return False
        label = int(self.book.label[row])
        self.book.drop([row])
        if self.plan.follow:
            uncount(self, item, worker, label)
        self.tally[item, label] -= 1
        self.heard[item] -= self.logs[worker, :, label]
        if not self.tally[item].any():
            self.heard[item] = 0
        self.believe(np.array([item]))
        if self.plan.follow:
            follow(self, np.array([item]))
        return True

    def believe(self, rows: Rows) -> None:
        """Work out the belief of some items anew."""
        if self.machine is None:
            heard = self.join.crowd_weight * self.heard[rows]
            self.probs[rows] = crowd_only(heard, heard, self.prior)
        else:
            self.probs[rows] = self.join(self.calibrated(rows), self.heard[rows], self.prior)
        known = rows[self.gold[rows] >= 0]
        self.probs[known] = np.eye(self.classes)[self.gold[known]]

    @property
    def voters(self) -> Floats:
        """How the next worker of each kind confuses classes, if believed so far; (kinds, true, said)."""
        return to_probs(self.common**self.join.crowd_weight)

    def voter(self, worker: int) -> Floats:
        """The same of one worker, (true, said)."""
        return to_probs(np.exp(self.logs[worker] * self.join.crowd_weight))

    def is_good(self, worker: int) -> bool:
        """Whether a worker is right as often as most others of the kind are, as far as is known."""
        often = np.einsum("wkk,k->w", np.exp(self.logs), self.prior)
        return bool(often[worker] >= np.median(often[self.kind == self.kind[worker]]) - 1e-12)

    def machine_of(self, rows: Rows) -> Floats | None:
        """What the machine says of some items, if there is one."""
        return None if self.machine is None else self.calibrated(rows)

    def calibrated(self, rows: Rows) -> Floats:
        """What the machine says of some items, as bold as it may be; the prior if there is none."""
        if self.machine is None:
            return np.tile(self.prior, (len(rows), 1))
        return floored(to_probs(self.machine[rows] ** self.bold), self.plan.floor)

    def votes(self) -> Votes:
        """All votes on all items, by number; with the known classes."""
        names = np.arange(len(self.gold)), np.arange(len(self.kind)), np.arange(self.classes)
        task, worker, label = (self.book.kept(name) for name in ("task", "worker", "label"))
        return Votes(task, worker, label, *names, gold=self.gold)

    def keep(self, rows: Rows) -> None:
        """Forget all other items; what their votes tell of workers stays."""
        votes, gone = self.votes(), np.ones(len(self.gold), bool)
        gone[rows] = False
        lost = votes.take(gone[votes.task])
        self.history = self.history + count_labels(lost, self.probs)
        if self.plan.follow:  # they count by what is believed last, from now on
            self.counts = self.counts + count_labels(lost, self.probs - self.counted)
        self.past = self.past + self.probs[gone & self.tally.any(axis=1)].sum(axis=0)
        left = votes.take(~gone[votes.task])
        self.book = Book()
        self.book.add(np.searchsorted(rows, left.task), left.worker, left.label)
        for name in ("gold", "tally", "heard", "probs", *(["counted"] if self.plan.follow else [])):
            setattr(self, name, getattr(self, name)[rows])
        self.machine = None if self.machine is None else self.machine[rows]

    def refit(self, fold: Rows) -> None:
        """Learn workers and machine anew from all votes; nothing depends on the order in which they came."""
        votes = self.votes()
        voted = np.unique(votes.task).astype(np.intp)
        if len(voted) == 0:
            return
        some = _only(votes, voted)
        before = self._before(voted)
        crew = fit_crew(
            some,
            before,
            self.usual,
            kind=self.kind,
            estimate=self.machine is None,
            shared=self.plan.shared,
            history=(self.past, self.history),
        )
        self.common, self.logs = crew.common, np.log(crew.confusion)
        believed = crew.believed
        self.prior = to_probs(believed.sum(axis=0) + self.past + 1)
        self.heard = hear(votes, self.logs)
        if self.learner is not None and len(votes) >= FIRST:
            self._learn(some, voted, believed, fold)
        elif self.machine is not None and len(votes) >= FIRST:
            self.bold = find_boldness(self.machine[voted], self.heard[voted])
        self.believe(np.arange(len(self.gold)))
        if self.plan.follow:
            recount(self)

    def _before(self, voted: Rows) -> Floats:
        """Log of what is believed of items before their votes."""
        if self.machine is None:
            return np.zeros((len(voted), self.classes))
        silent = np.zeros((len(voted), self.classes))
        return np.log(np.maximum(self.join(self.calibrated(voted), silent, self.prior), 1e-12))

    def _learn(self, votes: Votes, voted: Rows, believed: Floats, fold: Rows) -> None:
        """A new machine, calibrated by what the votes alone say.

        A map is found under which the votes are most likely. That votes were asked where they were
        wanted does no harm to it, as it would to the shares of classes among these items.
        """
        if self.learner is None:
            return
        said = self.learner.foresee(voted, believed, fold)
        name = self.plan.map or ("platt" if self.classes == 2 else "temperature")
        map = fit_on_votes(find_map(name), said[voted], votes, np.exp(self.join.crowd_weight * self.logs))
        self.machine = floored(map(said), LEAST)


def evidence_of(question: Question) -> Evidence:
    """What a policy may use to decide about all items."""
    return Evidence(question.probs, question.machine, question.tally, question.votes)


def floored(probs: Any, floor: float) -> Floats:
    """Probabilities with none below the floor."""
    p = np.asarray(probs, np.float64)
    return to_probs(np.maximum(p, floor / max(p.shape[1] - 1, 1)))


def _only(votes: Votes, items: Rows) -> Votes:
    """The same votes, where other items do not exist."""
    place = np.searchsorted(items, votes.task).astype(np.int32)
    gold = None if votes.gold is None else votes.gold[items]
    return Votes(place, votes.worker, votes.label, items, votes.workers, votes.classes, gold=gold)
