"""Accuracy of the labels of a project for its overview: a range from its votes, computed once per refit."""

from __future__ import annotations

import asyncio
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from markupsafe import Markup

from crowdpilot.aggregation import Aggregate, suggest_gold
from crowdpilot.aggregation.accuracy.gold_suggestion import GoldSuggestion
from crowdpilot.aggregation.accuracy.statements import state_gain, state_range
from crowdpilot.aggregation.honest import make_honest
from crowdpilot.arrays import Floats
from crowdpilot.calibration.experience import AccuracyEstimate, GoldCheck
from crowdpilot.service.http.auth import LabellingOf
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.workers.worker_quality import VotesAndPosterior, read_votes
from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.formatting import count, percent
from crowdpilot.service.status.label_caveats import (
    MIN_LOOKING_SECONDS,
    MIN_LOOKING_SHARE,
    Circumstances,
    project_caveats,
)
from crowdpilot.service.store import statistics
from crowdpilot.service.store.engine import Row, Store
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
    estimate: AccuracyEstimate
    labels: int  # that the estimate is about


class Snapshot(NamedTuple):
    """What a replica says: the accuracy that is known, or the votes to compute it from."""

    replica: Replica
    basis: Basis
    known: LabelAccuracy | None = None
    data: VotesAndPosterior | None = None
    names: tuple[str, ...] = ()  # of the items
    about: Circumstances = Circumstances()


_KNOWN: WeakKeyDictionary[Replica, LabelAccuracy] = WeakKeyDictionary()  # the last one of each replica


async def estimate_accuracy(id: str, labelling: LabellingOf) -> LabelAccuracy | None:
    """How many labels are right; None before there are votes. Computed in a thread of its own."""
    snapshot = await labelling.read(id, _read_snapshot)
    data = snapshot.data
    if data is None:
        return snapshot.known
    about = await asyncio.to_thread(_read_voters, labelling.store, id, snapshot.about)
    snapshot = snapshot._replace(about=about)
    found = await asyncio.to_thread(_compute, data, snapshot)
    if found is not None:
        _KNOWN[snapshot.replica] = found
    return found


def _read_voters(store: Store, id: str, about: Circumstances) -> Circumstances:
    """The same with who voted, and how fast."""
    with store.reading() as c:
        times = statistics.answer_times(c, id, MIN_LOOKING_SECONDS, MIN_LOOKING_SHARE)
        return about._replace(times=times, only_guests=statistics.only_guests_voted(c, id))


def _read_snapshot(replica: Replica, row: Row) -> Snapshot:
    """In the thread of the replica: nothing is computed here."""
    view, known = replica.campaign.view, _KNOWN.get(replica)
    items = view.items()
    basis = Basis(replica.update_number, int((items.gold >= 0).sum()), row.votes)
    if row.votes == 0:
        return Snapshot(replica, basis)
    if known is not None and not known.basis.is_outdated(basis):
        return Snapshot(replica, basis, known)
    data = read_votes(replica, row)
    withdrawn = np.tile(items.withdrawn, len(replica.campaign.criteria))
    has_votes = np.bincount(data.votes.task, minlength=len(withdrawn)) > 0
    counted = np.flatnonzero(~withdrawn & has_votes)
    names = tuple(str(items.names[n % len(items.names)]) for n in counted.tolist())
    kept = VotesAndPosterior(data.votes.select(tasks=counted), data.posterior[counted].copy())
    unknown = ~withdrawn & ~(items.gold >= 0).T.ravel()
    about = Circumstances(
        items=int((~withdrawn).sum()),
        without_votes=int((unknown & ~has_votes).sum()), is_classified=view.is_classified,
    )  # fmt: skip
    return Snapshot(replica, basis, None, kept, names, about)


def _compute(data: VotesAndPosterior, snapshot: Snapshot) -> LabelAccuracy | None:
    votes, posterior = data
    if len(votes) == 0:
        return None
    sample, rows = _sample(votes, posterior)
    result = make_honest(Aggregate(sample, rows, np.full(len(sample.workers), np.nan)))
    suggestion, estimate = suggest_gold(result, None), result.expected_accuracy
    check = result.params["gold_check"]
    caveats = project_caveats(sample, check, snapshot.about, result.codes)
    return LabelAccuracy(
        _claim(estimate, snapshot.about), _note(votes, estimate, check, snapshot.about),
        svg_charts.span(estimate.low, estimate.mean, estimate.high),
        _gain(suggestion), caveats,
        [snapshot.names[n] for n in np.asarray(sample.tasks)[suggestion.codes].tolist()], snapshot.basis,
        estimate, len(votes.tasks),
    )  # fmt: skip


def _claim(estimate: AccuracyEstimate, about: Circumstances) -> str:
    """The range, of the labels that it is about."""
    claim = state_range(estimate).replace(" %", "%")
    if about.is_classified and about.without_votes:
        return claim.replace("these labels", "the labels of items that people answered")
    return claim


def _gain(suggestion: GoldSuggestion) -> str:
    """What it gains to check items; empty where it gains too little."""
    if not state_gain(suggestion):
        return ""
    now, then = (100 * (each.high - each.low) for each in (suggestion.now, suggestion.predicted))
    return (f"Check {count(len(suggestion), 'item')} yourself. Then we know it more exactly: the range is "
            f"{now:.0f} percentage points wide now, and would be about {max(then, 1):.0f}")  # fmt: skip


def _known(check: GoldCheck) -> str:
    """How the items with known answers were used."""
    if check.tasks == 1:
        return f"You know the answer of 1 item: the workers have it {'right' if check.right else 'wrong'}."
    return f"You know the answers of {check.tasks:,} items: the workers have {check.right:,} of them right."


def _note(votes: Votes, estimate: AccuracyEstimate, check: GoldCheck | None, about: Circumstances) -> str:
    """Where the range comes from, and what it does not cover."""
    source = f"{count(len(votes), 'answer')} on {count(len(votes.tasks), 'item')}"
    notes = [f"Our best guess is {percent(estimate.mean)}, from {source}."]
    if check:
        notes.append(_known(check))
    else:
        notes.append("You have given no known answers, so the range rests on how good other crowds were.")
    if about.is_classified and about.without_votes:
        notes.append(f"The other {count(about.without_votes, 'label')} come from the classifier alone: only "
                     "an audit can tell how many of them are right.")  # fmt: skip
    elif about.is_classified:
        notes.append("The classifier helps to decide, so that somewhat more may be right.")
    return " ".join(notes).replace(" %", "%")


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
