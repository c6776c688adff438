"""Model update: the parameters that a refit has estimated, as plain data that is sent to every replica."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crowdpilot.hybrid.campaign.acquisition import AcquisitionValues
from crowdpilot.hybrid.campaign.estimation.misleading_share import MisleadingShares
from crowdpilot.hybrid.campaign.estimation.question import Question
from crowdpilot.hybrid.campaign.saved_state import (
    MODEL_UPDATE_FORMAT,
    MODEL_UPDATE_VERSION,
    check_header,
    header,
)
from crowdpilot.json_values import pack, unpack


def write_model_update(
    questions: Sequence[Question], values: AcquisitionValues, *, with_classifier: bool
) -> dict[str, Any]:
    """The estimates of the last refit; with or without the classifier's probabilities of all items."""
    return {
        **header(MODEL_UPDATE_FORMAT, MODEL_UPDATE_VERSION),
        "questions": [
            {
                "kind_confusion": pack(question.matrices.kind_confusion),
                "workers": pack(question.matrices.with_votes),
                "log_confusion": pack(question.matrices.own()),
                "class_prior": pack(question.class_prior),
                "temperature": pack(question.posteriors.temperature),
                "misleading_shares": list(question.posteriors.shares),
                "learned_from_votes": question.posteriors.learned_from_votes,
                "classifier_probs": pack(question.classifier_probs if with_classifier else None),
            }
            for question in questions
        ],
        "share_with_votes": values.share_with_votes,
        "training_value": values.training_value,
        "learning_curve": [list(point) for point in values.learning_curve],
    }


def read_model_update(
    questions: Sequence[Question], values: AcquisitionValues, update: Mapping[str, Any]
) -> None:
    """Take over the estimates and recompute the posterior of all items; acquisition values stay as they are.

    Items newer than the update get the mean probabilities of its classifier, as new items do; newer workers
    and those without votes get the confusion matrix of their kind. Updates of version 1 are read too.
    """
    check_header(update, MODEL_UPDATE_FORMAT, MODEL_UPDATE_VERSION, 1)
    for question, estimates in zip(questions, update["questions"], strict=True):
        question.matrices.kind_confusion = unpack(estimates["kind_confusion"])
        log_confusion = unpack(estimates["log_confusion"])
        in_version_1 = np.arange(len(log_confusion))  # all workers, with votes or without
        workers = unpack(estimates["workers"]) if "workers" in estimates else in_version_1
        question.matrices.replace(workers, log_confusion)
        if not estimates["learned_from_votes"]:
            question.posteriors.forget_calibration()
        question.posteriors.class_prior = unpack(estimates["class_prior"])
        question.posteriors.temperature = estimates["temperature"]
        question.posteriors.set_shares(MisleadingShares(*estimates["misleading_shares"]))
        question.posteriors.learned_from_votes = estimates["learned_from_votes"]
        if estimates["classifier_probs"] is not None:
            probs = unpack(estimates["classifier_probs"])
            rest = np.tile(probs.mean(axis=0), (len(question.gold) - len(probs), 1))
            question.posteriors.classifier_probs = np.concatenate([probs, rest])
        question.recompute()
    values.share_with_votes = update["share_with_votes"]
    values.training_value = update["training_value"]
    values.learning_curve = [(votes, loss) for votes, loss in update["learning_curve"]]
