"""Capacity: how large a project may be, by the memory that campaigns were measured to take.

Measured with two kinds of worker and one thread for linear algebra, per item in the largest process:

| classes x criteria | bytes per item | seconds to load 1,000 items |
|---|---|---|
| 2 | 500 | 0.01 |
| 10 | 900 | 0.03 |
| 100 | 7,300 | 0.1 |
| 200 | 15,000 | 0.6 |
| 300 | 22,000 | 3.4 |

Names and ids of the service add some 250 bytes. A refit of 1,000 workers with votes on 100 classes takes
1.1 GB, which is 110 bytes for each cell of each confusion matrix; workers without votes take nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any

from crowdpilot.hybrid import Campaign
from crowdpilot.hybrid.policies import Value, find_policy
from crowdpilot.hybrid.value.vote_outcomes import LIKELIEST_CLASSES, MAX_LABELS_ENUMERATED
from crowdpilot.service.errors import ConflictError

MAX_CLASSES = 200
MAX_VOTES_IN_POLICY = 1000  # that a policy may count or look ahead
MAX_OUTCOMES = 5000  # of the votes that a policy looks ahead
MAX_PROJECT_BYTES = 2 * 1024**3  # of the items of a project, in each process that uses it
MAX_REFIT_BYTES = 4 * 1024**3  # of the confusion matrices, in the process that runs jobs
BYTES_PER_ITEM = 750
BYTES_PER_ITEM_AND_CLASS = 75
BYTES_PER_MATRIX_CELL = 110  # while a refit runs
USUAL_WORKERS = 100  # for whom the memory is told in an error
GIGABYTE = 1e9


def check_description(spec: Mapping[str, Any]) -> None:
    """Raise ValueError if a project is described that no process could hold."""
    K = len(spec["classes"])
    if K > MAX_CLASSES:
        raise ValueError(
            f"{K} classes need about {_gigabytes(refit_bytes(spec, USUAL_WORKERS))} GB of memory for "
            f"{USUAL_WORKERS} workers; this service allows up to {MAX_CLASSES} classes, because the matrix "
            "of errors of every worker has a cell for each pair of classes; merge some, or ask in two steps"
        )
    policy = find_policy(spec["policy"])
    numbers = [number for number in vars(policy).values() if isinstance(number, int)]
    labels = K if K <= MAX_LABELS_ENUMERATED else LIKELIEST_CLASSES + 1
    outcomes = (
        comb(min(policy.ahead, MAX_VOTES_IN_POLICY) + labels, labels) if isinstance(policy, Value) else 0
    )
    if max(numbers, default=0) > MAX_VOTES_IN_POLICY or outcomes > MAX_OUTCOMES:
        raise ValueError(
            f"the policy {spec['policy']!r} counts or looks ahead more votes than can be computed"
        )


def check_items(spec: Mapping[str, Any], before: int, new: int) -> None:
    """Raise a `ConflictError` if a project of so many items cannot take so many more."""
    needed, per_item = items_bytes(spec, before + new), items_bytes(spec, 1)
    if needed > MAX_PROJECT_BYTES:
        raise ConflictError(
            f"{before + new:,} items of {len(spec['classes'])} classes need about {_gigabytes(needed)} GB of "
            f"memory; this service holds up to {MAX_PROJECT_BYTES // per_item:,} items of such a project; "
            "add fewer, or make several projects"
        )


def check_classifier_budget(campaign: Campaign, spec: Mapping[str, Any], n_items: int) -> None:
    """Raise a `ConflictError` if the budget does not pay for classifying so many items more."""
    price = campaign.costs.classifier * n_items * (spec["machine"] != "none")
    if price > campaign.view.budget_left:
        raise ConflictError(
            f"the budget does not pay for the classifier to look at {n_items} items; add fewer"
        )


def check_refit(spec: Mapping[str, Any], workers: int) -> None:
    """Raise a `ConflictError` if the confusion matrices of so many workers with votes cannot be fitted."""
    needed = refit_bytes(spec, workers)
    if needed > MAX_REFIT_BYTES:
        raise ConflictError(
            f"the confusion matrices of {workers:,} workers and {len(spec['classes'])} classes need about "
            f"{_gigabytes(needed)} GB of memory, more than this service allows; make several projects"
        )


def items_bytes(spec: Mapping[str, Any], items: int) -> int:
    """Memory of a replica with so many items, about."""
    return items * (BYTES_PER_ITEM + BYTES_PER_ITEM_AND_CLASS * len(spec["classes"]) * _questions(spec))


def refit_bytes(spec: Mapping[str, Any], workers: int) -> int:
    """Memory of a refit of so many workers with votes, about."""
    return workers * BYTES_PER_MATRIX_CELL * len(spec["classes"]) ** 2 * _questions(spec)


def _questions(spec: Mapping[str, Any]) -> int:
    return max(len(spec["criteria"]), 1)


def _gigabytes(bytes: int) -> str:
    return f"{bytes / GIGABYTE:,.1f}"
