"""Weighted Doctor Net."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.data.batches import Batch, Batches
from crowdpilot.learning.data.rows import Dense
from crowdpilot.learning.methods import DoctorNet
from crowdpilot.votes import Votes

Simulated = tuple[Votes, np.ndarray]


def softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)


def no_evaluation(look: object) -> Tensor:
    raise AssertionError("nothing needs to be swept")


def batch_of(x: np.ndarray | Tensor, votes: Votes) -> Batch:
    rows = Dense(torch.as_tensor(x), torch.device("cpu"))
    return Batches(rows, votes).batch(torch.arange(len(votes.tasks)))


@pytest.fixture
def drawn(simulated: Simulated) -> tuple[DoctorNet, dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """A method, its random weights, x, and what each worker says of x by Eq. 5."""
    votes, _ = simulated
    rng = np.random.default_rng(1)
    x = rng.normal(size=(len(votes.tasks), 4))
    net = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    method = DoctorNet(net, votes).double()
    p = {name: rng.normal(size=part.shape) for name, part in method.state_dict().items() if name != "voted"}
    method.load_state_dict(
        {**method.state_dict(), **{name: torch.tensor(value) for name, value in p.items()}}
    )
    hidden = np.tanh(x @ p["net.0.weight"].T + p["net.0.bias"])
    heads = p["net.2.weight"].reshape(8, 3, 5), p["net.2.bias"].reshape(8, 3)
    said = softmax(np.einsum("nd,jkd->njk", hidden, heads[0]) + heads[1])
    return method, p, x, said


def test_the_first_phase_predicts_the_votes_of_each_worker(drawn: tuple, simulated: Simulated) -> None:
    """Eqs. 5 and 6 of Shu et al. on the model of Guan et al. 2018."""
    votes, _ = simulated
    method, _, x, said = drawn
    method.before_epoch(0, 10, no_evaluation)
    expected = -np.log(said[votes.task, votes.worker, votes.label]).mean()
    assert method.loss(batch_of(x, votes)).item() == pytest.approx(expected)
    assert not method.weight_logits.requires_grad


def test_the_second_phase_brings_the_weighted_mean_to_the_shares_of_the_votes(
    drawn: tuple, simulated: Simulated
) -> None:
    """Eq. 7, with cross-entropy as the loss, on tasks with one to five votes."""
    votes, _ = simulated
    votes = votes.take(np.arange(len(votes)) % 5 <= votes.task % 5)
    method, p, x, said = drawn
    method.before_epoch(9, 10, no_evaluation)
    mean = np.einsum("j,njk->nk", softmax(method.speed * p["weight_logits"]), said)
    shares = votes.tally() / votes.tally().sum(axis=1, keepdims=True)
    expected = -(shares * np.log(mean)).sum(axis=1).mean()
    assert method.loss(batch_of(x, votes)).item() == pytest.approx(expected)
    np.testing.assert_allclose(method(torch.tensor(x)).softmax(dim=-1).detach(), mean)


def test_the_second_phase_learns_the_weights_alone(simulated: Simulated) -> None:
    votes, truth = simulated
    X = np.eye(3)[truth]
    net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(), nn.Linear(8, 3))
    seen: list[dict[str, Tensor]] = []

    class Watched(DoctorNet):
        def before_epoch(self, epoch: int, epochs: int, evaluate_all: object) -> None:
            seen.append({name: part.clone() for name, part in self.state_dict().items()})
            super().before_epoch(epoch, epochs, evaluate_all)  # type: ignore[arg-type]

    CrowdClassifier(net, Watched, epochs=6, lr=0.01, standardize=False).fit(X, votes)
    for n, (before, after) in enumerate(pairwise(seen)):
        same = {name.split(".")[0] for name in before if torch.equal(before[name], after[name])}
        changed = {name.split(".")[0] for name in before if not torch.equal(before[name], after[name])}
        assert (changed == {"net"}) if n < 3 else (changed == {"weight_logits"})
        assert "voted" in same


def test_weights_make_the_mean_more_like_the_votes_than_equal_weights(simulated: Simulated) -> None:
    votes, truth = simulated
    X = np.eye(3)[truth] + np.random.default_rng(0).normal(0, 0.3, (len(truth), 3))
    settings = {"wdn[second=0]": 20, "wdn[second=0.5]": 40}
    made = [CrowdClassifier("linear", name, epochs=epochs, lr=0.01) for name, epochs in settings.items()]
    equal, weighed = (model.fit(X, votes).predict_proba(X)[votes.task, votes.label] for model in made)
    assert -np.log(weighed).mean() < -np.log(equal).mean() - 0.01


def test_workers_start_equal_and_the_original_network_is_not_changed(simulated: Simulated) -> None:
    votes, _ = simulated
    net = nn.Sequential(nn.Linear(4, 5), nn.Linear(5, 3, bias=False))
    before = {name: part.clone() for name, part in net.state_dict().items()}
    method = DoctorNet(net, votes)
    x = torch.randn(6, 4)
    torch.testing.assert_close(method.predict_votes(x), net(x).softmax(dim=-1)[:, None].expand(-1, 8, -1))
    torch.testing.assert_close(method(x).softmax(dim=-1), net(x).softmax(dim=-1))
    assert net.state_dict().keys() == before.keys()
    assert all(torch.equal(part, before[name]) for name, part in net.state_dict().items())


def test_a_worker_without_votes_has_no_say(simulated: Simulated) -> None:
    votes, _ = simulated
    method = DoctorNet(nn.Linear(4, 3), votes.take(votes.worker != 2))
    x = torch.randn(6, 4)
    before = method(x)
    method.net.weight.data[6] += 5  # in the head of worker 2
    torch.testing.assert_close(method(x), before)
    method.net.weight.data[3] += 5
    assert not torch.allclose(method(x), before)


def test_what_was_frozen_stays_frozen(simulated: Simulated) -> None:
    net = nn.Sequential(nn.Linear(4, 5).requires_grad_(False), nn.Linear(5, 3))
    method = DoctorNet(net, simulated[0])
    method.before_epoch(0, 10, no_evaluation)
    learned = {name for name, part in method.named_parameters() if part.requires_grad}
    assert learned == {"net.1.weight", "net.1.bias"}


@pytest.mark.parametrize(("second", "first"), [(0.09, 0), (0.25, 8), (0.5, 5), (0.99, 1)])
def test_the_second_phase_has_its_share_of_the_epochs_and_decides_if_there_is_one(
    second: float, first: int, simulated: Simulated
) -> None:
    method = DoctorNet(nn.Linear(4, 3), simulated[0], second=second)
    assert method.first_selectable_epoch(10) == first
    weighing = []
    for epoch in range(10):
        method.before_epoch(epoch, 10, no_evaluation)
        weighing.append(method.weight_logits.requires_grad)
    assert weighing == [epoch >= (first or 10) for epoch in range(10)]


def test_settings_and_networks_that_make_no_sense_are_refused(simulated: Simulated) -> None:
    votes, _ = simulated
    with pytest.raises(ValueError, match="second is 1 and speed"):
        DoctorNet(nn.Linear(4, 3), votes, second=1)
    with pytest.raises(ValueError, match="wdn repeats the last linear layer of a network"):
        DoctorNet(nn.Sequential(nn.Linear(4, 5), nn.Tanh()), votes)
    with pytest.raises(ValueError, match="call predict_votes"):
        DoctorNet(nn.Linear(4, 3), votes).confusion()
