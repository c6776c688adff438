"""Votes: what goes in, what is refused, what can be asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.aggregation.em.in_memory_backend import split_tasks
from crowdpilot.arrays import share_best, softmax, to_probs
from crowdpilot.io import read
from crowdpilot.names import encode, hash_names, natural_order, to_names
from crowdpilot.votes import Votes


def test_tasks_and_workers_come_in_order_of_appearance_and_classes_in_natural_order():
    votes = Votes.of(["t9", "t1", "t9"], ["w2", "w1", "w1"], ["c10", "c2", "c1"])
    assert votes.tasks.tolist() == ["t9", "t1"]
    assert votes.workers.tolist() == ["w2", "w1"]
    assert votes.classes.tolist() == ["c1", "c2", "c10"]
    assert votes.label.tolist() == [2, 1, 0]


def test_missing_labels_and_abstentions_are_dropped_and_counted():
    votes = Votes.of([1, 1, 2, 3], ["x", "y", "x", "x"], ["a", None, "?", "b"], abstain=["?"])
    assert len(votes) == 2
    assert votes.dropped == 2
    assert votes.tasks.tolist() == [1, 2, 3]  # task 2 is listed, though nobody voted on it
    assert votes.classes.tolist() == ["a", "b"]


def test_nan_is_a_missing_label():
    votes = Votes.of([1, 1], ["x", "y"], [0.0, np.nan])
    assert (len(votes), votes.dropped) == (1, 1)


@pytest.mark.parametrize(
    ("repeats", "labels"), [("last", ["b", "a"]), ("first", ["a", "a"]), ("all", ["a", "a", "b"])]
)
def test_repeats_follow_the_rule(repeats, labels):
    votes = Votes.of([1, 2, 1], ["x", "x", "x"], ["a", "a", "b"], repeats=repeats)
    assert sorted(votes.classes[votes.label].tolist()) == sorted(labels)


def test_repeats_can_be_an_error():
    with pytest.raises(ValueError, match="worker 'x' labels task '1' more than once"):
        Votes.of([1, 2, 1], ["x", "x", "x"], ["a", "a", "b"], repeats="error")


def test_listed_classes_keep_their_order_and_refuse_others():
    votes = Votes.of([1], ["x"], [0], classes=["1", "0"])
    assert votes.classes.tolist() == ["1", "0"]
    assert votes.label.tolist() == [1]
    with pytest.raises(ValueError, match="label 'c' of vote 2 is not one of the classes a, b"):
        Votes.of([1, 2], ["x", "x"], ["a", "c"], classes=["a", "b"])
    with pytest.raises(ValueError, match="twice"):
        Votes.of([1], ["x"], ["a"], classes=["a", "a"])


def test_listed_tasks_are_kept_once():
    votes = Votes.of([1, 2], ["x", "x"], ["a", "b"], tasks=[2, 3, 3])
    assert votes.tasks.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"worker": [0, 0]}, "worker has shape"),
        ({"label": [0, 0, 9]}, "label"),
        ({"task": [0, -1, 0]}, "task"),
        ({"weight": [1, 1, -1]}, "negative"),
        ({"weight": [1, 1, np.inf]}, "infinite"),
        ({"gold": [0, 1, 2]}, "gold has shape"),
        ({"gold": [0, 5]}, "gold"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    votes = Votes.of([1, 2, 1], ["x", "x", "y"], ["a", "b", "b"])
    with pytest.raises(ValueError, match=message):
        replace(votes, **change)


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="different lengths"):
        Votes.of([1, 2], ["x", "x"], ["a"])
    with pytest.raises(ValueError, match="repeats is 'newest'"):
        Votes.of([1], ["x"], ["a"], repeats="newest")


def test_votes_cannot_be_changed():
    votes = Votes.of([1, 2], ["x", "x"], ["a", "b"])
    with pytest.raises(ValueError, match="read-only"):
        votes.label[0] = 1


def test_gold_is_found_by_name_whatever_its_type():
    votes = Votes.of([1, 2, 3], ["x"] * 3, ["a", "b", "a"]).with_gold({"2": "a", "99": "a"})
    assert votes.gold.tolist() == [-1, 0, -1]
    with pytest.raises(ValueError, match="gold label 'z' of task 1 is not a class"):
        votes.with_gold({1: "z"})


def test_merged_votes_are_sorted_and_repeats_are_weights():
    votes = Votes.of([2, 1, 2, 2], ["x", "x", "x", "y"], ["a", "b", "a", "b"], repeats="all")
    merged = votes.merged
    assert merged.task.tolist() == [0, 0, 1]
    assert merged.weight.tolist() == [2, 1, 1]
    np.testing.assert_allclose(merged.tally(), votes.tally())
    np.testing.assert_allclose(merged.onehot.toarray(), votes.onehot.toarray())
    np.testing.assert_allclose(votes.ballots.toarray().sum(axis=1), votes.tally().ravel())


@given(st.integers(1, 12), st.integers(0, 40), st.integers(1, 6), st.randoms())
def test_parts_make_the_whole(tasks, count, parts, random):
    task = np.array([random.randrange(tasks) for _ in range(count)], int)
    worker = np.array([random.randrange(3) for _ in range(count)], int)
    label = np.array([random.randrange(2) for _ in range(count)], int)
    votes = Votes(task, worker, label, np.arange(tasks), np.arange(3), np.arange(2))
    pieces = split_tasks(votes, parts)
    assert len(pieces) <= parts
    assert np.concatenate([p.tasks for p in pieces]).tolist() == votes.tasks.tolist()
    np.testing.assert_allclose(np.concatenate([p.tally() for p in pieces]), votes.tally())


@given(st.lists(st.one_of(st.none(), st.integers(-3, 3), st.text(max_size=2), st.floats(0, 1))))
def test_names_of_any_type_are_numbered_and_found_again(values):
    codes, names = encode(values)
    assert [None if c < 0 else names[c] for c in codes] == values
    assert len(set(names.tolist())) == len(names)


def test_numbers_stay_numbers_and_names_sort_as_people_count():
    assert to_names([3, 1]).dtype.kind == "i"
    assert natural_order(to_names([10, 9])).tolist() == [1, 0]
    names = to_names(["b", "a10", "a9", 3])
    assert names[natural_order(names)].tolist() == [3, "a9", "a10", "b"]


def test_a_lot_depends_on_name_and_seed_alone():
    one = hash_names(to_names(["a", "a much longer name"]), seed=1)
    assert hash_names(to_names(["a"]), seed=1)[0] == one[0]
    assert hash_names(to_names(["a"]), seed=2)[0] != one[0]
    lots = hash_names(np.arange(3000), seed=0) % np.uint64(3)
    assert abs(np.bincount(lots.astype(int)) - 1000).max() < 120


def test_rows_become_probabilities_and_equals_share():
    np.testing.assert_allclose(to_probs([[1, 3], [0, 0]]), [[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(share_best(np.array([[1.0, 2, 2], [3, 1, 0]])), [[0, 0.5, 0.5], [1, 0, 0]])
    np.testing.assert_allclose(softmax(np.array([[-1000.0, -1000.0], [0, -np.inf]])), [[0.5, 0.5], [1, 0]])


CODE = st.integers(0, 4)
ROWS = st.lists(st.tuples(CODE, CODE, st.integers(0, 2)), max_size=20)


@given(
    ROWS, st.lists(CODE, unique=True), st.lists(CODE, unique=True), st.dictionaries(CODE, st.integers(0, 2))
)
def test_select_keeps_the_votes_of_the_chosen_tasks_and_workers(rows, tasks, workers, gold):
    """As a filter over the rows would."""
    task, worker, label = (np.array([row[n] for row in rows], np.int32) for n in range(3))
    names = np.array([f"t{n}" for n in range(5)], object), np.array([f"w{n}" for n in range(5)], object)
    votes = Votes(task, worker, label, *names, np.arange(3), weight=np.arange(len(rows)))
    votes = votes.with_gold({f"t{n}": k for n, k in gold.items()})
    some = votes.select(tasks=np.array(tasks, int), workers=np.array(workers, int))
    assert some.tasks.tolist() == [f"t{n}" for n in tasks]
    assert some.workers.tolist() == [f"w{n}" for n in workers]
    expected = [
        (f"t{t}", f"w{w}", k, n)
        for n, (t, w, k) in enumerate(rows) if t in tasks and w in workers
    ]  # fmt: skip
    columns = some.tasks[some.task], some.workers[some.worker], some.label, some.weights
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
    assert some.gold.tolist() == [gold.get(n, -1) for n in tasks]


@given(ROWS, st.sets(CODE))
def test_a_mask_selects_what_its_codes_do(rows, chosen):
    task, worker, label = (np.array([row[n] for row in rows], np.int32) for n in range(3))
    votes = Votes(task, worker, label, np.arange(5), np.arange(5), np.arange(3))
    mask = np.isin(np.arange(5), list(chosen))
    for axis in ("tasks", "workers"):
        by_mask, by_code = votes.select(**{axis: mask}), votes.select(**{axis: np.flatnonzero(mask)})
        for column in ("task", "worker", "label", "tasks", "workers"):
            np.testing.assert_array_equal(getattr(by_mask, column), getattr(by_code, column))


def test_a_part_of_the_tasks_is_what_select_gives():
    votes = Votes.of(np.arange(60) % 20, np.arange(60) % 7, np.arange(60) % 3, gold={3: 0, 17: 2}).merged
    first = 0
    for part in split_tasks(votes, 3):
        other = votes.select(tasks=np.arange(first, first + len(part.tasks)))
        for column in ("task", "worker", "label", "tasks", "gold"):
            np.testing.assert_array_equal(getattr(part, column), getattr(other, column))
        first += len(part.tasks)


def test_a_code_that_is_selected_twice_is_refused():
    with pytest.raises(ValueError, match="selected more than once"):
        Votes.of([1, 2], ["x", "y"], ["a", "b"]).select(tasks=[0, 0])


@given(
    st.lists(st.integers(0, 30), unique=True, min_size=1), st.lists(st.integers(0, 30) | st.text(max_size=3))
)
def test_index_compares_names_as_text(known, names):
    votes = Votes.of(known, ["w"] * len(known), ["a"] * len(known))
    codes = votes.index("tasks", names)
    texts = list(map(str, known))
    assert codes.tolist() == [texts.index(str(name)) if str(name) in texts else -1 for name in names]
    assert votes.index("workers", ["w", "v"]).tolist() == [0, -1]
    assert votes.index("classes", np.array(["a"], object)).tolist() == [0]


@pytest.mark.parametrize(
    ("rows", "tasks"),
    [
        (1, ["b"]),
        (-1, ["c"]),
        (slice(1, None), ["b", "c"]),
        ([2, 0], ["c", "a"]),
        (np.array([2, 0]), ["c", "a"]),
        ([True, False, True], ["a", "c"]),
        (np.array([], bool)[:0].astype(int), []),
        ([], []),
        ((np.array([1]), ...), ["b"]),
    ],
    ids=str,
)
def test_votes_are_sliced_by_tasks_and_keep_workers_classes_and_gold(rows, tasks):
    votes = Votes.of(["a", "a", "b"], ["x", "y", "x"], [0, 1, 1], tasks=["c"], gold={"c": 1, "a": 0})
    some = votes[rows]
    assert some.tasks.tolist() == tasks
    assert (some.workers.tolist(), some.classes.tolist()) == (["x", "y"], [0, 1])
    assert dict(zip(some.tasks, some.tally().tolist(), strict=True)) == {
        task: {"a": [1, 1], "b": [0, 1], "c": [0, 0]}[task] for task in tasks
    }
    assert some.gold.tolist() == [{"a": 0, "b": -1, "c": 1}[task] for task in tasks]
    assert some.shape == (len(tasks),)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("a", "by their names with votes\\[votes.index"),
        (["a"], "by their names with votes\\[votes.index"),
        ([0.5], "by positions or a mask"),
        (None, "by positions or a mask"),
        (3, "there are 2 tasks: index 3 is out of bounds"),
        ([True], "there are 2 tasks: boolean index did not match"),
        ([0, 0], "selected more than once"),
    ],
)
def test_a_slice_of_what_is_not_there_is_refused(rows, message):
    votes = Votes.of(["a", "b"], ["x", "x"], [0, 1])
    with pytest.raises((TypeError, IndexError, ValueError), match=message):
        votes[rows]


def test_votes_by_name_are_a_slice_of_their_index():
    votes = Votes.of([7, 8, 9], ["x"] * 3, ["a", "b", "c"])
    assert votes[votes.index("tasks", [9, "7"])].tasks.tolist() == [9, 7]


def test_votes_are_not_taken_for_labels_nor_iterated():
    votes = Votes.of(["a", "a", "b"], ["x", "y", "x"], [0, 1, 1], tasks=["c"])
    by_task = np.asarray(votes)
    assert by_task.tolist() == [{"x": 0, "y": 1}, {"x": 1}, {}]
    for use in (np.unique, set):
        with pytest.raises(ValueError, match="votes are not labels"):
            use(by_task)
    with pytest.raises(TypeError, match="not iterable"):
        list(votes)


def test_votes_as_frames_are_read_back():
    votes = Votes.of([1, 1, 2], ["x", "y", "x"], ["cat", "dog", "cat"], seconds=[1.0, 2.0, 3.0])
    for frame in (votes.to_pandas(), votes.to_polars()):
        assert list(frame.columns) == ["task", "worker", "label", "seconds"]
        again = read(frame)
        assert again.tasks[again.task].tolist() == [1, 1, 2]
        assert again.seconds.tolist() == [1.0, 2.0, 3.0]


def test_gold_may_be_a_series_but_no_list():
    votes = Votes.of([1, 1, 2], ["x", "y", "x"], ["cat", "dog", "cat"])
    assert votes.with_gold(votes.to_pandas().set_index("task")["label"].iloc[1:2]).gold.tolist() == [1, -1]
    with pytest.raises(ValueError, match="gold is of type list, expected a mapping from tasks to labels"):
        votes.with_gold(["cat", "dog"])
