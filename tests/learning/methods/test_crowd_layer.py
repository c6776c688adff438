"""CrowdLayer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from crowdpilot.learning.data.batches import Batches
from crowdpilot.learning.data.rows import Dense
from crowdpilot.learning.methods import CrowdLayer
from crowdpilot.votes import Votes

KINDS = ["mw", "vw", "vb", "vw+b"]


def softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_formula_of_the_paper(kind: str, simulated: tuple[Votes, np.ndarray]) -> None:
    """Rodrigues and Pereira 2018, section 3: f_r(sigma) = W_r sigma, v_r * sigma, sigma + b_r, and both."""
    votes, _ = simulated
    rng = np.random.default_rng(1)
    x = rng.normal(size=(len(votes.tasks), 3))
    net = nn.Linear(3, 3).double()
    method = CrowdLayer(net, votes, kind=kind).double()  # type: ignore[arg-type]
    own = {name: rng.normal(size=part.shape) for name, part in method.named_parameters() if "net" not in name}
    method.load_state_dict({**method.state_dict(), **{name: torch.tensor(own[name]) for name in own}})
    probs = softmax(x @ net.weight.detach().numpy().T + net.bias.detach().numpy())
    costs = []
    for task, worker, label in zip(votes.task, votes.worker, votes.label, strict=True):
        said = probs[task]
        if kind == "mw":
            said = own["matrix"][worker].T @ said
        if "vw" in kind:
            said = own["scale"][worker] * said
        if "b" in kind:
            said = said + own["bias"][worker]
        costs.append(-np.log(softmax(said)[label]))
    batch = Batches(Dense(torch.tensor(x), torch.device("cpu")), votes).batch(torch.arange(len(x)))
    assert method.loss(batch).item() == pytest.approx(np.mean(costs))


@pytest.mark.parametrize("kind", KINDS)
def test_it_begins_with_workers_who_are_alike_and_mostly_right(
    kind: str, simulated: tuple[Votes, np.ndarray]
) -> None:
    method = CrowdLayer(nn.Linear(3, 3), simulated[0], kind=kind)  # type: ignore[arg-type]
    matrices = method.confusion().detach().numpy()
    np.testing.assert_allclose(matrices, np.broadcast_to(softmax(np.eye(3)), matrices.shape), rtol=1e-5)


def test_unknown_kinds_are_refused(simulated: tuple[Votes, np.ndarray]) -> None:
    with pytest.raises(ValueError, match="kind is 'wm', expected one of mw, vw, vb"):
        CrowdLayer(nn.Linear(3, 3), simulated[0], kind="wm")  # type: ignore[arg-type]
