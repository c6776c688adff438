"""Stakes: what decisions cost as one question about an item sees it."""

from __future__ import annotations

import numpy as np

from crowdpilot.arrays import Floats


def stakes(probs: list[Floats], q: int, errors: Floats) -> tuple[Floats, Floats]:
    """Costs of decisions about items given question *q* alone, and how probably all the others hold.

    Parameters
    ----------
    probs
        What is believed of some items, for each question, (items, classes).
    q
        The question.
    errors
        Costs of decisions about items, (classes, decisions).
    """
    others = [p[:, 1] for n, p in enumerate(probs) if n != q]
    if not others:
        return errors, np.ones(len(probs[0]))
    rest: Floats = np.prod(others, axis=0)
    holds = rest[:, None] * errors[1] + (1 - rest)[:, None] * errors[0]
    fails = np.broadcast_to(errors[0], holds.shape)
    return np.stack([fails, holds], axis=1), rest
