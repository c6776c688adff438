"""What a trained method says of rows, and of tasks that have votes."""

from __future__ import annotations

import numpy as np
import torch

from crowdpilot.arrays import Floats, softmax
from crowdpilot.confusion_matrices import hear
from crowdpilot.learning.data.batches import Batches, Rows
from crowdpilot.learning.method import Method
from crowdpilot.learning.training.loop import in_parts, sweep
from crowdpilot.votes import Votes

LEAST = 1e-6  # a probability of a confusion matrix counts as at least this


def foretell(method: Method, rows: Rows) -> Floats:
    """The probability of each class of each row, (rows, classes), by the method as it is deployed."""
    method.eval()
    device = next(method.parameters()).device
    with torch.no_grad():
        logits = [method(rows.take(part, train=False).to(device)).float().cpu() for part in in_parts(rows)]
    return softmax(torch.cat(logits).numpy().astype(np.float64))


def posterior(method: Method, rows: Rows, votes: Votes) -> Floats:
    """The probability of each class of each training task given content and votes, (tasks, classes).

    The network is the prior, and the confusion matrices of the method weigh the votes; a method
    without a model of the workers says what its network says.
    """
    device = next(method.parameters()).device
    found = sweep(method, Batches(rows, votes, device), method.prior).float().cpu().numpy()
    logs = found.astype(np.float64)
    if (matrices := _matrices(method)) is None:
        return votes.clamp(softmax(logs))
    heard = hear(votes, np.log(np.maximum(matrices, LEAST)))
    return votes.clamp(softmax(logs + method.weigh(logs) * heard))


def _matrices(method: Method) -> Floats | None:
    try:
        with torch.no_grad():
            return method.confusion().cpu().numpy().astype(np.float64)
    except ValueError:
        return None
