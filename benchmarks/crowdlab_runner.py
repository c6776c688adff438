"""Consensus labels by one of our methods, alone in its process, under the terms of `cleanlab_runner`."""

from __future__ import annotations

import json
import sys

import numpy as np

from benchmarks.cleanlab_runner import Columns, Decide, Found, main
from crowdpilot.aggregation import Aggregator, Auto, Crowdlab, DawidSkene, NaiveSoft
from crowdpilot.arrays import Floats, to_probs
from crowdpilot.calibration import Fusion, fit_fusion_on_votes
from crowdpilot.confusion_matrices import count_labels, votes_log_likelihood
from crowdpilot.votes import Votes

SHARED = 20.0  # imaginary votes of each worker on each class, divided as the crowd's; as in `mutual`
ROUNDS = 5  # in which matrices and weights of the fusion are found anew; as in `calibration_fusion`


def load(columns: Columns) -> Votes:
    """Votes of numbered tasks, workers and classes."""
    task, worker, label = (columns[name] for name in ("task", "worker", "label"))
    tasks, workers, classes = (np.arange(codes.max() + 1) for codes in (task, worker, label))
    return Votes(task, worker, label, tasks, workers, classes)


def by_model(model: Aggregator, votes: Votes) -> Found:
    """What an aggregator says."""
    result = model.fit(votes)
    return result.codes, result.confidence


def by_belief(belief: Floats) -> Found:
    """The most probable class and its probability."""
    return belief.argmax(axis=1), belief.max(axis=1)


def bayes(votes: Votes, probs: Floats) -> Floats:
    """The classifier as the prior, and Dawid and Skene's matrices of the workers."""
    return Fusion()(probs, votes_log_likelihood(votes, np.log(DawidSkene().fit(votes).params["confusion"])))


def fuse(votes: Votes, probs: Floats) -> Floats:
    """Matrices, and what classifier and crowd count, found in turn; held-out votes decide."""
    belief = Auto().fit(votes).probs
    for _ in range(ROUNDS):
        prior = belief.mean(axis=0)
        said = count_labels(votes, belief)
        counts = said + SHARED * to_probs(said.sum(axis=0) + np.eye(len(prior)) + 0.1)
        join = fit_fusion_on_votes(probs, votes, belief, counts=counts, prior=prior)
        belief = join(probs, votes_log_likelihood(votes, np.log(to_probs(counts))), prior)
    return belief


METHODS: dict[str, Decide] = {
    "majority": lambda votes, _: by_model(NaiveSoft(), votes),
    "classifier": lambda _, probs: by_belief(probs),
    "auto": lambda votes, _: by_model(Auto(), votes),
    "crowdlab": lambda votes, probs: by_model(Crowdlab(probs), votes),
    "crowdlab, 2 passes": lambda votes, probs: by_model(Crowdlab(probs, passes=2), votes),
    "Bayes": lambda votes, probs: by_belief(bayes(votes, probs)),
    "fusion": lambda votes, probs: by_belief(fuse(votes, probs)),
}


if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    main(job, load, METHODS[job["method"]])
