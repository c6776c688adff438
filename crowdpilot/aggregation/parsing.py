"""From the name of a strategy, with options in brackets, to a model."""

from __future__ import annotations

from collections.abc import Mapping

from crowdpilot.aggregation.base import Aggregator
from crowdpilot.option_strings import choose


def parse(text: str, models: Mapping[str, type[Aggregator]]) -> Aggregator:
    """The model that `text` names, such as `glad` or `DSWC[L=5]`."""
    known = {n: m for m in models.values() for n in (m.name, m.__name__, *m.aliases)}
    model, options = choose(text, known, "strategy")
    return model(**options)
