"""Model updates are stored as bytes, and read in the format of today and in that of before."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pytest

from crowdpilot.hybrid import Campaign, Costs
from crowdpilot.service.store import saved_state

VOTES = [("a", "ann", "yes"), ("b", "ann", "no"), ("a", "bob", "yes"), ("c", "bob", "no")]


def campaign() -> Campaign:
    made = Campaign(list("abc"), ["no", "yes"], Costs.binary(fp=1, fn=2), classifier_probs=[[0.4, 0.6]] * 3)
    made.tell(VOTES, refit=False)
    return made


@pytest.fixture
def update() -> dict[str, Any]:
    source = campaign()
    source.refit()
    return source.model_update(with_classifier=True)


@pytest.mark.parametrize("version", ["bytes", "compressed JSON"])
def test_a_stored_model_update_is_applied_as_it_was_made(update: dict[str, Any], version: str) -> None:
    stored = saved_state.pack_model_update(update)
    if version == "compressed JSON":  # as it was written before
        stored = zlib.compress(json.dumps(update).encode(), 1)
    direct, restored = campaign(), campaign()
    direct.apply_model_update(update)
    restored.apply_model_update(saved_state.unpack_model_update(stored))
    np.testing.assert_array_equal(restored.posterior(), direct.posterior())
    assert json.dumps(restored.model_update()) == json.dumps(direct.model_update())


def test_arrays_are_stored_as_bytes_and_not_as_text(update: dict[str, Any]) -> None:
    stored = saved_state.pack_model_update(update)
    packed = update["questions"][0]["log_confusion"]["array"]
    assert packed.encode() not in stored
    assert len(stored) < len(json.dumps(update))
