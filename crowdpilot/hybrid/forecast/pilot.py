"""What a pilot leaves open: draws of workers, of classes, and of how often the crowd errs together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crowdpilot.arrays import Codes, Floats, softmax, to_probs
from crowdpilot.confusion_matrices import hear
from crowdpilot.hybrid.campaign.worker_model import Crew, fit_crew
from crowdpilot.votes import Votes

SHARES = (np.arange(400) + 0.5) / 400  # of items that mislead the crowd
RATIO, OFFSET, SPREAD = 0.6, 0.05, 1.3  # of that share to the error rate of single votes: log-normal
EFFECT = 30.0  # votes on each class that a pilot is taken to be worth, as votes on one item err together
ALIKE = 2.0  # imaginary items that mislead, of the classes that the others seem to have
DOUBT = 0.1  # that an item whose class is known misleads, while workers are learned
TINY = 1e-12

Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class Pilot:
    """What is known of one question.

    Parameters
    ----------
    votes
        So far; tasks are all items of the pool.
    kind
        Of each worker.
    usual
        Imaginary votes of each kind of worker, (kinds, true, said).
    shared
        Imaginary votes of each worker that are divided as those of the kind.
    machine
        What is believed of each item before its votes, (items, classes), if there is a machine.
    gold
        The class of each item, -1 where it is not known.
    past
        Earlier or imaginary items of each class.
    earlier
        What workers said of items that are forgotten, (workers, true, said).
    """

    votes: Votes
    kind: Codes
    usual: Floats
    shared: float
    machine: Floats | None
    gold: Codes
    past: Floats
    earlier: Floats


@dataclass(frozen=True, eq=False)
class Draw:
    """One way in which things may be.

    Parameters
    ----------
    seems
        The class of each item, as a crowd without end would see it.
    confusion
        Of each worker, (workers, true, said).
    common
        Of a new worker of each kind, (kinds, true, said).
    rest
        Shares of the classes among items that mislead.
    misled
        What is believed of the share of items that mislead, at each of `SHARES`.
    """

    seems: NDArray[np.intp]
    confusion: Floats
    common: Floats
    rest: Floats
    misled: Floats

    def truth(self, gold: Codes, rng: Random) -> NDArray[np.intp]:
        """Draw true classes: of a share of the items the crowd tells nothing, they may be of any class."""
        share = rng.choice(SHARES, p=self.misled)
        other = rng.choice(len(self.rest), len(self.seems), p=self.rest)
        true = np.where(rng.random(len(self.seems)) < share, other, self.seems)
        return np.where(gold >= 0, gold, true)


def draws(pilot: Pilot, n: int, rng: Random) -> Iterator[Draw]:
    """Draw from what the pilot leaves open.

    The items of the pilot are drawn again with replacement and the workers learned from these, so that
    other pilots that might have been have their say; then matrices and classes are drawn from what that
    fit believes. Shares of the classes lie between those that it finds and those of the votes, since
    fits to few votes tend to find too few of a class. An item of class k seems to the crowd to be of
    class z. On a share s of the items, those that mislead, z and k have nothing to do with each other:

        P(k | z) = (1 - s) [k = z] + s rest_k.

    No vote can tell s. Before any truth is known, it is taken to be RATIO times the error rate of single
    votes and a bit more, OFFSET, with a log-normal factor of SPREAD. Items of known class are evidence of
    it: P(k | votes) = sum_z P(k | z) P(z | votes).

    References
    ----------
    Newton and Raftery, Approximate Bayesian inference with the weighted likelihood bootstrap, Journal
    of the Royal Statistical Society B 56(1), 1994.
    """
    votes = pilot.votes
    N = len(votes.tasks)
    voted = np.unique(votes.task).astype(np.intp)
    said = np.bincount(votes.label, minlength=len(votes.classes)) * len(voted) / max(len(votes), 1)
    for _ in range(n):
        crew = _fit(pilot, rng.choice(voted, len(voted))) if len(voted) else _nobody(pilot)
        met = len(voted) > 0 or bool(pilot.earlier.any())
        common = _dirichlet(EFFECT * crew.common if met else pilot.usual, rng)
        mix = rng.random()
        prior = _dirichlet(mix * crew.believed.sum(axis=0) + (1 - mix) * said + pilot.past + 1, rng)
        confusion = _dirichlet(crew.counts + pilot.shared * common[pilot.kind], rng)
        before = np.tile(prior, (N, 1)) if pilot.machine is None else pilot.machine
        belief = softmax(np.log(np.maximum(before, TINY)) + hear(votes, np.log(confusion)))
        single = 1 - float(prior @ np.diag(common[0]))
        known = np.bincount(pilot.gold[pilot.gold >= 0], minlength=len(prior))
        rest = _dirichlet(1 + ALIKE * prior + known, rng)
        misled = misled_shares(single, belief, rest, pilot.gold)
        likely = belief * _evidence(pilot.gold, rest, float(misled @ SHARES))
        yield Draw(pick(likely, rng), confusion, common, rest, misled)


def misled_shares(single: float, belief: Floats, rest: Floats, gold: Codes) -> Floats:
    """What is believed of the share of items that mislead, at each of `SHARES`."""
    logs = -0.5 * (np.log(SHARES / (RATIO * (single + OFFSET))) / SPREAD) ** 2 - np.log(SHARES)
    known = np.flatnonzero(gold >= 0)
    seen, luck = belief[known, gold[known]], rest[gold[known]]
    logs += np.log((1 - SHARES[:, None]) * seen + SHARES[:, None] * luck + TINY).sum(axis=1)
    return to_probs(np.exp(logs - logs.max()))


def _fit(pilot: Pilot, items: NDArray[np.intp]) -> Crew:
    """Workers as learned from some items, each as often as it is named."""
    votes, K = pilot.votes, len(pilot.votes.classes)
    order = np.argsort(votes.task, kind="stable")
    start = np.searchsorted(votes.task[order], items)
    size = np.searchsorted(votes.task[order], items, side="right") - start
    task = np.repeat(np.arange(len(items), dtype=np.int32), size)
    chosen = order[np.repeat(start - np.cumsum(size) + size, size) + np.arange(size.sum())]
    some = Votes(
        task, votes.worker[chosen], votes.label[chosen], np.arange(len(items)), votes.workers, votes.classes
    )
    before = np.ones((len(items), K)) if pilot.machine is None else pilot.machine[items]
    before = before * _evidence(pilot.gold[items], np.full(K, 1 / K), DOUBT)
    return fit_crew(
        some, np.log(np.maximum(before, TINY)), pilot.usual, kind=pilot.kind,
        estimate=pilot.machine is None, shared=pilot.shared, history=(pilot.past, pilot.earlier),
    )  # fmt: skip


def _nobody(pilot: Pilot) -> Crew:
    """What is known without votes on any item that is left."""
    total = pilot.usual.astype(np.float64)
    np.add.at(total, pilot.kind, pilot.earlier)
    common = to_probs(total)
    counts = pilot.earlier + pilot.shared * common[pilot.kind]
    return Crew(to_probs(counts), common, pilot.earlier, np.zeros((0, common.shape[1])))


def _evidence(gold: Codes, rest: Floats, share: float) -> Floats:
    """P(true class | class it seems to be), (items, classes it seems); ones where it is not known."""
    hit = gold[:, None] == np.arange(len(rest))
    return np.where(gold[:, None] >= 0, (1 - share) * hit + share * rest[np.maximum(gold, 0)][:, None], 1.0)


def _dirichlet(counts: Floats, rng: Random) -> Floats:
    return to_probs(np.maximum(rng.standard_gamma(counts), TINY))


def pick(probs: Floats, rng: Random) -> NDArray[np.intp]:
    """A class for each row, drawn in proportion to it."""
    reach = np.cumsum(probs, axis=1)
    found: NDArray[np.intp] = (rng.random((len(probs), 1)) * reach[:, -1:] > reach).sum(axis=1)
    return found
