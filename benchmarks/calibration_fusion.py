"""CIFAR-10H: the probabilities of three networks fused with a few votes of people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import csv

from benchmarks.tables import markdown
from crowdpilot import metrics
from crowdpilot.arrays import Codes, Floats
from crowdpilot.calibration import FusionWeights, find_map, fit_fusion, fit_fusion_on_votes
from crowdpilot.confusion_matrices import count_labels, votes_log_likelihood
from crowdpilot.votes import Votes

SPLITS = 10
FITTED = 3000  # images; the rest are the test
VOTES = (0, 1, 2, 3, 5)
SMOOTHING = 0.5  # votes in each cell of the confusion matrix
LAST = 5  # rounds in which crowd and networks find the matrix without truth


def measure(data: Path) -> dict[str, Any]:
    """Error and ECE of each network with each number of votes, mean and standard deviation of splits."""
    counts, truth = (
        _counts(data),
        csv.read_csv(data / "cifar10h" / "truth.csv")["label"].to_numpy().astype(int),
    )
    networks = np.load(data / "cifar10h_models" / "probabilities.npz")
    found: dict[str, Any] = {}
    for name in networks.files:
        probs = networks[name].astype(np.float64)
        probs /= probs.sum(axis=1, keepdims=True)
        for n in VOTES:
            runs = [_split(probs, counts, truth, n, seed) for seed in range(SPLITS)]
            found[f"{name}, {n} votes"] = {
                how: {
                    m: [float(np.mean(v)), float(np.std(v, ddof=1))]
                    for m in ("error", "ece", "nll")
                    for v in [[run[how][m] for run in runs]]
                }
                for how in runs[0]
            }
    return found


def _split(probs: Floats, counts: Codes, truth: Codes, n: int, seed: int) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(truth))
    known, test = order[:FITTED], order[FITTED:]
    if n == 0:
        map = find_map("temperature")
        by_truth = map.fit(probs[known], truth[known])
        return {"as it is": _score(probs, truth, test), "truth": _score(by_truth(probs), truth, test)}
    votes = _draw(counts, n, rng)
    eye = np.eye(counts.shape[1])
    part = _of(votes, known)
    logs = _matrix(part, eye[truth[known]])
    log_likelihood = votes_log_likelihood(votes, logs)
    by_truth = fit_fusion(probs[known], log_likelihood[known], truth[known])
    posteriors = {
        "Bayes": FusionWeights()(probs, log_likelihood),
        "average": (probs + FusionWeights(0)(probs, log_likelihood)) / 2,
        "truth": by_truth(probs, log_likelihood),
    }
    if n > 1:
        posteriors["votes"] = _by_votes(probs, votes, part, known)
    return {how: _score(posterior, truth, test) for how, posterior in posteriors.items()}


def _by_votes(probs: Floats, votes: Votes, part: Votes, known: Codes) -> Floats:
    """No truth at all: matrix, a and b are found from votes and networks on the images for fitting."""
    fusion = FusionWeights()
    posterior = probs[known]
    for _ in range(LAST):
        logs = _matrix(part, posterior)
        fusion = fit_fusion_on_votes(probs[known], part, posterior)
        posterior = fusion(probs[known], votes_log_likelihood(part, logs))
    return fusion(probs, votes_log_likelihood(votes, logs))


def _matrix(votes: Votes, posterior: Floats) -> Floats:
    said = count_labels(votes, posterior) + SMOOTHING
    logs: Floats = np.log(said / said.sum(axis=2, keepdims=True))
    return logs


def _score(probs: Floats, truth: Codes, test: Codes) -> dict[str, float]:
    p, t = probs[test], truth[test]
    return {
        "error": 1 - metrics.accuracy(t, p.argmax(axis=1)),
        "ece": metrics.ece(t, p),
        "nll": metrics.log_loss(t, p),
    }


def _counts(data: Path) -> Codes:
    table = csv.read_csv(data / "cifar10h" / "counts.csv")
    return np.column_stack([table[f"n{k}"].to_numpy() for k in range(10)])


def _draw(counts: Codes, n: int, rng: np.random.Generator) -> Votes:
    """The first `n` of each image's votes in a random order; nobody knows who gave them."""
    drawn = rng.multivariate_hypergeometric
    chosen = np.stack([drawn(row, n) for row in counts])
    task, label = np.nonzero(chosen)
    often = chosen[task, label]
    task, label = np.repeat(task, often), np.repeat(label, often)
    everyone = np.zeros(len(task), np.int32)
    names = np.arange(len(counts)), np.array(["crowd"]), np.arange(counts.shape[1])
    return Votes(task.astype(np.int32), everyone, label.astype(np.int32), *names)


def _of(votes: Votes, tasks: Codes) -> Votes:
    """The votes on some tasks, in the order of these."""
    some = votes.select(tasks=tasks)
    return Votes(some.task, some.worker, some.label, np.arange(len(tasks)), votes.workers, votes.classes)


def render(found: dict[str, Any]) -> str:
    """A row for each network and number of votes."""
    hows = ["as it is", "average", "Bayes", "truth", "votes"]
    rows = []
    for name, scores in found.items():
        cells = []
        for how in hows:
            s = scores.get(how)
            cells.append("–" if s is None else f"{100 * s['error'][0]:.2f} / {100 * s['ece'][0]:.2f}")
        rows.append([name, *cells])
    return markdown(["error % / ECE %", *hows], rows)
