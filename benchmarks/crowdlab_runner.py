"""Consensus labels by one of our methods, alone in its process, under the terms of `cleanlab_runner`."""

from __future__ import annotations

import json
import sys

import numpy as np

from benchmarks.cleanlab_runner import Columns, Decide, Found, main
from crowdpilot.aggregation import Aggregator, Auto, Crowdlab, DawidSkene, Fusion, NaiveSoft
from crowdpilot.arrays import Floats
from crowdpilot.calibration import FusionWeights
from crowdpilot.confusion_matrices import votes_log_likelihood
from crowdpilot.votes import Votes


def load(columns: Columns) -> Votes:
    """Votes of numbered tasks, workers and classes."""
    task, worker, label = (columns[name] for name in ("task", "worker", "label"))
    tasks, workers, classes = (np.arange(codes.max() + 1) for codes in (task, worker, label))
    return Votes(task, worker, label, tasks, workers, classes)


def by_model(model: Aggregator, votes: Votes) -> Found:
    """Labels and confidence of an aggregator."""
    result = model.fit(votes)
    return result.codes, result.confidence


def by_posterior(posterior: Floats) -> Found:
    """The most probable class and its probability."""
    return posterior.argmax(axis=1), posterior.max(axis=1)


def bayes(votes: Votes, probs: Floats) -> Floats:
    """Bayes' rule with the classifier as the prior and the confusion matrices of Dawid and Skene."""
    return FusionWeights()(
        probs, votes_log_likelihood(votes, np.log(DawidSkene().fit(votes).params["confusion"]))
    )


METHODS: dict[str, Decide] = {
    "majority": lambda votes, _: by_model(NaiveSoft(), votes),
    "classifier": lambda _, probs: by_posterior(probs),
    "auto": lambda votes, _: by_model(Auto(), votes),
    "crowdlab": lambda votes, probs: by_model(Crowdlab(probs), votes),
    "crowdlab, 2 passes": lambda votes, probs: by_model(Crowdlab(probs, passes=2), votes),
    "Bayes": lambda votes, probs: by_posterior(bayes(votes, probs)),
    "fusion": lambda votes, probs: by_model(Fusion(probs), votes),
}


if __name__ == "__main__":
    job = json.loads(sys.argv[1])
    main(job, load, METHODS[job["method"]])
