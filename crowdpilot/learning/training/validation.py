"""How good a method is on rows that it does not learn from."""

from __future__ import annotations

from collections.abc import Callable

from crowdpilot import metrics
from crowdpilot.learning.data.batches import Rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.prediction import foretell
from crowdpilot.learning.training.loop import Scores
from crowdpilot.votes import Votes

TIEBREAK = 1e-4  # of epochs with equal accuracy, the one with the smaller log-loss is better


def validator(rows: Rows, known: Votes) -> Callable[[Method], Scores]:
    """The function that scores a method on these rows, by votes on them or by their true labels."""

    def validate(method: Method) -> Scores:
        said, truth, weight = foretell(method, rows)[known.task], known.label, known.weight
        scores = {
            "val_accuracy": metrics.accuracy(truth, said.argmax(axis=1), weight=weight),
            "val_log_loss": metrics.log_loss(truth, said, weight=weight),
            "val_ece": metrics.ece(truth, said, weight=weight),
        }
        return scores | {"score": scores["val_accuracy"] - TIEBREAK * scores["val_log_loss"]}

    return validate
