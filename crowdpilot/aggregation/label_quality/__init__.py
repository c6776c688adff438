"""Labels, their quality, annotators and what to label next, from a table of labels and a classifier."""

from __future__ import annotations

from crowdpilot.aggregation.label_quality.estimation import consensus
from crowdpilot.aggregation.label_quality.tables import Consensus

__all__ = ["Consensus", "consensus"]
