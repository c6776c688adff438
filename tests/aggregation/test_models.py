"""What every aggregator promises, tested over the whole list."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdpilot.aggregation import EM, MODELS, NotConverged, parse_strategy
from crowdpilot.votes import Votes

pytestmark = pytest.mark.filterwarnings("ignore::crowdpilot.aggregation.NotConverged")


def ready(name: str, votes: Votes):
    """The model with what it cannot do without, and the votes with the gold it needs."""
    if name == "crowdlab":
        machine = np.random.default_rng(5).dirichlet(np.ones(len(votes.classes)), len(votes.tasks))
        return MODELS[name](probs=machine), votes
    if name == "gold_majority" and votes.gold is None:
        gold = np.full(len(votes.tasks), -1)
        gold[:40] = votes.tally().argmax(axis=1)[:40]
        votes = replace(votes, gold=gold)
    return MODELS[name](), votes


def fit(name: str, votes: Votes, **options):
    model, votes = ready(name, votes)
    return model.fit(votes, **options)


every = pytest.mark.parametrize("name", list(MODELS))
em = pytest.mark.parametrize("name", [n for n, m in MODELS.items() if issubclass(m, EM)])


@every
def test_rows_sum_to_one_and_labels_are_the_most_probable(name, simulated):
    votes, _ = simulated
    result = fit(name, votes)
    assert result.probs.shape == (150, 3)
    assert result.probs.min() >= 0
    np.testing.assert_allclose(result.probs.sum(axis=1), 1)
    np.testing.assert_allclose(result.probs[np.arange(150), result.codes], result.confidence, atol=1e-8)
    assert result.skill.shape == (8,)
    assert result.model.name == name


@every
def test_most_labels_are_right_and_good_workers_come_out_better(name, simulated):
    votes, truth = simulated
    result = fit(name, votes)
    assert (result.codes == truth).mean() > (0.6 if name == "crowdlab" else 0.85)
    assert result.skill[0] > result.skill[7]


@every
def test_the_order_of_votes_does_not_matter(name, simulated):
    votes, _ = simulated
    shuffled = votes.take(np.random.default_rng(1).permutation(len(votes)))
    np.testing.assert_allclose(fit(name, shuffled).probs, fit(name, votes).probs, atol=1e-9)


@every
def test_renaming_the_classes_renames_the_labels(name, simulated):
    votes, _ = simulated
    new = np.array([2, 0, 1])
    model, votes = ready(name, votes)
    renamed = replace(votes, label=new[votes.label])
    if votes.gold is not None:
        renamed = replace(renamed, gold=np.where(votes.gold >= 0, new[votes.gold], -1))
    other = replace(model, probs=model.probs[:, np.argsort(new)]) if name == "crowdlab" else model
    np.testing.assert_allclose(other.fit(renamed).probs[:, new], model.fit(votes).probs, atol=1e-6)


@every
def test_renaming_tasks_and_workers_changes_nothing(name, simulated):
    votes, _ = simulated
    renamed = replace(
        votes,
        tasks=np.array([f"task {t}" for t in votes.tasks], object),
        workers=np.array([f"worker {w}" for w in votes.workers], object),
    )
    np.testing.assert_allclose(fit(name, renamed).probs, fit(name, votes).probs, atol=1e-12)


@every
def test_a_weight_of_two_is_the_same_vote_twice(name, simulated):
    votes, _ = simulated
    double = np.arange(len(votes)) % 3 == 0
    weighted = replace(votes, weight=np.where(double, 2.0, 1.0))
    twice = votes.take(np.concatenate([np.arange(len(votes)), np.flatnonzero(double)]))
    np.testing.assert_allclose(fit(name, weighted).probs, fit(name, twice).probs, atol=1e-9)


@every
def test_a_weight_of_zero_is_no_vote(name, simulated):
    votes, _ = simulated
    some = np.arange(len(votes)) % 4 > 0
    weighted = replace(votes, weight=some.astype(float))
    np.testing.assert_allclose(fit(name, weighted).probs, fit(name, votes.take(some)).probs, atol=1e-9)


@every
def test_gold_is_kept_and_informs_the_skills(name, simulated):
    votes, truth = simulated
    wrong = (truth + 1) % 3  # gold that nobody would guess
    gold = np.where(np.arange(150) < 100, wrong, -1)
    result = fit(name, replace(votes, gold=gold))
    np.testing.assert_array_equal(result.codes[:100], wrong[:100])
    np.testing.assert_allclose(result.confidence[:100], 1)
    assert result.skill[0] < fit(name, votes).skill[0]


@every
def test_the_same_settings_give_the_same_result(name, simulated):
    votes, _ = simulated
    np.testing.assert_array_equal(fit(name, votes).probs, fit(name, votes).probs)


@every
def test_tasks_and_workers_without_votes_are_kept(name, simulated):
    votes, _ = simulated
    wider = replace(votes, tasks=np.arange(152), workers=np.arange(9))
    result = fit(name, wider)
    assert result.probs.shape == (152, 3)
    np.testing.assert_allclose(result.probs.sum(axis=1), 1)
    assert np.isnan(result.skill[8])


@every
def test_one_class_needs_no_thought(name):
    model, votes = ready(name, Votes.of([1, 1, 2], ["x", "y", "x"], ["yes"] * 3))
    assert model.fit(votes).labels.tolist() == ["yes", "yes"]


@every
def test_a_start_or_a_history_is_used_or_refused(name, simulated):
    votes, _ = simulated
    model, votes = ready(name, votes)
    result = model.fit(votes)
    for word, able in (("start", model.warm_start), ("history", model.uses_history)):
        if able:
            assert model.fit(votes, **{word: result}).probs.shape == result.probs.shape
        else:
            with pytest.raises(ValueError, match=name):
                model.fit(votes, **{word: result})


@em
def test_the_objective_never_falls(name, simulated):
    votes, _ = simulated
    trace = replace(MODELS[name](), tol=-np.inf, max_iter=60).fit(votes).trace
    assert len(trace) == 60
    assert np.diff(trace).min() > -1e-8


@em
def test_a_warm_start_needs_fewer_iterations_and_ends_alike(name, simulated):
    votes, _ = simulated
    model = replace(MODELS[name](), tol=1e-10, max_iter=3000)
    cold = model.fit(votes)
    warm = model.fit(votes, start=cold)
    if name not in {"ebcc", "wds"}:  # the one draws kinds anew, the other gives back shares of votes
        assert len(warm.trace) <= len(cold.trace)
    if name != "ebcc":
        np.testing.assert_allclose(warm.probs, cold.probs, atol=0.001)


@em
def test_history_makes_a_newcomer_known(name, simulated):
    """After many votes elsewhere a bad worker cannot outvote a good one on a single new task."""
    votes, _ = simulated
    model = MODELS[name]()
    if not model.uses_history:
        pytest.skip("refused; see above")
    history = model.fit(votes)
    new = Votes.of(["new", "new"], [0, 7], [0, 1], classes=[0, 1, 2])
    result = model.fit(new, history=history)
    assert result.probs[0, 0] > result.probs[0, 1]


@em
def test_a_class_prior_is_honoured(name):
    votes = Votes.of([1, 1], ["x", "y"], ["a", "b"], classes=["a", "b"])
    result = replace(MODELS[name](), prior=(0.9, 0.1)).fit(votes)
    assert result.probs[0, 0] > 0.505


@em
def test_a_wrong_class_prior_is_refused(name, simulated):
    votes, _ = simulated
    with pytest.raises(ValueError, match="class prior"):
        replace(MODELS[name](), prior=(0.5, 0.5)).fit(votes)


names = st.one_of(st.text(max_size=3), st.sampled_from(["007", "a b", "é", "\N{GRINNING FACE}", "nan", ""]))


@every
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(names, names, st.sampled_from("abc")), min_size=1, max_size=50))
def test_no_input_is_too_odd(name, rows):
    task, worker, label = zip(*rows, strict=True)
    votes = Votes.of(task, worker, label, repeats="all")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        result = fit(name, votes)
    np.testing.assert_allclose(result.probs.sum(axis=1), 1)
    assert np.isfinite(result.probs).all()
    assert set(result.labels) <= set(label)


@every
def test_it_is_found_by_name_alias_and_class_and_prints_as_its_strategy(name):
    model = MODELS[name]
    for spelling in (name, name.upper(), name.replace("_", "-"), model.__name__, *model.aliases):
        assert isinstance(parse_strategy(spelling), model)
    assert str(model()) == ("honest[dawid_skene]" if name == "honest" else name)
    assert parse_strategy(str(model())) == model()


@every
def test_it_has_a_summary_a_reference_or_an_example(name):
    doc = MODELS[name].__doc__
    assert doc.splitlines()[0].endswith(".")
    assert "References" in doc or "Examples" in doc
    assert all(f.type for f in fields(MODELS[name]))
