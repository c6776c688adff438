"""Accuracy of the labels of a project for its overview: a range from its votes, computed once per refit."""

from __future__ import annotations

import asyncio
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from markupsafe import Markup

from crowdpilot.aggregation import Aggregate, suggest_gold
from crowdpilot.aggregation.accuracy.statements import state_gain, state_gold, state_range
from crowdpilot.aggregation.caveats import find_caveats
from crowdpilot.aggregation.honest import make_honest
from crowdpilot.arrays import Floats
from crowdpilot.calibration.experience import AccuracyEstimate
from crowdpilot.service.http.auth import LabellingOf
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.worker_quality import VotesAndPosterior, read_votes
from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.formatting import count, percent
from crowdpilot.service.store.engine import Row
from crowdpilot.votes import Votes

MAX_VOTES = 100_000  # that a range is computed from; of more, those on a random sample of the items
VOTES_GROWTH = 1.1  # since a range was computed, after which it is outdated even without a refit


class Basis(NamedTuple):
    """What an accuracy was computed from."""

    update_number: int  # of the model update
    gold: int  # known classes
    votes: int

    def is_outdated(self, now: Basis) -> bool:
        """Whether there was a refit since, or a check, or a tenth more votes."""
        return self[:2] != now[:2] or now.votes > VOTES_GROWTH * self.votes


class LabelAccuracy(NamedTuple):
    """How many labels of a project are right, in words."""

    claim: str
    note: str  # where it comes from
    scale: Markup | str  # the range as a drawing
    gain: str  # by checking items; empty if there is little to gain
    caveats: list[str]
    to_check: list[str]  # names of the items
    basis: Basis


class Snapshot(NamedTuple):
    """What a replica says: the accuracy that is known, or the votes to compute it from."""

    replica: Replica
    basis: Basis
    known: LabelAccuracy | None
    data: VotesAndPosterior | None
    names: list[str]  # of the items
    by_classifier: bool = False  # whether a classifier counts too


_KNOWN: WeakKeyDictionary[Replica, LabelAccuracy] = WeakKeyDictionary()  # the last one of each replica


async def estimate_accuracy(id: str, labelling: LabellingOf) -> LabelAccuracy | None:
    """How many labels are right; None before there are votes. Computed in a thread of its own."""
    snapshot = await labelling.read(id, _read_snapshot)
    if snapshot.data is None:
        return snapshot.known
    found = await asyncio.to_thread(_compute, snapshot.data, snapshot)
    if found is not None:
        _KNOWN[snapshot.replica] = found
    return found


def _read_snapshot(replica: Replica, row: Row) -> Snapshot:
    """In the thread of the replica: nothing is computed here."""
    view, known = replica.campaign.view, _KNOWN.get(replica)
    items = view.items()
    basis = Basis(replica.update_number, int((items.gold >= 0).sum()), row.votes)
    if row.votes == 0:
        return Snapshot(replica, basis, None, None, [])
    if known is not None and not known.basis.is_outdated(basis):
        return Snapshot(replica, basis, known, None, [])
    data = read_votes(replica, row)
    withdrawn = np.tile(items.withdrawn, len(replica.campaign.criteria))
    counted = np.flatnonzero(~withdrawn & (np.bincount(data.votes.task, minlength=len(withdrawn)) > 0))
    names = [str(items.names[n % len(items.names)]) for n in counted.tolist()]
    votes = data.votes.select(tasks=counted)
    kept = VotesAndPosterior(votes, data.posterior[counted].copy())
    return Snapshot(replica, basis, None, kept, names, view.is_classified)


def _compute(data: VotesAndPosterior, snapshot: Snapshot) -> LabelAccuracy | None:
    votes, posterior = data
    if len(votes) == 0:
        return None
    source = f"{count(len(votes), 'vote')} on {count(len(votes.tasks), 'item')}"
    if snapshot.by_classifier:
        mean = float(posterior.max(axis=1).mean())
        note = f"From {source} and the classifier together. Only an audit can say how exact this is."
        claim = state_range(AccuracyEstimate(mean, mean, mean)).replace(" %", "%")
        return LabelAccuracy(claim, note, "", "", find_caveats(votes, None), [], snapshot.basis)
    sample, rows = _sample(votes, posterior)
    result = make_honest(Aggregate(sample, rows, np.full(len(sample.workers), np.nan)))
    suggestion, estimate = suggest_gold(result, None), result.expected_accuracy
    notes = [f"{percent(estimate.mean)} expected, from {source}."]
    if check := result.params["gold_check"]:
        notes.append(f"{state_gold(check)}.")
    claim, note = (text.replace(" %", "%") for text in (state_range(estimate), " ".join(notes)))
    return LabelAccuracy(
        claim, note, svg_charts.span(estimate.low, estimate.mean, estimate.high),
        state_gain(suggestion, "item").capitalize(), result.caveats,
        [snapshot.names[n] for n in np.asarray(sample.tasks)[suggestion.codes].tolist()], snapshot.basis,
    )  # fmt: skip


def _sample(votes: Votes, posterior: Floats) -> tuple[Votes, Floats]:
    """At most so many votes, on whole items; tasks are numbers of `posterior`'s rows."""
    numbered = Votes(
        votes.task, votes.worker, votes.label, np.arange(len(votes.tasks)), votes.workers, votes.classes,
        gold=votes.gold,
    )  # fmt: skip
    if len(votes) <= MAX_VOTES:
        return numbered, posterior
    chosen = np.random.default_rng(0).random(len(votes.tasks)) < MAX_VOTES / len(votes)
    return numbered.select(tasks=chosen), posterior[chosen]
