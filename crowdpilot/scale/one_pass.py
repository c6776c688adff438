"""Rounds of models with a table as one pass over the votes on a GPU."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from crowdpilot.aggregate.em import EM
from crowdpilot.aggregate.places import Params, Stats
from crowdpilot.aggregate.tabled import Tabled
from crowdpilot.scale import kernel
from crowdpilot.scale.device import Device


class OnePass(Device):
    """A device where beliefs are not written in a round, but counted while they are at hand."""

    _last: tuple[Any, Any] = (None, None)  # parameters and their table, for the next part

    @property
    def longest(self) -> int:
        return 2**30  # beliefs need no room

    def count(self, model: EM, part: Any, belief: Tensor) -> Stats:
        if not isinstance(model, Tabled) or belief.shape[1] > kernel.WIDEST:
            return super().count(model, part, belief)
        return _gather(model, kernel.tell(part, self._own(belief).contiguous()))

    def visit(self, model: EM, part: Any, params: Params) -> tuple[Stats, Tensor]:
        if not isinstance(model, Tabled) or (table := self._table(model, params)) is None:
            return super().visit(model, part, params)
        counts = kernel.listen(part, *table, hard=model.hard)
        return _gather(model, counts), counts.loglik

    def beliefs(self, model: EM, part: Any, params: Params) -> Tensor:
        if not isinstance(model, Tabled) or (table := self._table(model, params)) is None:
            return super().beliefs(model, part, params)
        return kernel.believe(part, *table, hard=False)

    def _table(self, model: Tabled, params: Params) -> tuple[Tensor, Tensor] | None:
        """The table as the kernel takes it; nothing if it has too many states."""
        if self._last[0] is not params:
            table: Any = model.table(params)
            self._last = params, tuple(self._own(array).contiguous() for array in table)
        said, start = self._last[1]
        return (said, start) if len(start) <= kernel.WIDEST else None


def _gather(model: Tabled, counts: kernel.Counts) -> Stats:
    seen: Any = counts.seen
    said: Any = counts.said
    return model.gather(seen, said)
