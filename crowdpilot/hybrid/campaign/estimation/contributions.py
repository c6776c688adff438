"""Contributions: what prior, classifier and each vote add to the log posterior of one item.

The sum of all contributions is the log posterior, up to a constant, as votes and classifier give it; known
classes and overrides are not in it, and policies with a rule of their own do not decide by it. With fusions
that multiply (Bayes' rule, tempered or not) what a vote contributes depends on nothing else; with others it
depends on the votes before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdpilot.arrays import Floats, softmax
from crowdpilot.hybrid.campaign.estimates import combine, prior_of
from crowdpilot.hybrid.campaign.estimation.question import Question

PRIOR, CLASSIFIER, VOTE, SHARED_ERRORS = "prior", "classifier", "vote", "shared errors"
MIN_PROBABILITY = 1e-300  # whose log is taken
TOLERANCE = 1e-9  # below which shared errors are not worth a line


class Contribution(NamedTuple):
    """What one source adds to the log posterior of an item.

    The source is `PRIOR` (how frequent the classes are), `CLASSIFIER`, `VOTE`, or `SHARED_ERRORS`: the crowd
    may be wrong together, which moves the posterior back towards what it was before the votes. A vote has the
    number of its worker, the code of its class, and the probability that the worker is right.
    """

    source: str
    log_probs: Floats  # by class, (classes,); a constant is of no account
    worker: int = -1
    label: int = -1
    accuracy: float = 0.0


def find_contributions(question: Question, row: int) -> list[Contribution]:
    """All contributions to the posterior of an item, in the order in which they are applied."""
    posteriors, rows = question.posteriors, np.array([row])
    fusion, class_prior = posteriors.fusion, posteriors.class_prior
    probs = posteriors.calibrated_probs(rows)
    start = _log(prior_of(fusion, None, class_prior))
    found = [Contribution(PRIOR, start)]
    if probs is not None:
        found.append(Contribution(CLASSIFIER, _log(prior_of(fusion, probs, class_prior)[0]) - start))
    crowd, experts = _votes(question, row)
    so_far = np.zeros_like(start)
    consensus = combine(fusion, probs, so_far[None], class_prior)[0]
    for vote in crowd:
        before, so_far = _log(consensus), so_far + vote.log_probs
        consensus = combine(fusion, probs, so_far[None], class_prior)[0]
        found.append(vote._replace(log_probs=_log(consensus) - before))
    by_item = probs is not None and not posteriors.learned_from_votes
    prior = prior_of(fusion, probs if by_item else None, class_prior)
    shared = _log(posteriors.crowd_errors.truth(consensus[None], prior)[0]) - _log(consensus)
    if np.ptp(shared) > TOLERANCE:
        found.append(Contribution(SHARED_ERRORS, shared))
    return found + experts


def posterior_of(contributions: list[Contribution]) -> Floats:
    """The posterior that these contributions add up to, (classes,)."""
    posterior: Floats = softmax(np.sum([part.log_probs for part in contributions], axis=0)[None])[0]
    return posterior


def _votes(question: Question, row: int) -> tuple[list[Contribution], list[Contribution]]:
    """Log-likelihoods of the votes of crowd and experts on an item, which add up to those of the item."""
    posteriors = question.posteriors
    if not question.tally[row].any():
        return [], []
    at = np.sort(question.vote_log.rows_of(np.array([row]))[0])
    workers, labels = question.vote_log.worker[at].tolist(), question.vote_log.label[at].tolist()
    votes = [_vote(question, worker, label) for worker, label in zip(workers, labels, strict=True)]
    by_expert = [bool(posteriors.experts[question.worker_kind[worker]]) for worker in workers]
    crowd = [vote for vote, is_expert in zip(votes, by_expert, strict=True) if not is_expert]
    experts = [vote for vote, is_expert in zip(votes, by_expert, strict=True) if is_expert]
    return _add_up(crowd, posteriors.log_likelihood[row]), _add_up(
        experts, posteriors.expert_log_likelihood[row]
    )


def _vote(question: Question, worker: int, label: int) -> Contribution:
    matrix = question.matrices.of_worker(worker)
    accuracy = float(np.exp(np.diagonal(matrix)) @ question.class_prior)
    return Contribution(VOTE, matrix[:, label], worker, label, accuracy)


def _add_up(votes: list[Contribution], log_likelihood: Floats) -> list[Contribution]:
    """The same votes; what incremental EM has changed in their matrices since is divided among them."""
    if not votes:
        return []
    rest = (log_likelihood - np.sum([vote.log_probs for vote in votes], axis=0)) / len(votes)
    return [vote._replace(log_probs=vote.log_probs + rest) for vote in votes]


def _log(probs: Floats) -> Floats:
    return np.log(np.maximum(probs, MIN_PROBABILITY))
