"""Fit one of our models, alone in its process, under the terms of `peer_runner`."""

from __future__ import annotations

import json
import sys
from typing import Any

from benchmarks.peer_runner import Columns, Fit, Fitted, main
from crowdpilot.aggregation import MODELS
from crowdpilot.votes import Votes


def crowdpilot(model: str, options: dict[str, Any], columns: Columns) -> Fit:
    """Prepare one of our models; it takes votes."""
    votes = Votes.of(**columns, repeats="all")
    aggregator = MODELS[model](**options)

    def fit() -> Fitted:
        result = aggregator.fit(votes)
        return Fitted(votes.tasks, result.labels, len(result.trace) or None)

    return fit


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), {"crowdpilot": crowdpilot})
