"""Rounds of models with a table as one pass over the votes on a GPU."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from crowdpilot.aggregation.em.backend import Params, Stats
from crowdpilot.scale.gpu import triton_kernel
from crowdpilot.scale.gpu.device_backend import Device


class OnePass(Device):
    """A device for `TableEM` models: beliefs are not written in a round, but counted while at hand."""

    _last: tuple[Any, Any] = (None, None)  # parameters and their table, for the next part

    @property
    def longest(self) -> int:
        return 2**30  # beliefs need no room

    def expected_counts(self, model: Any, part: Any, belief: Tensor) -> Stats:
        counts = triton_kernel.tell(part, belief.to(self._target, self._numbers).contiguous())
        return model.counts_from_table(counts.seen, counts.said)  # type: ignore[no-any-return]  # `TableEM` says so

    def visit(self, model: Any, part: Any, params: Params) -> tuple[Stats, Tensor]:
        counts = triton_kernel.listen(part, *self._table(model, params), hard=model.hard)
        return model.counts_from_table(counts.seen, counts.said), counts.loglik

    def part_posterior(self, model: Any, part: Any, params: Params) -> Tensor:
        return triton_kernel.believe(part, *self._table(model, params))

    def _table(self, model: Any, params: Params) -> tuple[Tensor, Tensor]:
        """The table as the kernel takes it."""
        if self._last[0] is not params:
            table = model.table(params)
            said = table.log_likelihood.to(self._numbers).contiguous()
            self._last = params, (said, table.log_prior.contiguous())
        made: tuple[Tensor, Tensor] = self._last[1]
        return made
