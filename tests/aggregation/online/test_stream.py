from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdpilot.aggregation import MODELS, NotConverged, parse_strategy
from crowdpilot.aggregation.online.models import ONLINE_MODELS
from crowdpilot.aggregation.online.stream import Stream
from crowdpilot.votes import Votes

SHARES = "majority_voting", "naive_soft", "weighted_majority[weights=(('w1',2.0),)]", "wawa"
EXPECTED = "one_coin", "zencrowd", "dawid_skene", "ibcc", "fast_dawid_skene", "hybrid_dawid_skene", "glad"
CLASSES = ["a", "b", "c"]

pytestmark = pytest.mark.filterwarnings("ignore::crowdpilot.aggregation.NotConverged")
every = pytest.mark.parametrize("name", SHARES + EXPECTED)

TASK, WORKER = st.integers(0, 5), st.integers(0, 3).map("w{}".format)
LABEL, WEIGHT = st.sampled_from(CLASSES), st.sampled_from([1.0, 1.0, 2.0, 3.0])
VOTE = st.tuples(TASK, WORKER, LABEL, WEIGHT)
STEP = st.one_of(
    VOTE.map(lambda vote: ("add", vote)),
    st.lists(VOTE, max_size=8).map(lambda votes: ("add many", votes)),
    st.tuples(st.integers(0, 99), LABEL).map(lambda which: ("correct", which)),
    st.integers(0, 99).map(lambda which: ("delete", which)),
    st.tuples(TASK, st.none() | LABEL).map(lambda gold: ("reveal", dict([gold]))),
)
STEPS = st.lists(STEP, max_size=25)
few = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def follow(stream, steps):
    """Do these steps; the votes that should be there in the end, and the known classes."""
    there, known = {}, {}
    for kind, what in steps:
        if kind == "add":
            *vote, weight = what
            stream.add(*vote, weight=weight)
            put(there, what)
        elif kind == "add many":
            tasks, workers, labels, weights = zip(*what, strict=True) if what else [[]] * 4
            stream.add_many(tasks, workers, labels, weights=weights)
            for vote in what:
                put(there, vote)
        elif kind == "reveal":
            stream.reveal(what)
            known |= what
        elif there:
            pair = list(there)[(what if kind == "delete" else what[0]) % len(there)]
            if kind == "delete":
                stream.delete(*pair)
                del there[pair]
            else:
                stream.correct(*pair, what[1])
                put(there, (*pair, what[1], there[pair][1]))
    return there, {task: label for task, label in known.items() if label is not None}


def put(there, vote):
    task, worker, label, weight = vote
    there.pop((task, worker), None)
    there[task, worker] = label, weight


def listed(votes):
    return {
        (votes.tasks[t], votes.workers[w]): (votes.classes[k], weight)
        for t, w, k, weight in zip(votes.task, votes.worker, votes.label, votes.weights, strict=True)
    }


def simulate(tasks, workers, classes, per_task, seed, skill=None):
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=tasks)
    skills = rng.beta(6, 3, workers) if skill is None else np.asarray(skill)
    task = np.repeat(np.arange(tasks), per_task)
    worker = rng.random((tasks, workers)).argsort(axis=1)[:, :per_task].ravel()
    wrong = (truth[task] + rng.integers(1, classes, len(task))) % classes
    label = np.where(rng.random(len(task)) < skills[worker], truth[task], wrong)
    order = rng.permutation(len(task))
    return task[order], worker[order], label[order], truth


def test_the_models_here_are_all_that_can_follow_a_stream():
    assert {parse_strategy(name).name for name in SHARES + EXPECTED} == set(ONLINE_MODELS)
    assert set(ONLINE_MODELS) <= set(MODELS)


@every
@given(steps=STEPS)
@few
def test_whatever_comes_and_goes_the_votes_that_are_left_are_there(name, steps):
    stream = Stream(parse_strategy(name), CLASSES)
    there, known = follow(stream, steps)
    votes = stream.votes()
    assert list(listed(votes).items()) == list(there.items())
    gold = votes.gold if votes.gold is not None else np.full(len(votes.tasks), -1)
    assert {t: votes.classes[k] for t, k in zip(votes.tasks, gold, strict=True) if k >= 0} == known
    assert len(stream) == len(there)


@pytest.mark.parametrize("name", SHARES)
@given(steps=STEPS)
@few
def test_models_of_shares_have_the_batch_answer_at_every_moment(name, steps):
    stream = Stream(parse_strategy(name), CLASSES)
    follow(stream, [("add", (0, "w1", "a", 1.0)), *steps])
    now, batch = stream.result(), stream.model.fit(stream.votes())
    np.testing.assert_allclose(now.probs, batch.probs, atol=1e-7)
    np.testing.assert_allclose(now.skill, batch.skill, atol=1e-6)


@pytest.mark.parametrize("name", SHARES)
@given(steps=STEPS)
@few
def test_models_of_shares_forget_deleted_votes(name, steps):
    stream, other = (Stream(parse_strategy(name), CLASSES) for _ in range(2))
    there, known = follow(stream, steps)
    other.reveal(known)
    for pair, (label, weight) in reversed(there.items()):
        other.add(*pair, label, weight=weight)
    for task, worker in there:
        # votes on a task are added up in the order they came in, and that differs in the last bit
        np.testing.assert_allclose(stream.probs(task), other.probs(task), rtol=1e-14, atol=1e-15)
        np.testing.assert_array_equal(stream.skill(worker), other.skill(worker))


@pytest.mark.parametrize("name", EXPECTED)
@given(steps=STEPS)
@few
def test_counts_are_exactly_the_sum_over_votes_of_posteriors(name, steps):
    stream = Stream(parse_strategy(name), CLASSES)
    for _ in range(2):
        follow(stream, [("add", (0, "w1", "a", 1.0)), *steps])
        check_counts(stream)
        stream.refit()
        check_counts(stream)


def check_counts(stream):
    votes, online = stream.votes(), stream.counts.model
    counts = online.stats(np.ones(len(votes.workers)))
    assert min((array.min(initial=0) for array in counts), default=0) >= 0
    for mine, expected in zip(
        counts, stream.model.expected_counts(votes.merged, stream.counts.posterior), strict=True
    ):
        np.testing.assert_array_equal(mine, expected)
    np.testing.assert_array_equal(online.vote_weight, votes.worker_sum())


@every
@given(steps=STEPS)
@few
def test_a_refit_is_the_batch_answer(name, steps):
    stream = Stream(parse_strategy(name), CLASSES)
    follow(stream, [("add", (0, "w1", "a", 1.0)), *steps])
    found, votes = stream.refit(), stream.votes()
    batch = stream.model.fit(votes.take(np.argsort(votes.label, kind="stable")))
    np.testing.assert_allclose(found.probs, batch.probs, atol=1e-6)
    np.testing.assert_allclose(found.skill, batch.skill, atol=1e-6)


@every
@pytest.mark.parametrize("half_life", [np.inf, 10])
def test_one_task_is_shown_as_all_are(name, half_life):
    stream = Stream(parse_strategy(name), range(3), half_life=half_life)
    task, worker, label, _ = simulate(40, 6, 3, 3, seed=1)
    stream.add_many(task, [f"w{w}" for w in worker], label)
    stream.reveal({0: 2, 1: 1, "later": 0})
    result = stream.result()
    for row, name_ in enumerate(stream.tasks.names):
        np.testing.assert_allclose(stream.probs(name_), result.probs[row], atol=1e-9)
        assert stream.label(name_) == result.labels[row]
    skills = [stream.skill(worker) for worker in stream.workers.names]
    np.testing.assert_allclose(
        skills, result.skill, atol=0.15 if name == "glad" else 1e-6
    )  # glad: by the posteriors of then
    assert stream.label(0) == 2
    np.testing.assert_allclose(result.probs.sum(axis=1), 1)


@every
def test_a_stream_goes_on_exactly_from_its_snapshot(name):
    task, worker, label, _ = simulate(60, 8, 3, 4, seed=2)
    worker = np.array([f"w{w}" for w in worker])
    first = Stream(parse_strategy(name), range(3), half_life=20 if name == "dawid_skene" else np.inf)
    first.add_many(task[:120], worker[:120], label[:120], weights=np.where(np.arange(120) % 5, 1, 0.3))
    first.delete(task[7].item(), worker[7])
    first.reveal({3: 1})
    second = Stream.from_dict(json.loads(json.dumps(first.to_dict(), allow_nan=False)))
    assert second.to_dict() == first.to_dict()
    assert second.model == first.model
    for stream in (first, second):
        stream.add_many(task[120:], worker[120:], label[120:])
        stream.delete(task[9].item(), worker[9])
        stream.add("new", "new", 2)
    assert second.to_dict() == first.to_dict()
    np.testing.assert_array_equal(second.result().probs, first.result().probs)
    np.testing.assert_array_equal(second.refit().probs, first.refit().probs)


@pytest.mark.parametrize("name", EXPECTED)
def test_before_any_refit_the_answer_is_close_to_that_of_the_batch(name):
    stream = Stream(parse_strategy(name), range(4))
    task, worker, label, truth = simulate(3000, 40, 4, 5, seed=3)
    for n in range(0, len(task), 500):
        stream.add_many(task[n : n + 500], worker[n : n + 500], label[n : n + 500])
    truth = truth[stream.tasks.names]
    online = np.mean(stream.result().codes == truth)
    batch = np.mean(stream.refit().codes == truth)
    assert abs(online - batch) < (0.05 if "fast" in name or "hybrid" in name else 0.005)
    assert batch > 0.85


@pytest.mark.parametrize("name", ["one_coin", "dawid_skene", "glad", "wawa"])
def test_a_worker_who_turns_bad_is_noticed_with_a_half_life(name):
    """Worker 0 is right nine times in ten, and after half of the votes at chance."""
    before = simulate(1500, 10, 3, 4, seed=5, skill=[0.9] + [0.75] * 9)
    after = simulate(400, 10, 3, 4, seed=6, skill=[0.33] + [0.75] * 9)
    seen = {}
    for half_life in (np.inf, 50):
        stream = Stream(parse_strategy(name), range(3), half_life=half_life)
        for offset, (task, worker, label, _) in ((0, before), (1500, after)):
            for n in range(0, len(task), 50):
                stream.add_many(task[n : n + 50] + offset, worker[n : n + 50], label[n : n + 50])
        seen[half_life] = stream.skill(0)
        right = stream.result().codes == np.append(before[3], after[3])[stream.tasks.names]
        late = np.asarray(stream.tasks.names) >= 1500
        seen[half_life, "late"], seen[half_life, "early"] = right[late].mean(), right[~late].mean()
    assert seen[50] < 0.55 < 0.7 < seen[np.inf]
    assert seen[50, "late"] > seen[np.inf, "late"] + 0.02
    assert seen[50, "early"] > seen[np.inf, "early"] - 0.012


@pytest.mark.parametrize("name", ["one_coin", "dawid_skene", "glad", "majority_voting"])
def test_a_deleted_vote_takes_away_what_is_left_of_it(name):
    """The counts are those of the votes that are left, each halved every ten votes of its worker."""
    stream = Stream(parse_strategy(name), range(3), half_life=10)
    task, worker, label, _ = simulate(1200, 3, 3, 2, seed=7)  # 800 votes each, so that units change
    rng = np.random.default_rng(8)
    for n, vote in enumerate(zip(task.tolist(), worker.tolist(), label.tolist(), strict=True)):
        stream.add(*vote)
        if n % 3 == 0:
            m = rng.integers(max(0, n - 30), n + 1)
            if (
                stream.counts.log.find(
                    stream.tasks.code[task[m].item()], stream.workers.code[worker[m].item()]
                )
                >= 0
            ):
                stream.delete(task[m].item(), worker[m].item())
    counts = stream.counts
    log, forgetting = counts.log, counts.forgetting
    age = forgetting.clock[log.column("worker")] - log.column("clock")
    faded = 0.5 ** (age / 10)
    who = np.arange(3)
    votes = stream.votes()
    np.testing.assert_allclose(
        counts.model.vote_weight * forgetting.scale(who), votes.worker_sum(faded), atol=1e-6
    )
    if hasattr(counts.model, "stats"):
        old = Votes(
            votes.task, votes.worker, votes.label, votes.tasks, votes.workers, votes.classes, weight=faded
        )
        expected = stream.model.expected_counts(old.merged, counts.posterior)
        for mine, theirs in zip(counts.model.stats(forgetting.scale(who))[1:], expected[1:], strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-6)
    stream.refit()
    np.testing.assert_allclose(
        counts.model.vote_weight * forgetting.scale(who), votes.worker_sum(faded), atol=1e-6
    )


@every
def test_an_empty_stream_has_an_answer(name):
    stream = Stream(parse_strategy(name), CLASSES)
    assert len(stream) == 0
    assert stream.votes().tasks.tolist() == []
    stream.reveal({"x": None, "y": "b"})
    np.testing.assert_allclose(stream.probs("x"), 1 / 3)
    assert stream.label("y") == "b"
    assert stream.result().probs.shape == (2, 3)


def test_votes_are_added_with_their_gold_labels():
    task, worker, label, truth = simulate(30, 5, 3, 2, seed=10)
    votes = Votes.of(task, worker, label, gold={0: truth[0], 4: truth[4]})
    stream = Stream(parse_strategy("ds"), range(3))
    stream.add_votes(votes)
    np.testing.assert_array_equal(stream.refit().probs, stream.model.fit(votes).probs)


def test_a_second_vote_replaces_the_first():
    stream = Stream(parse_strategy("mv"), CLASSES)
    stream.add_many([1, 1, 1], ["x", "x", "y"], ["a", "b", "b"])
    stream.add(1, "y", "c")
    assert listed(stream.votes()) == {(1, "x"): ("b", 1), (1, "y"): ("c", 1)}


def test_what_is_wrong_is_refused_and_changes_nothing():
    stream = Stream(parse_strategy("ds"), CLASSES)
    stream.add("t", "w", "a")
    before = stream.to_dict()
    for wrong, message in [
        (lambda: stream.add("u", "v", "z"), "there is no class 'z'; there are a, b, c"),
        (lambda: stream.add("u", "v", "a", weight=-1), "negative or infinite weight"),
        (lambda: stream.add("u", "v", "a", weight=np.nan), "negative or infinite weight"),
        (lambda: stream.add(None, "v", "a"), "a vote has no task"),
        (lambda: stream.add("u", np.nan, "a"), "a vote has no worker"),
        (lambda: stream.add_many(["u"] * 9999, range(9999), ["a"] * 9998 + ["z"]), "there is no class 'z'"),
        (lambda: stream.add(["u"], "v", "a"), "the name of a task is a text or a number"),
        (lambda: stream.add_many(["u"], ["v", "w"], ["a"]), "different lengths"),
        (lambda: stream.delete("t", "v"), "there is no worker 'v'; there are w"),
        (lambda: stream.correct("u", "w", "a"), "there is no task 'u'"),
        (lambda: stream.reveal({"t": "z"}), "there is no class 'z'"),
        (lambda: stream.probs("u"), "there is no task 'u'"),
    ]:
        with pytest.raises(ValueError, match=message):
            wrong()
        assert stream.to_dict() == before
    stream.delete("t", "w")
    with pytest.raises(ValueError, match="worker 'w' has not voted on task 't'"):
        stream.delete("t", "w")


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match=r"mace needs all votes at once; majority_voting, .* can follow"):
        Stream(parse_strategy("mace"), CLASSES)
    for classes in (["a"], ["a", "a"], []):
        with pytest.raises(ValueError, match="two or more classes"):
            Stream(parse_strategy("mv"), classes)
    with pytest.raises(ValueError, match="half_life is 3, expected at least 10"):
        Stream(parse_strategy("mv"), CLASSES, half_life=3)
    with pytest.raises(ValueError, match="a stream needs smoothing above 0"):
        Stream(parse_strategy("ds[smoothing=0.0]"), CLASSES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dawid_skene", "one_coin", "glad"])
def test_a_million_votes_end_at_the_batch_answer(name):
    task, worker, label, truth = simulate(200_000, 50, 4, 5, seed=9)
    stream = Stream(parse_strategy(name), range(4))
    for n in range(0, len(task), 1000):
        stream.add_many(task[n : n + 1000], worker[n : n + 1000], label[n : n + 1000])
    truth = truth[stream.tasks.names]
    online = np.mean(stream.result().codes == truth)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        found = stream.refit()
        batch = stream.model.fit(Votes.of(task, worker, label))
    np.testing.assert_allclose(
        found.probs, batch.probs[np.argsort(batch.votes.tasks)][stream.tasks.names], atol=1e-6
    )
    assert abs(online - np.mean(found.codes == truth)) < 0.002
