"""Accuracy of the labels of a project for its overview: a range from its votes, computed once per refit."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from markupsafe import Markup

from crowdpilot.aggregation import Aggregate, suggest_gold
from crowdpilot.aggregation.honest import make_honest
from crowdpilot.arrays import Codes, Floats
from crowdpilot.calibration.experience import AccuracyEstimate, GoldCheck
from crowdpilot.service.http.auth import LabellingOf
from crowdpilot.service.labelling.replica import Replica
from crowdpilot.service.labelling.workers.worker_quality import VotesAndPosterior, read_votes
from crowdpilot.service.pages.dashboard import svg_charts
from crowdpilot.service.pages.dashboard.overview.accuracy_words import (
    Scope,
    state_claim,
    state_gain_of_checks,
    state_source,
)
from crowdpilot.service.status.label_caveats import (
    MIN_LOOKING_SECONDS,
    MIN_LOOKING_SHARE,
    Circumstances,
    project_caveats,
)
from crowdpilot.service.store import items, statistics
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.votes import Votes

MAX_VOTES = 100_000  # that a range is computed from; of more, those on a random sample of the items
VOTES_GROWTH = 1.1  # since a range was computed, after which it is outdated even without a refit


class Basis(NamedTuple):
    """What an accuracy was computed from."""

    update_number: int  # of the model update
    gold: int  # known classes
    overrides: int  # decisions of experts
    votes: int

    def is_outdated(self, now: Basis) -> bool:
        """Whether there was a refit since, or a check, or a tenth more votes."""
        return self[:3] != now[:3] or now.votes > VOTES_GROWTH * self.votes


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
    noun: str  # what has a label: an item, or with criteria a question
    ids_to_check: list[int]  # of the same items


class Snapshot(NamedTuple):
    """What a replica says: the accuracy that is known, or the votes to compute it from."""

    replica: Replica
    basis: Basis
    known: LabelAccuracy | None = None
    data: VotesAndPosterior | None = None
    scope: Scope = Scope((), np.zeros(0, np.int32), 0, 0.0, False)
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
    if found is None:
        return None
    ids = await asyncio.to_thread(_read_ids, labelling.store, id, found.to_check)
    _KNOWN[snapshot.replica] = found = found._replace(ids_to_check=ids)
    return found


def _read_ids(store: Store, id: str, names: list[str]) -> list[int]:
    with store.reading() as c:
        ids = items.ids_by_name(c, id, names)
    return [ids[name] for name in names if name in ids]


def _read_voters(store: Store, id: str, about: Circumstances) -> Circumstances:
    """The same with who voted, and how fast."""
    with store.reading() as c:
        times = statistics.answer_times(c, id, MIN_LOOKING_SECONDS, MIN_LOOKING_SHARE)
        return about._replace(times=times, only_guests=statistics.only_guests_voted(c, id))


def _read_snapshot(replica: Replica, row: Row) -> Snapshot:
    """In the thread of the replica: nothing is computed here."""
    view, known = replica.campaign.view, _KNOWN.get(replica)
    table = view.items()
    is_gold, override = table.gold >= 0, table.override.T.ravel()
    basis = Basis(replica.update_number, int(is_gold.sum()), int((override >= 0).sum()), row.votes)
    if row.votes == 0:
        return Snapshot(replica, basis)
    if known is not None and not known.basis.is_outdated(basis):
        return Snapshot(replica, basis, known)
    data = read_votes(replica, row)
    withdrawn = np.tile(table.withdrawn, len(replica.campaign.criteria))
    has_votes = np.bincount(data.votes.task, minlength=len(withdrawn)) > 0
    counted = np.flatnonzero(~withdrawn & has_votes)
    kept = VotesAndPosterior(data.votes.select(tasks=counted), data.posterior[counted].copy())
    scope = Scope(
        tuple(str(table.names[n % len(table.names)]) for n in counted.tolist()), override[counted],
        int((is_gold.any(axis=1) & ~table.withdrawn).sum()), float(replica.spec["plan"]["gold"]),
        replica.campaign.has_criteria,
    )  # fmt: skip
    unknown = ~withdrawn & ~is_gold.T.ravel() & (override < 0)
    about = Circumstances(
        items=int((~withdrawn).sum()), without_votes=int((unknown & ~has_votes).sum()),
        is_classified=view.is_classified, noun="question" if scope.has_criteria else "item",
    )  # fmt: skip
    return Snapshot(replica, basis, None, kept, scope, about)


def _compute(data: VotesAndPosterior, snapshot: Snapshot) -> LabelAccuracy | None:
    votes, posterior = data
    about, scope = snapshot.about, snapshot.scope
    if len(votes) == 0:
        return None
    sample, rows = _sample(votes, posterior)
    result = make_honest(Aggregate(sample, rows, np.full(len(sample.workers), np.nan)))
    check: GoldCheck | None = result.params["gold_check"]
    caveats = project_caveats(sample, check, about, result.codes)
    decided = _with_overrides(result, scope.override)
    suggestion, estimate = suggest_gold(decided, None), decided.expected_accuracy
    chosen = np.asarray(sample.tasks)[suggestion.codes].tolist()
    to_check = list(dict.fromkeys(scope.names[n] for n in chosen))
    return LabelAccuracy(
        state_claim(estimate, about), state_source(votes, estimate, check, scope, about),
        svg_charts.span(estimate.low, estimate.mean, estimate.high),
        state_gain_of_checks(suggestion, len(to_check)), caveats, to_check, snapshot.basis, estimate,
        len(votes.tasks), about.noun, [],
    )  # fmt: skip


def _with_overrides(result: Aggregate, override: Codes) -> Aggregate:
    """The same result where the labels that experts decided on are right; they do not judge the others."""
    of_sample = override[np.asarray(result.votes.tasks, np.intp)]
    gold = np.full(len(of_sample), -1, np.int32) if result.votes.gold is None else result.votes.gold
    known = np.where(of_sample >= 0, of_sample, gold)
    if (known == gold).all():
        return result
    crowd = result.crowd
    accuracy = crowd.map.accuracy(crowd.features[known < 0], int((known >= 0).sum()))
    return replace(
        result,
        votes=replace(result.votes, gold=known),
        params={**result.params, "expected_accuracy": accuracy},
    )


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
