"""What every way to learn from votes promises."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from crowdpilot.learning import METHODS, CrowdClassifier
from crowdpilot.learning.data.batches import Batch, Batches
from crowdpilot.learning.data.rows import Dense
from crowdpilot.learning.method import Method
from crowdpilot.learning.registry import find_method
from crowdpilot.learning.training.loop import evaluate_all, seeded
from crowdpilot.votes import Votes
from tests.crowds import votes_and_features

VARIANTS = {
    *(f"crowdlayer[kind='{kind}']" for kind in ("vw", "vb", "vw+b")),
    "conal[scale=0.1,embedding=3]",
    "anno_reg[strength=0]",
    "two_stage[labels='dawid_skene',targets='shard']",
}
ALL = [*METHODS, *sorted(VARIANTS)]
FORESEEING = [name for name in ALL if name.split("[")[0] in ("crowdlayer", "conal", "anno_reg", "wdn")]
CPU = torch.device("cpu")
TASKS, FEATURES, WORKERS, CLASSES = 40, 4, 6, 4


@pytest.fixture(scope="module")
def random_votes() -> tuple[Tensor, Votes]:
    """Random votes; the last worker gave none, and nobody gave the last class."""
    rng = np.random.default_rng(0)
    task = np.repeat(np.arange(TASKS), 3)
    worker = np.concatenate([rng.choice(WORKERS - 1, 3, replace=False) for _ in range(TASKS)])
    label = rng.integers(0, CLASSES - 1, len(task))
    names = np.arange(TASKS), np.arange(WORKERS), np.arange(CLASSES)
    return torch.tensor(rng.normal(size=(TASKS, FEATURES))), Votes(task, worker, label, *names)


def build(name: str, votes: Votes, epoch: int = 0, net: nn.Module | None = None) -> Method:
    """A method with weights that are nowhere near where training begins, ready for an epoch of 10."""
    with seeded(0, 0, CPU):
        net = net or nn.Sequential(nn.Linear(FEATURES, 5), nn.Tanh(), nn.Linear(5, CLASSES))
        method = find_method(name)(net, votes).double()
        for part in method.parameters():
            part.data += 0.3 * torch.randn_like(part)
        x = torch.randn(len(votes.tasks), FEATURES, dtype=torch.float64)
    batches = Batches(Dense(x, CPU), votes)
    for early in range(epoch + 1):
        method.before_epoch(early, 10, lambda look: evaluate_all(method, batches, look))
    return method


def whole(x: Tensor, votes: Votes) -> Batch:
    """All tasks in one batch."""
    batch = Batches(Dense(x, CPU), votes).batch(torch.arange(len(votes.tasks)))
    return batch._replace(weight=batch.weight.double())


def one_vote(batch: Batch, n: int) -> Batch:
    """A batch with one task and one vote."""
    row = int(batch.row[n])
    at = slice(n, n + 1)
    return Batch(
        batch.x[[row]], batch.task[[row]], torch.zeros(1, dtype=torch.long),
        batch.worker[at], batch.label[at], batch.weight[at],
    )  # fmt: skip


@pytest.mark.parametrize("epoch", [0, 9])
@pytest.mark.parametrize("name", ALL)
def test_the_gradient_of_the_loss_is_its_slope(name: str, epoch: int, random_votes: Any) -> None:
    method, batch = build(name, random_votes[1], epoch), whole(*random_votes)
    learned = [part for part in method.parameters() if part.requires_grad]
    slopes = torch.autograd.grad(method.loss(batch), learned, allow_unused=True)
    assert any(slope is not None and slope.abs().max() > 1e-4 for slope in slopes)
    step, rng = 1e-5, torch.Generator().manual_seed(1)
    for part, slope in zip(learned, slopes, strict=True):
        way = torch.randn(part.shape, generator=rng, dtype=part.dtype)
        ends = []
        for sign in (1, -1):
            part.data += sign * step * way
            ends.append(method.loss(batch).item())
            part.data -= sign * step * way
        expected = 0.0 if slope is None else float((slope * way).sum())
        assert (ends[0] - ends[1]) / (2 * step) == pytest.approx(expected, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("name", [name for name in ALL if name != "two_stage"])
def test_what_a_worker_says_is_a_distribution(name: str, random_votes: Any) -> None:
    x, votes = random_votes
    method = build(name, votes)
    said = method.predict_votes(x).detach()
    assert said.shape == (TASKS, WORKERS, CLASSES)
    assert (said > 0).all()
    np.testing.assert_allclose(said.sum(dim=-1), 1, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in ALL if name not in ("two_stage", "wdn")])
def test_rows_of_confusion_matrices_are_distributions(name: str, random_votes: Any) -> None:
    matrices = build(name, random_votes[1]).confusion().detach()
    assert matrices.shape == (WORKERS, CLASSES, CLASSES)
    assert (matrices > 0).all()
    np.testing.assert_allclose(matrices.sum(dim=-1), 1, atol=1e-6)


@pytest.mark.parametrize("name", FORESEEING)
def test_the_loss_of_a_vote_is_minus_the_log_of_its_probability(name: str, random_votes: Any) -> None:
    """A penalty on matrices is the same for all votes of a worker, and so it has no part in differences."""
    x, votes = random_votes
    method, batch = build(name, votes), whole(*random_votes)
    logs = method.predict_votes(x).log().detach()
    seen = 0
    for worker in range(WORKERS - 1):
        a, b = np.flatnonzero(batch.worker == worker)[:2]
        losses = [method.loss(one_vote(batch, n)).item() for n in (a, b)]
        chances = [float(logs[batch.row[n], worker, batch.label[n]]) for n in (a, b)]
        assert losses[0] - losses[1] == pytest.approx(chances[1] - chances[0])
        seen += abs(chances[0] - chances[1]) > 1e-3
    assert seen > 2


@pytest.mark.parametrize("name", ALL)
def test_a_vote_of_weight_two_counts_as_two_votes(name: str, random_votes: Any) -> None:
    x, votes = random_votes
    heavy = votes.label == 0
    weighed = replace(votes, weight=np.where(heavy, 2.0, 1.0))
    twice = votes.take(np.concatenate([np.arange(len(votes)), np.flatnonzero(heavy)]))
    losses = [build(name, v).loss(whole(x, v)).item() for v in (weighed, twice, votes)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
    assert losses[0] != pytest.approx(losses[2], rel=1e-4)


@pytest.mark.parametrize("name", ALL)
def test_a_method_in_the_state_of_another_says_the_same(name: str, random_votes: Any) -> None:
    x, votes = random_votes
    method = build(name, votes, epoch=9)
    net = nn.Sequential(nn.Linear(FEATURES, 5), nn.Tanh(), nn.Linear(5, CLASSES))
    other = find_method(name)(net, votes).double()
    assert not torch.equal(other(x), method(x))
    other.load_state_dict(copy.deepcopy(method.state_dict()))
    torch.testing.assert_close(other(x), method(x), rtol=0, atol=0)
    if name != "two_stage":
        torch.testing.assert_close(other.predict_votes(x), method.predict_votes(x), rtol=0, atol=0)


@pytest.mark.parametrize("name", ALL)
def test_every_task_may_come_alone(name: str, random_votes: Any) -> None:
    x, votes = random_votes
    method, batches = build(name, votes), Batches(Dense(x, CPU), votes)
    for task in range(3):
        batch = batches.batch(torch.tensor([task]))
        assert torch.isfinite(method.loss(batch._replace(weight=batch.weight.double())))


@pytest.mark.parametrize("epoch", [0, 9])
@pytest.mark.parametrize("name", ALL)
def test_a_batch_may_hold_no_votes_but_gold(name: str, epoch: int, random_votes: Any) -> None:
    x, votes = random_votes
    gold = np.where(np.arange(TASKS) < 3, 1, -1)
    method = build(name, replace(votes.take(votes.task > 4), gold=gold), epoch)
    batch = Batches(Dense(x, CPU), replace(votes.take(votes.task > 4), gold=gold)).batch(torch.arange(3))
    assert len(batch.row) == 0
    method.loss_with_gold(batch._replace(weight=batch.weight.double())).backward()
    slopes = [part.grad for part in method.parameters() if part.grad is not None]
    assert all(torch.isfinite(slope).all() for slope in slopes)
    assert any(slope.abs().max() > 0 for slope in slopes)


@pytest.mark.parametrize("name", ALL)
def test_the_shape_of_a_row_does_not_matter(name: str, random_votes: Any) -> None:
    x, votes = random_votes
    batch = whole(x, votes)
    flat = build(name, votes)
    method = build(name, votes, net=nn.Sequential(nn.Flatten(), *_layers()))
    method.load_state_dict({k: flat.state_dict()[_unshifted(k)] for k in method.state_dict()})
    square = batch._replace(x=x.view(TASKS, 2, 2))
    assert method.loss(square).item() == pytest.approx(flat.loss(batch).item())


def _layers() -> list[nn.Module]:
    return [nn.Linear(FEATURES, 5), nn.Tanh(), nn.Linear(5, CLASSES)]


def _unshifted(key: str) -> str:
    """The name of a weight in a network without the first layer."""
    parts = key.split(".")
    number = next((n for n in range(len(parts) - 2, 0, -1) if parts[n].isdigit()), None)
    if number is not None and parts[0] == "net":
        parts[number] = str(int(parts[number]) - 1)
    return ".".join(parts)


def informative() -> tuple[np.ndarray, Votes, np.ndarray]:
    """Features that tell the class, and workers of whom two thirds err often."""
    return votes_and_features(240, [0.9, 0.9, 0.5, 0.5, 0.45, 0.45], classes=3, votes_per_task=3, seed=0)


@pytest.mark.parametrize("name", ALL)
def test_training_is_better_than_a_worker_and_the_seed_decides_it(name: str) -> None:
    X, votes, truth = informative()
    made = [CrowdClassifier("mlp[hidden=16]", name, epochs=15, lr=0.01, seed=seed) for seed in (1, 1, 2)]
    probs = [model.fit(X, votes).predict_proba(X) for model in made]
    worker = (votes.label == truth[votes.task]).mean()
    assert (probs[0].argmax(axis=1) == truth).mean() > worker + 0.15
    np.testing.assert_array_equal(probs[0], probs[1])
    assert abs(probs[0] - probs[2]).max() > 1e-3


@pytest.mark.parametrize("name", ALL)
def test_known_classes_are_learned_from(name: str) -> None:
    """All votes say the next class; only gold labels can tell."""
    X, votes, truth = informative()
    wrong = replace(votes, label=(truth[votes.task] + 1) % 3)
    with_gold = replace(wrong, gold=np.where(np.arange(len(truth)) % 4 < 3, truth, -1))
    share = []
    for v in (wrong, with_gold):
        model = CrowdClassifier("mlp[hidden=16,dropout=0]", name, epochs=20, lr=0.01).fit(X, v)
        share.append((model.predict(X) == truth).mean())
    assert share[0] < 0.3
    assert share[1] > share[0] + 0.2


@pytest.mark.parametrize("name", ALL)
def test_workers_and_classes_without_votes_do_no_harm(name: str) -> None:
    X, votes, truth = informative()
    names = np.arange(8), np.arange(5)
    more = Votes(votes.task, votes.worker + 1, votes.label + 1, votes.tasks, *names)
    model = CrowdClassifier("mlp[hidden=16]", name, epochs=15, lr=0.01).fit(X, more)
    probs = model.predict_proba(X)
    assert np.isfinite(probs).all()
    assert (probs.argmax(axis=1) == truth + 1).mean() > 0.7
    state = model.method_.state_dict().values()
    assert all(torch.isfinite(part).all() for part in state if part.is_floating_point())


@pytest.mark.parametrize("name", ALL)
def test_half_precision_learns_too(name: str) -> None:
    X, votes, truth = informative()
    model = CrowdClassifier("mlp[hidden=16]", name, epochs=15, lr=0.01, precision="mixed").fit(X, votes)
    assert (model.predict(X) == truth).mean() > 0.75
