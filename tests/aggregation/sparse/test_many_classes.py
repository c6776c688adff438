"""Many classes: sparse posteriors are equal to the dense ones, and take far less memory."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdpilot.aggregation import MODELS, CommonMistakes, Honest, NotConverged, TooManyClasses, base
from crowdpilot.aggregation.em.backend import sum_stats
from crowdpilot.aggregation.em.default_backend import IN_MEMORY
from crowdpilot.aggregation.em.in_memory_backend import split_tasks
from crowdpilot.aggregation.sparse import candidates, honest_posterior
from crowdpilot.aggregation.sparse.em import CoinParams
from crowdpilot.votes import Votes
from tests.crowds import next_class_votes, one_coin_votes

OF_OTHERS = {"auto", "honest"}  # take the posteriors of other models
WIDE = [name for name, model in MODELS.items() if model.supports_sparse and name not in OF_OTHERS]
wide = pytest.mark.parametrize("name", WIDE)


@pytest.fixture
def thirty() -> Votes:
    """Votes of 30 classes with weights, gold, ties, and a task that nobody labelled."""
    votes, truth = next_class_votes(tasks=150, workers=12, classes=30, votes=450)
    gold = np.where(np.arange(150) % 9 == 0, truth, -1)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(votes))
    return replace(votes, gold=gold, weight=weight).take(votes.task != 7)


def forced(model, votes, **options):
    """The result as if an array (tasks, classes) were too large."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(candidates, "MAX_DENSE_CELLS", 0)
        patched.setattr(candidates, "DENSE_CELLS_PER_VOTE", 0)
        return model.fit(votes, **options)


@wide
@pytest.mark.parametrize("gold", [True, False])
def test_sparse_posteriors_are_the_dense_ones(name, gold, thirty):
    votes = thirty if gold else replace(thirty, gold=None)
    model = MODELS[name]()
    dense, sparse = model.fit(votes), forced(model, votes)
    assert sparse.posterior.nnz <= len(votes) + 150
    np.testing.assert_allclose(sparse.rows(np.arange(150)), dense.probs, atol=1e-9)
    np.testing.assert_allclose(sparse.skill, dense.skill, atol=1e-9)
    np.testing.assert_array_equal(sparse.codes, dense.codes)
    np.testing.assert_allclose(sparse.confidence, dense.confidence, atol=1e-9)
    np.testing.assert_allclose(sparse.trace, dense.trace)
    assert sparse.to_table().column("label") == dense.to_table().column("label")
    assert sparse.to_workers_table().num_rows == 12


@pytest.mark.parametrize("name", ["one_coin", "common_mistakes"])
@pytest.mark.parametrize("prior", ["estimated", tuple(np.arange(1, 31) / 465)])
def test_a_prior_is_shared_by_those_that_are_not_listed(name, prior, thirty):
    model = MODELS[name](prior=prior)
    dense, sparse = model.fit(thirty), forced(model, thirty)
    np.testing.assert_allclose(sparse.rows(np.arange(150)), dense.probs, atol=1e-9)
    np.testing.assert_array_equal(sparse.codes, dense.codes)
    np.testing.assert_allclose(sparse.params["prior"], dense.params["prior"], atol=1e-9)


@wide
def test_a_start_and_a_history_are_used_as_with_few_classes(name, thirty):
    model = MODELS[name]()
    old = {
        "start": thirty.take(slice(0, 300)),
        "history": next_class_votes(150, 14, 30, votes=300, seed=5)[0],
    }
    for word, able in (("start", model.warm_start), ("history", model.uses_history)):
        if able:
            dense = model.fit(thirty, **{word: model.fit(old[word])})
            sparse = forced(model, thirty, **{word: forced(model, old[word])})
            np.testing.assert_allclose(sparse.rows(np.arange(150)), dense.probs, atol=1e-9)


small = st.integers(0, 4)


@wide
@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(small, small, small, st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30),
    gold=st.dictionaries(small, small),
)
def test_no_input_is_too_odd_to_be_sparse(name, rows, gold):
    task, worker, label, weight = map(np.array, zip(*rows, strict=True))
    names = dict.fromkeys(("tasks", "workers", "classes"), np.arange(6))
    votes = Votes(task, worker, label, **names, weight=weight).with_gold(gold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        dense, sparse = MODELS[name]().fit(votes), forced(MODELS[name](), votes)
    np.testing.assert_allclose(sparse.rows(np.arange(6)), dense.probs, atol=1e-9)
    np.testing.assert_array_equal(sparse.codes, dense.codes)


def test_a_worker_worse_than_chance_speaks_for_the_other_classes():
    """The most probable class may be one that nobody gave."""
    task, label = np.arange(60), np.arange(60) % 5
    votes = Votes.of([*task, 99], ["x"] * 61, [*label, 2], classes=list(range(6)))
    votes = votes.with_gold({int(t): int(k + 1) % 5 for t, k in zip(task, label, strict=True)})
    model = MODELS["one_coin"](trust=0.0)
    dense, sparse = model.fit(votes), forced(model, votes)
    assert dense.codes[-1] != 2
    np.testing.assert_array_equal(sparse.codes, dense.codes)
    np.testing.assert_allclose(sparse.confidence, dense.confidence)


def test_what_is_too_large_for_an_array_says_so(thirty):
    result = forced(MODELS["majority_voting"](), thirty)
    with pytest.raises(ValueError, match="30 classes are too large"):
        _ = result.probs
    with pytest.raises(ValueError, match="30 classes are too large"):
        result.to_table(probs=True)
    np.testing.assert_allclose(result.rows([0, 3]).sum(axis=1), 1)


@pytest.mark.parametrize(
    "name", ["dawid_skene", "ebcc", "tied_dawid_skene", "glad", "minimax_entropy", "wds"]
)
def test_a_model_that_needs_too_much_makes_way(name, monkeypatch):
    votes, truth = next_class_votes(tasks=300, workers=20, classes=40, votes=1500)
    monkeypatch.setattr(base, "MAX_CELLS", 300 * 40 - 1)
    monkeypatch.setattr(base, "DENSE_CELLS_PER_VOTE", 0)
    model = MODELS[name]()
    with pytest.warns(TooManyClasses, match=f"{name} would need .* common_mistakes is used instead"):
        result = model.fit(votes)
    assert result.model == CommonMistakes()
    assert (result.codes == truth).mean() > 0.7


def test_memory_is_known_before_it_is_taken():
    """The matrices alone would be 1,600 GB."""
    votes, truth = next_class_votes(tasks=3000, workers=2000, classes=10_000, votes=15_000)
    with pytest.warns(TooManyClasses, match="dawid_skene would need 1,490 GiB"):
        result = MODELS["dawid_skene"]().fit(votes)
    assert (result.codes == truth).mean() > 0.6


def test_many_tasks_of_few_classes_are_not_too_many_classes(simulated, monkeypatch):
    """Votes take memory too, and whoever holds them has room for the posterior of their tasks."""
    monkeypatch.setattr(candidates, "MAX_DENSE_CELLS", 0)
    monkeypatch.setattr(base, "MAX_CELLS", 0)
    for name in ("majority_voting", "one_coin", "dawid_skene"):
        assert MODELS[name]().fit(simulated[0]).probs.shape == (150, 3)


def test_elsewhere_no_other_model_is_used(thirty, monkeypatch):
    monkeypatch.setattr(base, "MAX_CELLS", 0)
    monkeypatch.setattr(base, "DENSE_CELLS_PER_VOTE", 0)
    with pytest.raises(ValueError, match=r"dawid_skene would need .* choose one_coin"):
        MODELS["dawid_skene"]().fit(thirty, backend=IN_MEMORY)


def test_coins_of_votes_that_lie_apart_are_those_of_all(thirty, monkeypatch):
    """Each part is too wide for an array, what holds them is not asked."""
    model = MODELS["one_coin"]()
    whole = model.fit(thirty)
    params = CoinParams(whole.params["prior"], np.nan_to_num(whole.skill, nan=0.5))
    counts, loglik = model.e_step(thirty, params)
    monkeypatch.setattr(candidates, "MAX_DENSE_CELLS", 0)
    monkeypatch.setattr(candidates, "DENSE_CELLS_PER_VOTE", 0)
    parts = [model.e_step(part, params) for part in split_tasks(thirty, 3)]
    for mine, all_of_them in zip(sum_stats(stats for stats, _ in parts), counts, strict=True):
        np.testing.assert_allclose(mine, all_of_them, atol=1e-9)
    np.testing.assert_allclose(sum(each for _, each in parts), loglik)


def test_settings_that_both_models_have_are_kept(monkeypatch):
    votes, _ = next_class_votes(tasks=50, workers=5, classes=10, votes=250)
    monkeypatch.setattr(base, "MAX_CELLS", 0)
    monkeypatch.setattr(base, "DENSE_CELLS_PER_VOTE", 0)
    with pytest.warns(TooManyClasses), pytest.warns(NotConverged):
        result = MODELS["dawid_skene"](prior="uniform", max_iter=3).fit(votes)
    assert result.model == CommonMistakes(prior="uniform", max_iter=3)


def test_auto_takes_what_has_room():
    votes, truth = next_class_votes(tasks=3000, workers=2000, classes=10_000, votes=15_000)
    result = MODELS["auto"]().fit(votes)
    assert (result.codes == truth).mean() > 0.6
    assert "common_mistakes" in [score.model for score in result.params["scores"]]


@pytest.fixture
def no_matrices(monkeypatch):
    """As if the confusion matrices of all workers were too large."""
    monkeypatch.setattr(honest_posterior, "MAX_MATRIX_CELLS", 0)


@pytest.mark.usefixtures("no_matrices")
@wide
@pytest.mark.parametrize("gold", [True, False])
def test_honest_sparse_posteriors_are_the_dense_ones(name, gold, thirty):
    votes = thirty if gold else replace(thirty, gold=None)
    model = Honest(MODELS[name]())
    dense, sparse = model.fit(votes), forced(model, votes)
    np.testing.assert_allclose(sparse.rows(np.arange(150)), dense.probs, atol=1e-9)
    np.testing.assert_array_equal(sparse.codes, dense.codes)
    np.testing.assert_array_equal(sparse.codes, MODELS[name]().fit(votes).codes)
    np.testing.assert_allclose(sparse.skill, dense.skill, atol=1e-9)
    np.testing.assert_allclose(sparse.expected_accuracy, dense.expected_accuracy, atol=1e-9)


@pytest.mark.usefixtures("no_matrices")
@wide
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(small, small, small, st.sampled_from([0.0, 0.5, 1.0])), min_size=1, max_size=30),
    gold=st.dictionaries(small, small),
)
def test_no_input_is_too_odd_to_be_honest_and_sparse(name, rows, gold):
    task, worker, label, weight = map(np.array, zip(*rows, strict=True))
    names = dict.fromkeys(("tasks", "workers", "classes"), np.arange(6))
    votes = Votes(task, worker, label, **names, weight=weight).with_gold(gold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        plain, sparse = forced(MODELS[name](), votes), forced(Honest(MODELS[name]()), votes)
    rows = sparse.rows(np.arange(6))
    assert rows.min() >= 0
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    np.testing.assert_array_equal(sparse.codes, plain.codes)


@pytest.mark.usefixtures("no_matrices")
def test_an_honest_label_that_nobody_gave_stays_the_label():
    task, label = np.arange(60), np.arange(60) % 5
    votes = Votes.of([*task, 99], ["x"] * 61, [*label, 2], classes=list(range(6)))
    votes = votes.with_gold({int(t): int(k + 1) % 5 for t, k in zip(task, label, strict=True)})
    model = MODELS["one_coin"](trust=0.0)
    plain, sparse = model.fit(votes), forced(Honest(model), votes)
    assert sparse.codes[-1] == plain.codes[-1] != 2
    np.testing.assert_allclose(sparse.rows([60]).sum(), 1)


@pytest.mark.usefixtures("no_matrices")
def test_three_votes_for_three_of_many_classes_leave_a_label_below_one_half():
    votes, _ = next_class_votes(tasks=400, workers=12, classes=30, votes=1600)
    odd = Votes.of(["odd"] * 3, [0, 1, 2], [3, 8, 21], classes=np.arange(30))
    both = Votes.of(
        [*votes.tasks[votes.task].tolist(), *odd.tasks[odd.task].tolist()],
        [*votes.worker.tolist(), 0, 1, 2],
        [*votes.label.tolist(), 3, 8, 21],
        classes=np.arange(30),
    )
    sparse = forced(Honest(MODELS["majority_voting"]()), both)
    assert sparse.confidence[-1] < 0.45
    np.testing.assert_allclose(sparse.rows([len(both.tasks) - 1])[0, [3, 8, 21]], sparse.confidence[-1])


def test_coins_and_matrices_nearly_agree_where_workers_are_coins(no_matrices, monkeypatch):
    """Two classes: the evidence by one skill for each worker is that by confusion matrices."""
    votes, _ = one_coin_votes(600, [0.9, 0.8, 0.7, 0.7, 0.6], classes=2, votes_per_task=4, seed=2)
    coins = Honest(MODELS["one_coin"]()).fit(votes)
    monkeypatch.setattr(honest_posterior, "MAX_MATRIX_CELLS", 2**24)
    matrices = Honest(MODELS["one_coin"]()).fit(votes)
    assert np.abs(coins.confidence - matrices.confidence).mean() < 0.015
    np.testing.assert_allclose(coins.expected_accuracy, matrices.expected_accuracy, atol=0.015)


def test_a_model_that_makes_way_stays_honest(monkeypatch):
    votes, truth = next_class_votes(tasks=300, workers=20, classes=40, votes=1500)
    monkeypatch.setattr(base, "MAX_CELLS", 300 * 40 - 1)
    monkeypatch.setattr(base, "DENSE_CELLS_PER_VOTE", 0)
    with pytest.warns(TooManyClasses, match="common_mistakes is used instead"):
        result = Honest(MODELS["dawid_skene"]()).fit(votes)
    assert str(result.model) == "honest[common_mistakes]"
    assert result.confidence.mean() < CommonMistakes().fit(votes).confidence.mean()
    assert result.expected_accuracy.low <= (result.codes == truth).mean() <= result.expected_accuracy.high


MEASURED = """
import sys
from crowdpilot.aggregation import MODELS
import numpy as np
from crowdpilot.votes import Votes

rng, n = np.random.default_rng(0), int(sys.argv[1])
truth, task = rng.integers(0, 10_000, n // 5), rng.integers(0, n // 5, n)
right = rng.random(n) < 0.7
label = np.where(right, truth[task], (truth[task] + rng.integers(1, 30, n)) % 10_000)
names = np.arange(n // 5), np.arange(2000), np.arange(10_000)
votes = Votes(task, rng.integers(0, 2000, n), label, *names)
for name in sys.argv[2:]:
    MODELS[name]().fit(votes).to_table()
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) * 1024)  # ru_maxrss would count the process that started this one
"""


@pytest.mark.parametrize(
    ("votes", "limit"), [(50_000, 0.8e9), pytest.param(1_000_000, 2e9, marks=pytest.mark.thorough)]
)
def test_ten_thousand_classes_take_less_memory_than_one_dense_array(votes, limit):
    """Probabilities of all classes would take 0.8 GB for 50,000 votes, 16 GB for a million."""
    args = [sys.executable, "-W", "ignore", "-c", MEASURED, str(votes), *WIDE, *OF_OTHERS]
    assert int(subprocess.check_output(args, text=True)) < limit
