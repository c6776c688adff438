"""One call looks at a crowd from all sides, whatever the votes are like."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.aggregation import MODELS, Aggregator, DawidSkene, MajorityVoting, OneCoin
from crowdpilot.aggregation.honest import make_honest
from crowdpilot.diagnosis import Diagnosis, FlagRules, diagnose
from crowdpilot.simulation import HammerSpammer, Simulation
from crowdpilot.simulation import OneCoin as Coins
from crowdpilot.votes import Votes
from tests.crowds import with_gold


def look(votes: Votes, model: Aggregator | None = None, **options) -> Diagnosis:
    return diagnose(votes, model or MajorityVoting(), samples=20, **options)


def mixed(seed: int) -> tuple[Simulation, np.ndarray]:
    """A crowd with 10 % spammers, 5 % colluders in groups of three and 5 % who drift."""
    rng = np.random.default_rng(1000 + seed)
    skill = rng.uniform(0.65, 0.95, 180)
    spams = rng.permutation(180) < 18
    skill[spams] = 0.25
    crowd = Coins(
        skill=tuple(skill), tasks=3000, workers=180, classes=4, votes_per_task=24,
        colluding=0.05, group_size=3, drifting=0.05, seconds=20.0, seed=seed,
    )  # fmt: skip
    return crowd.run(), spams


@pytest.mark.parametrize("seed", [0, 1])
def test_spammers_colluders_and_drifters_are_found(seed: int) -> None:
    made, spams = mixed(seed)
    found = diagnose(made.votes, DawidSkene(), samples=1)
    colludes = made.group >= 0
    alone = ~colludes  # who copies may copy a spammer
    for kind, true, judged in (
        ("colluding", colludes, np.ones(180, bool)),
        ("spammer", spams, alone),
        ("drifting", made.drifting & ~spams, alone & ~(spams & made.drifting)),
    ):
        flags = found.flags[kind]
        assert flags[true & judged].mean() >= 0.9
        assert (flags & ~true & judged).sum() <= max(1, 0.1 * flags.sum())
    np.testing.assert_array_equal(
        found.workers["group"][colludes][:, None] == found.workers["group"][colludes],
        made.group[colludes][:, None] == made.group[colludes],
    )


@pytest.fixture(scope="module")
def misbehaving_crowd() -> Simulation:
    """Forty workers: spammers, two groups of colluders, drifters; times, seconds and gold."""
    skill = np.random.default_rng(0).uniform(0.65, 0.95, 40)
    skill[[3, 14, 25, 36]] = 1 / 3
    made = Coins(
        skill=tuple(skill), tasks=500, workers=40, classes=3, votes_per_task=8,
        colluding=0.15, group_size=3, drifting=0.05, seconds=9.0, seed=2,
    ).run()  # fmt: skip
    return with_gold(made, every=20)


@pytest.fixture(scope="module")
def found(misbehaving_crowd: Simulation) -> Diagnosis:
    return look(misbehaving_crowd.votes, DawidSkene())


def test_tables_and_matrices_have_their_shapes(misbehaving_crowd: Simulation, found: Diagnosis) -> None:
    assert {len(column) for column in found.workers.values()} == {40}
    assert {len(column) for column in found.tasks.values()} == {500}
    assert all(flag.shape == (40,) and flag.dtype == bool for flag in found.flags.values())
    assert found.confusion.shape == (40, 3, 3)
    assert found.crowd_confusion.shape == (3, 3)
    assert {column.shape for column in found.windows.values()} == {(40, 8)}
    assert found.votes is misbehaving_crowd.votes is found.result.votes
    assert found.rules == FlagRules()
    assert repr(found).startswith("Diagnosis(Votes(4000 votes, 500 tasks, 40 workers, 3 classes); ")
    assert f"{found.flags['spammer'].sum()} spammer, " in repr(found)


def test_words_and_flags_say_the_same(found: Diagnosis) -> None:
    for name, flags in found.flags.items():
        listed = [name in words.split(", ") for words in found.workers["flags"]]
        np.testing.assert_array_equal(listed, flags)
    np.testing.assert_array_equal(found.workers["group"] >= 0, found.flags["colluding"])


def test_the_same_seed_gives_the_same_result(misbehaving_crowd: Simulation, found: Diagnosis) -> None:
    again = look(misbehaving_crowd.votes, DawidSkene())
    for one, other in ((found.workers, again.workers), (found.tasks, again.tasks)):
        for name in one:
            np.testing.assert_array_equal(one[name], other[name])
    assert found.agreement == again.agreement
    assert look(misbehaving_crowd.votes, seed=1).agreement != found.agreement


def test_the_order_of_votes_does_not_matter(misbehaving_crowd: Simulation, found: Diagnosis) -> None:
    shuffled = misbehaving_crowd.votes.take(
        np.random.default_rng(0).permutation(len(misbehaving_crowd.votes))
    )
    again = look(shuffled, DawidSkene())
    for one, other in ((found.workers, again.workers), (found.tasks, again.tasks)):
        for name, column in one.items():
            if column.dtype.kind == "f":
                np.testing.assert_allclose(column, other[name], atol=1e-6, err_msg=name)
            elif name != "review":  # of equals the first comes first, and rounding makes them differ
                np.testing.assert_array_equal(column, other[name], err_msg=name)


def test_renaming_changes_nothing_but_the_names(misbehaving_crowd: Simulation, found: Diagnosis) -> None:
    votes = replace(
        misbehaving_crowd.votes,
        tasks=np.array([("task", n) for n in range(500)] + [None], object)[:-1],
        workers=np.array([f"<b>{n}</b>" for n in range(40)], object),
        classes=np.array(["", "é", "a, b"], object),
    )
    again = look(votes, DawidSkene())
    assert again.workers["worker"][0] == "<b>0</b>"
    assert again.tasks["task"][1] == ("task", 1)
    np.testing.assert_array_equal(again.workers["flags"], found.workers["flags"])
    np.testing.assert_array_equal(again.tasks["why"], found.tasks["why"])


def test_suspects_are_left_out_and_copies_count_once(misbehaving_crowd: Simulation, found: Diagnosis) -> None:
    out, group = found.flags["spammer"], found.workers["group"]
    assert out.any()
    assert (group >= 0).any()
    rest = found.without_suspects.votes
    assert not out[rest.worker].any()
    assert len(rest) == (~out[misbehaving_crowd.votes.worker]).sum()
    for g in range(group.max() + 1):
        mine = group[rest.worker] == g
        each = np.bincount(rest.task[mine] * 3 + rest.label[mine], rest.weights[mine])
        np.testing.assert_allclose(each[each > 0], 1)
    assert (rest.weights[group[rest.worker] < 0] == 1).all()
    np.testing.assert_allclose(found.without_suspects.probs, make_honest(DawidSkene().fit(rest)).probs)


def test_changed_are_the_labels_that_are_others_without(found: Diagnosis) -> None:
    np.testing.assert_array_equal(found.changed, found.result.codes != found.without_suspects.codes)
    assert found.changed is found.tasks["changed"]
    assert set(found.tasks["why"][found.changed]) == {"label depends on flagged workers"}


def test_where_nobody_is_flagged_nothing_is_left_out() -> None:
    votes = Coins(skill=(0.9,) * 10, workers=10, tasks=100, classes=3, seed=1).run().votes
    found = look(votes)
    assert found.without_suspects is None
    assert not found.changed.any()
    assert found.windows is None
    assert not any(flag.any() for flag in found.flags.values())


def test_a_task_with_flagged_votes_alone_keeps_its_label() -> None:
    made = HammerSpammer(tasks=300, workers=20, classes=4, ratio=0.2, votes_per_task=8, seed=0).run()
    alone = made.votes.task == 0
    votes = replace(made.votes, worker=np.where(alone, 16 + np.arange(len(alone)) % 4, made.votes.worker))
    found = look(votes)
    assert found.flags["spammer"][16:].all()
    assert not found.changed[0]


def test_repeats_of_honest_workers_still_count_without_the_others() -> None:
    made = HammerSpammer(tasks=200, workers=20, classes=3, ratio=0.2, votes_per_task=8, seed=0).run()
    again = made.votes.take(np.repeat(np.arange(len(made.votes)), 2))
    found = look(again)
    assert found.flags["spammer"].sum() == 4
    assert (found.without_suspects.votes.weights == 1).all()


def test_further_scores_and_traps_are_handed_on(misbehaving_crowd: Simulation) -> None:
    found = look(misbehaving_crowd.votes, scores={"aum": np.arange(500)}, traps=range(0, 500, 40))
    np.testing.assert_array_equal(found.tasks["aum"], np.arange(500))
    assert "fails trap" in found.flags
    assert {"trap_votes", "trap_accuracy", "gold_accuracy"} <= set(found.workers)
    with pytest.raises(ValueError, match="aum has shape"):
        look(misbehaving_crowd.votes, scores={"aum": np.arange(5)})


def test_rules_are_followed(misbehaving_crowd: Simulation, found: Diagnosis) -> None:
    strict = look(
        misbehaving_crowd.votes,
        DawidSkene(),
        rules=FlagRules(false_discovery_rate=1e-4, target=0.999, level=0.5),
    )
    assert strict.rules.target == 0.999
    assert strict.tasks["more_votes"].sum() > found.tasks["more_votes"].sum()
    for kind in ("spammer", "colluding", "drifting"):
        assert not (strict.flags[kind] & ~found.flags[kind]).any()


NAN = float("nan")
ODD = {
    "one vote": Votes.of([1], ["x"], ["a"]),
    "one vote, two classes": Votes.of([1], ["x"], ["a"], classes=["a", "b"]),
    "one worker": Votes.of(range(30), ["x"] * 30, list("ab") * 15, time=range(30), seconds=[3.0] * 30),
    "one class": Votes.of([1, 1, 2], list("xyx"), ["a"] * 3, time=[1, 2, 3], seconds=[1, 2, 3]),
    "one task": Votes.of([1] * 20, range(20), list("ab") * 10),
    "all equal": Votes.of(np.repeat(range(20), 4), list("wxyz") * 20, ["a"] * 80, classes=["a", "b"]),
    "all different": Votes.of(np.repeat(range(20), 4), list("wxyz") * 20, range(80)),
    "a class without votes": Votes.of([1, 1, 2, 2], list("xyxy"), list("abab"), classes=list("abc")),
    "tasks without votes": Votes.of([1, 1], list("xy"), list("ab"), tasks=range(9)),
    "weights": Votes.of([1, 1, 2, 2], list("xyxy"), list("abaa"), weight=[0.2, 0.7, 3.5, 0]),
    "weights of nothing": Votes.of([1, 1, 2, 2], list("xyxy"), list("abaa"), weight=[0.0] * 4),
    "repeats": Votes.of([1, 1, 1, 2, 2], list("xxyyy"), list("abaaa"), repeats="all"),
    "gold": Votes.of([1, 1, 2, 2], list("xyxy"), list("abab"), gold={1: "a", 2: "b"}),
    "gold without votes": Votes.of([1, 1], list("xy"), list("ab"), tasks=[2], gold={2: "b"}),
    "missing seconds": Votes.of([1, 1, 2], list("xyx"), list("aba"), seconds=[NAN, 1, NAN]),
    "no seconds at all": Votes.of([1, 1, 2], list("xyx"), list("aba"), seconds=[NAN] * 3),
    "missing times": Votes.of([1, 1, 2], list("xyx"), list("aba"), time=[NAN, 1, NAN]),
    "no times at all": Votes.of([1, 1, 2], list("xyx"), list("aba"), time=[NAN] * 3),
    "names of any type": Votes.of([(1, 2), "1", 1.5], ["x", None, 3], ["<i>", "", "é"], repeats="all"),
    "a hundred classes": Coins(skill=(0.9,) * 6, workers=6, tasks=30, classes=100).run().votes,
}


@pytest.mark.parametrize("model", [MajorityVoting(), DawidSkene(), None], ids=str)
@pytest.mark.parametrize("name", ODD)
def test_no_votes_are_too_odd(name: str, model: Aggregator | None) -> None:
    votes = ODD[name]
    found = diagnose(votes, model, samples=5)
    assert {len(column) for column in found.workers.values()} == {len(votes.workers)}
    assert {len(column) for column in found.tasks.values()} == {len(votes.tasks)}
    assert not found.flags["spammer"].any()
    assert not found.flags["colluding"].any()


def test_nothing_to_look_at_is_said_in_one_sentence() -> None:
    with pytest.raises(ValueError, match="there are no tasks to diagnose"):
        look(Votes.of([], [], [], classes=["a", "b"]))
    found = look(Votes.of([], [], [], classes=["a", "b"], tasks=[1, 2]))
    assert found.tasks["why"].tolist() == ["no vote", "no vote"]


names = st.one_of(st.text(max_size=2), st.integers(0, 3), st.sampled_from(["007", "é", "nan", "<b>"]))
numbers = st.one_of(st.floats(0, 100), st.just(NAN))


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(names, names, st.sampled_from("abc"), numbers, numbers, st.floats(0, 3)),
        min_size=1,
        max_size=40,
    )
)
def test_no_input_is_too_odd(rows: list) -> None:
    task, worker, label, time, seconds, weight = zip(*rows, strict=True)
    columns = {"time": time, "seconds": seconds, "weight": weight}
    votes = Votes.of(task, worker, label, classes="abc", repeats="all", **columns)
    found = look(votes)
    for name in ("skill", "skill_low", "skill_high"):
        known = np.isfinite(found.workers[name])
        np.testing.assert_array_equal(known, votes.worker_sum() > 0)
    assert np.isfinite(found.tasks["confidence"]).all()


@pytest.mark.filterwarnings("ignore::crowdpilot.aggregation.NotConverged")
@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("gold_majority", "crowdlab")])
def test_every_aggregator_can_give_the_labels(name: str) -> None:
    made = HammerSpammer(tasks=100, workers=12, classes=3, ratio=0.25, votes_per_task=6, seed=3).run()
    found = diagnose(made.votes, MODELS[name](), samples=2)
    assert found.flags["spammer"][9:].all()
    assert not found.flags["spammer"][:9].any()
    assert found.without_suspects.model == MODELS[name]()


def test_without_a_model_the_choice_is_automatic() -> None:
    made = HammerSpammer(tasks=60, workers=8, classes=3, ratio=0.25, votes_per_task=5).run()
    assert diagnose(made.votes, samples=2).result.model.name == "auto"
    assert diagnose(made.votes, OneCoin(), samples=2).result.model == OneCoin()
