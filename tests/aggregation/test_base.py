"""What every result gives back: labels, ties, tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdpilot.aggregation import Aggregate, DawidSkene, MajorityVoting, parse_strategy
from crowdpilot.names import lookup
from crowdpilot.votes import Votes


@pytest.fixture
def tied() -> Votes:
    """Two votes for different labels on each of 400 tasks."""
    task = np.repeat(np.arange(400), 2)
    return Votes.of([f"t{t}" for t in task], ["x", "y"] * 400, ["a", "b"] * 400)


def test_ties_are_broken_evenly_by_a_seeded_hash(tied):
    labels = MajorityVoting().fit(tied).labels
    assert 160 < (labels == "a").sum() < 240


def test_the_lot_depends_on_the_seed_and_the_name_alone(tied):
    labels = dict(zip(tied.tasks, MajorityVoting(seed=1).fit(tied).labels, strict=True))
    reverse = np.arange(len(tied))[::-1]
    other = Votes.of(
        tied.tasks[tied.task[reverse]], tied.workers[tied.worker[reverse]], tied.classes[tied.label[reverse]]
    )
    again = MajorityVoting(seed=1).fit(other)
    assert dict(zip(other.tasks, again.labels, strict=True)) == labels
    assert (MajorityVoting(seed=2).fit(other).labels != again.labels).any()


def test_rounding_does_not_decide(tied):
    exact = MajorityVoting().fit(tied)
    shaken = replace(exact, posterior=exact.probs + 1e-13 * np.array([1, -1]))
    assert (shaken.codes == exact.codes).all()


def test_tables_have_a_row_for_each_task_and_worker(simulated):
    result = DawidSkene().fit(simulated[0])
    tasks, workers = result.to_table(probs=True), result.to_workers_table()
    assert tasks.column_names == ["task", "label", "confidence", "votes", "p_0", "p_1", "p_2"]
    assert tasks.num_rows == 150
    assert workers.column_names == ["worker", "skill", "votes"]
    assert set(tasks["votes"].to_pylist()) == {5}
    assert result.to_pandas()["label"].tolist() == result.labels.tolist()


def test_models_add_their_own_columns(simulated):
    result = parse_strategy("glad").fit(simulated[0])
    assert "difficulty" in result.to_table().column_names
    assert "ability" in result.to_workers_table().column_names


def test_without_classes_there_is_nothing_to_fit():
    empty = Votes.of([], [], [])
    with pytest.raises(ValueError, match="no classes"):
        MajorityVoting().fit(empty)


def test_no_votes_at_all_give_the_prior():
    votes = Votes.of([], [], [], classes=["a", "b"], tasks=["t"])
    np.testing.assert_allclose(DawidSkene().fit(votes).probs, [[0.5, 0.5]])


def test_a_history_of_another_kind_is_refused(simulated):
    votes, _ = simulated
    with pytest.raises(ValueError, match="made by majority_voting"):
        DawidSkene().fit(votes, history=MajorityVoting().fit(votes))
    other = Votes.of([1, 1], ["x", "y"], ["a", "b"])
    with pytest.raises(ValueError, match="other classes"):
        DawidSkene().fit(votes, history=DawidSkene().fit(other))
    with pytest.raises(ValueError, match="other classes"):
        DawidSkene().fit(votes, start=DawidSkene().fit(other))


def test_a_start_knows_its_tasks_by_name(simulated):
    votes, _ = simulated
    half = votes.take(votes.task < 75)
    start = DawidSkene().fit(half)
    result = DawidSkene().fit(votes, start=start)
    np.testing.assert_allclose(result.probs, DawidSkene().fit(votes).probs, atol=0.01)


def test_names_are_matched_as_text():
    assert lookup(np.array(["2", "x"], object), np.array([1, 2])).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dawid_skin", "did you mean dawid_skene"),
        ("ds[x=1]", "no option 'x'"),
        ("ds[1]", "Python literals"),
        ("ds[smoothing=__import__('os')]", "Python literals"),
        ("ds[", "not a strategy"),
        ("", "not a strategy"),
    ],
)
def test_a_wrong_strategy_gets_one_sentence(text, message):
    with pytest.raises(ValueError, match=message):
        parse_strategy(text)


def test_options_are_python_literals_in_any_case():
    model = parse_strategy("dswc[l=5, prior=(.2, .8), Variational=True]")
    assert (model.L, model.prior, model.variational) == (5, (0.2, 0.8), True)
    assert str(model) == "dawid_skene_clust[prior=(0.2, 0.8),variational=True,L=5]"


def test_a_result_prints_what_it_is(simulated):
    result = MajorityVoting().fit(simulated[0])
    assert isinstance(result, Aggregate)
    assert repr(result) == "Aggregate(Votes(750 votes, 150 tasks, 8 workers, 3 classes) by majority_voting)"
