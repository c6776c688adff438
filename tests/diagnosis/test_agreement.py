"""Measures of agreement equal those of independent packages, and their intervals cover."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from crowdpilot.diagnosis.agreement import (
    MEASURES,
    SCALES,
    Agreement,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    measure_agreement,
    percent_agreement,
)
from crowdpilot.diagnosis.vote_patterns import count_patterns
from crowdpilot.simulation import one_coin
from crowdpilot.votes import Votes


def rate(seed: int, missing: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Random ratings, (workers, tasks) with NaN where there is none, and all numbers they may be."""
    rng = np.random.default_rng(seed)
    tasks, workers, K = rng.integers(2, 50), rng.integers(2, 10), rng.integers(2, 9)
    prior = rng.dirichlet(np.full(K, rng.choice([0.3, 1, 5])))
    truth = rng.choice(K, tasks, p=prior)
    guess = rng.choice(K, (workers, tasks), p=prior)
    said = np.where(rng.random((workers, tasks)) < rng.uniform(0.1, 1), truth, guess)
    numbers = np.sort(rng.choice([rng.uniform(0, 20, K), 1e5 + np.arange(K), np.arange(K) / 2]))
    gone = rng.random((workers, tasks)) < rng.choice([0, 0.3, 0.7]) * missing
    return np.where(gone, np.nan, numbers[said]), numbers


def to_votes(ratings: np.ndarray, numbers: np.ndarray) -> Votes:
    worker, task = np.nonzero(~np.isnan(ratings))
    return Votes.of(task, worker, ratings[worker, task], classes=numbers.tolist())


def is_varied(ratings: np.ndarray) -> bool:
    """Whether tasks with two ratings or more have more than one number between them."""
    pairable = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
    return len(np.unique(pairable[~np.isnan(pairable)])) > 1


@pytest.mark.parametrize("scale", SCALES)
def test_alpha_is_that_of_the_package_krippendorff(scale: str) -> None:
    """krippendorff 0.9 on 200 random inputs."""
    inputs = [pair for pair in map(rate, range(250)) if is_varied(pair[0])][:200]
    found = [krippendorff_alpha(to_votes(*pair), scale) for pair in inputs]
    expected = [krippendorff.alpha(r, value_domain=n, level_of_measurement=scale) for r, n in inputs]
    assert len(inputs) == 200
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_kappa_is_that_of_statsmodels_for_equal_numbers_of_votes() -> None:
    """statsmodels 0.15 on 200 random inputs."""
    inputs = [pair for n in range(250) if is_varied((pair := rate(n, missing=False))[0])][:200]
    found = [fleiss_kappa(to_votes(*pair)) for pair in inputs]
    counts = [(ratings[..., None] == numbers).sum(axis=0) for ratings, numbers in inputs]
    assert len(inputs) == 200
    np.testing.assert_allclose(found, [inter_rater.fleiss_kappa(c) for c in counts], rtol=0, atol=1e-9)


# Ratings by task and rater, number of classes, AC1 and Fleiss' kappa as by irrCAC 0.4.4 (digits=15).
# The last one is its example with 4 raters, also in Gwet's book. `benchmarks.agreement` has 200 more.
IRRCAC = [
    ("0.00 000. .330 .0.0 ..33 333. 3333 33.3", 4, 0.900552486187846, 0.828571428571429),
    ("..0 001 .11 000 ... ... 1.1 .1.", 2, 0.670731707317073, 0.6625),
    ("333 ... 0.0 0.. 0.. ..0", 4, 1.0, 1.0),
    ("11.1 ...1 ..20 .2.1 .222 212. ..11 .1.2", 3, 0.279488272921109, 0.040654099477629),
    ("132 22. 233 .21 3.3 ..3", 4, 0.333247588424437, 0.111568123393316),
    ("1.11 1.1. ...1 11.. .110 1111 ..11 .11.", 2, 0.896495956873316, -0.192546583850933),
    ("0. .. .. 02 .0 00 0. 0.", 3, 0.458646616541353, -2.272727272727265),
    (".0 11 11 11", 2, 1.0, 1.0),
    (".0 00 .0 02", 3, 0.43859649122807, -1.285714285714286),
    ("11.11 .01.1 ...1. 10.11 0000. 10001 .1111 11111", 2, 0.581550557500817, 0.364065580736986),
    (".0 3. 11 .3 .0", 4, 1.0, 1.0),
    ("00.0 1121 2222 2222 1111 0123 3333 0010 1111 .444 ..00 ..2.", 5, 0.775444068126995, 0.761169275422411),
]


@pytest.mark.parametrize(("ratings", "K", "ac1", "kappa"), IRRCAC)
def test_ac1_and_kappa_are_those_of_irrcac_for_any_number_of_votes(
    ratings: str, K: int, ac1: float, kappa: float
) -> None:
    rows = [(t, r, int(c)) for t, row in enumerate(ratings.split()) for r, c in enumerate(row) if c != "."]
    votes = Votes.of(*zip(*rows, strict=True), classes=range(K))
    assert gwet_ac1(votes) == pytest.approx(ac1, abs=1e-9)
    assert fleiss_kappa(votes) == pytest.approx(kappa, abs=1e-9)


ballots = st.lists(st.lists(st.integers(0, 3), max_size=5), max_size=8)  # the labels of each task


def elect(labels: list[list[int]], K: int = 4) -> Votes:
    rows = [(t, w, label) for t, row in enumerate(labels) for w, label in enumerate(row)]
    columns = zip(*rows, strict=True) if rows else ((), (), ())
    return Votes.of(*columns, classes=range(K), tasks=range(len(labels)))


@given(ballots)
def test_kappa_and_ac1_are_what_the_formulas_say(labels: list[list[int]]) -> None:
    voted, paired = [row for row in labels if row], [row for row in labels if len(row) > 1]
    shares = [sum(row.count(k) / len(row) for row in voted) / max(len(voted), 1) for k in range(4)]
    equal = [np.mean([a == b for a, b in permutations(row, 2)]) for row in paired]
    votes = elect(labels)
    if not paired:
        assert np.isnan([f(votes) for f in (percent_agreement, fleiss_kappa, gwet_ac1)]).all()
        return
    agreed, by_use = np.mean(equal), sum(p * p for p in shares)
    by_doubt = sum(p * (1 - p) for p in shares) / 3
    assert percent_agreement(votes) == pytest.approx(agreed)
    assert gwet_ac1(votes) == pytest.approx((agreed - by_doubt) / (1 - by_doubt))
    if max(shares) < 1 - 1e-9:
        assert fleiss_kappa(votes) == pytest.approx((agreed - by_use) / (1 - by_use))
    else:
        assert np.isnan(fleiss_kappa(votes))


@pytest.mark.parametrize("scale", SCALES)
@given(ballots)
def test_alpha_is_what_the_definition_says(scale: str, labels: list[list[int]]) -> None:
    paired = [row for row in labels if len(row) > 1]
    pool = [label for row in paired for label in row]
    use = Counter(pool)

    def distance(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        between = sum(use[k] for k in range(low, high + 1)) - (use[a] + use[b]) / 2
        ratio = (a - b) / (a + b) if a + b else 0
        return {"nominal": a != b, "ordinal": between, "interval": a - b, "ratio": ratio}[scale] ** 2

    within = sum(distance(a, b) / (len(row) - 1) for row in paired for a, b in permutations(row, 2))
    overall = sum(distance(a, b) for a, b in permutations(pool, 2)) / max(len(pool) - 1, 1)
    found = krippendorff_alpha(elect(labels), scale)
    assert np.isnan(found) if len(use) < 2 else found == pytest.approx(1 - within / overall)


def test_the_example_of_krippendorff() -> None:
    """Computing Krippendorff's alpha-reliability, 2011, part C (four observers, missing data)."""
    rows = "123321412...", "1233224125.3", ".3332342251.", "12332441251."
    ratings = np.array([[float(c) if c != "." else np.nan for c in row] for row in rows])
    votes = to_votes(ratings, np.arange(1.0, 6))
    found = [round(krippendorff_alpha(votes, scale), 3) for scale in SCALES]
    assert found == [0.743, 0.815, 0.849, 0.797]


@given(ballots, st.randoms())
def test_the_order_of_votes_does_not_matter(labels: list[list[int]], random) -> None:
    votes = elect(labels)
    order = np.array(random.sample(range(len(votes)), len(votes)), int)
    found = measure_agreement(votes.take(order), samples=20)
    np.testing.assert_equal(
        [row[1:] for row in found], [row[1:] for row in measure_agreement(votes, samples=20)]
    )


def test_names_of_classes_matter_only_where_they_have_an_order(simulated) -> None:
    votes, _ = simulated
    renamed = replace(votes, label=np.array([2, 0, 1])[votes.label])
    for measure in (percent_agreement, fleiss_kappa, gwet_ac1, krippendorff_alpha):
        assert measure(renamed) == pytest.approx(measure(votes))
    assert krippendorff_alpha(renamed, "ordinal") != pytest.approx(krippendorff_alpha(votes, "ordinal"))


def test_the_order_of_the_classes_is_that_of_the_votes() -> None:
    labels = ["bad", "bad", "poor", "good", "good", "good", "poor", "bad"]
    votes = Votes.of([1, 1, 2, 2, 3, 3, 4, 4], list("xyxyxyxy"), labels, classes=["bad", "poor", "good"])
    codes = Votes.of([1, 1, 2, 2, 3, 3, 4, 4], list("xyxyxyxy"), votes.label)
    assert krippendorff_alpha(votes, "ordinal") == krippendorff_alpha(codes, "ordinal")


def test_a_task_with_one_vote_changes_nothing_of_alpha(simulated) -> None:
    votes, _ = simulated
    paired = ["percent_agreement", "krippendorff_alpha", "krippendorff_alpha_ordinal"]
    lonely = replace(
        votes,
        task=np.append(votes.task, np.arange(150, 200)),
        worker=np.append(votes.worker, np.zeros(50, int)),
        label=np.append(votes.label, np.arange(50) % 2),
        tasks=np.arange(200),
    )
    assert measure_agreement(lonely, measures=paired) == measure_agreement(votes, measures=paired)
    assert fleiss_kappa(lonely) != fleiss_kappa(votes)  # chance knows all votes


def test_a_weight_is_a_number_of_votes() -> None:
    labels = [[0, 0, 1], [1, 1], [2, 2, 2, 0], [3]]
    once = Votes.of([0, 0, 1, 2, 2, 3, 3], list("abcdefg"), [0, 1, 1, 2, 0, 3, 1], classes=range(4),
                    weight=[2, 1, 2, 3, 1, 1, 0])  # fmt: skip
    assert measure_agreement(once, samples=50) == measure_agreement(elect(labels), samples=50)


def test_a_part_of_a_vote_is_refused() -> None:
    votes = Votes.of([1, 1], ["x", "y"], ["a", "b"], weight=[1, 0.5])
    with pytest.raises(ValueError, match=r"the weight 0\.5, and agreement takes whole numbers only"):
        percent_agreement(votes)


def test_if_only_one_class_is_used_chance_leaves_nothing_to_agree_on() -> None:
    for K in (1, 3):
        votes = elect([[0] * 49, [0, 0, 0], [0]], K)  # 49 / 49 is not one if computed as 49 * (1 / 49)
        assert percent_agreement(votes) == 1
        assert gwet_ac1(votes) == 1
        assert np.isnan([krippendorff_alpha(votes, scale) for scale in SCALES]).all()
        assert np.isnan(fleiss_kappa(votes))


def test_alpha_of_equal_numbers_of_different_names_is_undefined() -> None:
    votes = Votes.of([1, 1, 2, 2], list("xyxy"), ["0.7", "0.70", "0.70", "0.7"])
    assert np.isnan([krippendorff_alpha(votes, scale) for scale in ("interval", "ratio")]).all()


@pytest.mark.parametrize("labels", [[], [[]], [[0]], [[0], [1], []]])
def test_without_two_votes_on_a_task_all_is_undefined(labels: list[list[int]]) -> None:
    found = measure_agreement(elect(labels), samples=20)
    assert [row.tasks for row in found] == [0] * len(MEASURES)
    assert np.isnan([row[1:4] for row in found]).all()


def test_two_votes_are_enough() -> None:
    votes = Votes.of([1, 1], ["x", "y"], ["a", "b"])
    assert measure_agreement(votes, measures=["percent_agreement", "krippendorff_alpha"], samples=20) == (
        Agreement("percent_agreement", 0, 0, 0, 1),
        Agreement("krippendorff_alpha", 0, 0, 0, 1),
    )


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e200])
def test_neither_the_unit_nor_the_origin_matters_to_intervals(scale: float) -> None:
    ratings, _ = rate(3)
    codes, numbers = np.nan_to_num(ratings, nan=-1), np.unique(ratings[~np.isnan(ratings)])
    base = krippendorff_alpha(to_votes(ratings, numbers), "interval")
    small = np.arange(len(numbers)) * 0.5
    other = np.where(codes < 0, np.nan, small[np.searchsorted(numbers, codes).clip(0, len(small) - 1)])
    assert base == pytest.approx(krippendorff_alpha(to_votes(ratings * scale, numbers * scale), "interval"))
    moved = krippendorff_alpha(to_votes(other + 2**40, small + 2**40), "interval")
    assert moved == pytest.approx(krippendorff_alpha(to_votes(other, small), "interval"), abs=1e-9)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("seed", range(5))
def test_a_vote_pattern_of_weight_two_is_two_tasks(name: str, seed: int) -> None:
    patterns = count_patterns(to_votes(*rate(seed)))
    weights = np.random.default_rng(seed).integers(0, 3, (6, len(patterns.tasks)))
    expected = []
    for weight in weights:
        counts = np.repeat(patterns.counts.toarray().astype(int), weight, axis=0)
        ids = np.arange(counts.shape[1])
        votes = elect([np.repeat(ids, row).tolist() for row in counts], len(ids))
        again = count_patterns(replace(votes, classes=patterns.classes))
        expected.append(MEASURES[name](again, again.tasks))
    np.testing.assert_allclose(MEASURES[name](patterns, weights.astype(float)), expected, atol=1e-9)


def test_intervals_are_those_of_tasks_drawn_again() -> None:
    votes = one_coin(tasks=80, skill=[0.9, 0.7, 0.6, 0.5], classes=3, seed=1).votes
    labels = votes.label[np.argsort(votes.task, kind="stable")].reshape(80, 4)
    rng = np.random.default_rng(2)
    drawn = [elect(labels[rng.integers(80, size=80)].tolist(), 3) for _ in range(400)]
    values = np.array([[row.value for row in measure_agreement(votes, samples=1)] for votes in drawn])
    found = np.array([row[2:4] for row in measure_agreement(votes, level=0.8, samples=4000)])
    gap = np.abs(found.T - np.quantile(values, [0.1, 0.9], axis=0)) / values.std(axis=0)
    assert gap.shape == (2, len(MEASURES))
    assert gap.max() < 0.25


def test_intervals_cover_the_values_of_all_tasks() -> None:
    skill, parts = [0.9, 0.8, 0.7, 0.6, 0.5], 200
    votes = one_coin(tasks=parts * 100, skill=skill, classes=4, seed=5).votes
    value = np.array([row.value for row in measure_agreement(votes, samples=1)])
    labels = votes.label[np.argsort(votes.task, kind="stable")].reshape(parts, 100, len(skill))
    found = [measure_agreement(elect(part.tolist()), level=0.9, samples=200) for part in labels]
    low, high = np.array([[row[2:4] for row in rows] for rows in found]).transpose(2, 0, 1)
    covered = ((low <= value) & (value <= high)).mean(axis=0)
    assert covered.shape == (len(MEASURES),)
    assert ((covered > 0.84) & (covered < 0.96)).all()


def test_all_measures_come_by_default_if_classes_are_numbers_of_some_order(simulated) -> None:
    votes, _ = simulated
    found = measure_agreement(votes, samples=10)
    assert [row.measure for row in found] == list(MEASURES)
    assert all(row.low <= row.value <= row.high and row.tasks == 150 for row in found)
    text = replace(votes, classes=["0", "1", "2.5"])
    assert [row.measure for row in measure_agreement(text, samples=10)] == list(MEASURES)


@pytest.mark.parametrize(("classes", "left"), [(["a", "b", "c"], 4), ([True, False, 2], 4), ([-1, 0, 1], 6)])
def test_what_makes_no_sense_for_the_classes_is_left_out(classes: list, left: int, simulated) -> None:
    votes = replace(simulated[0], classes=classes)
    assert [row.measure for row in measure_agreement(votes, samples=10)] == list(MEASURES)[:left]


def test_ratios_of_very_many_classes_must_be_asked_for(simulated) -> None:
    many = replace(simulated[0], classes=np.arange(1001))
    assert "krippendorff_alpha_ratio" not in [row.measure for row in measure_agreement(many, samples=2)]
    assert measure_agreement(many, measures=["krippendorff_alpha_ratio"], samples=2)[
        0
    ].value == pytest.approx(krippendorff_alpha(simulated[0], "ratio"))


@pytest.mark.parametrize(
    ("classes", "scale", "message"),
    [
        (["a", "b", "c"], "interval", "a class is not a number .* 'a'"),
        (["1", "2", "nan"], "interval", "infinite or NaN"),
        ([-2, 0, 1], "ratio", "class -2 is negative, and a ratio scale begins at 0"),
        ([1, 2, 3], "total", "scale is 'total', expected one of nominal, ordinal, interval, ratio"),
    ],
)
def test_a_scale_that_the_classes_do_not_have_is_refused(classes, scale, message, simulated) -> None:
    with pytest.raises(ValueError, match=message):
        krippendorff_alpha(replace(simulated[0], classes=classes), scale)


def test_an_unknown_measure_is_refused(simulated) -> None:
    with pytest.raises(ValueError, match="there is no measure 'kappa'; there are percent_agreement, fleiss"):
        measure_agreement(simulated[0], measures=["kappa"])


def test_a_senseless_interval_is_refused(simulated) -> None:
    with pytest.raises(ValueError, match="level is 95"):
        measure_agreement(simulated[0], level=95)


def test_the_seed_decides_the_interval(simulated) -> None:
    votes, _ = simulated
    assert measure_agreement(votes, samples=50) == measure_agreement(votes, samples=50)
    assert measure_agreement(votes, samples=50) != measure_agreement(votes, samples=50, seed=1)


def test_a_million_classes_take_no_dense_array() -> None:
    task, worker = np.repeat(np.arange(100_000), 2), np.tile([0, 1], 100_000)
    label = np.where(worker == 0, task, (task * 7) % 1_000_000)
    votes = Votes(task, worker, label, np.arange(100_000), np.arange(2), np.arange(1_000_000))
    assert krippendorff_alpha(votes) == pytest.approx(0, abs=1e-4)
    assert krippendorff_alpha(votes, "interval") < 1
    assert krippendorff_alpha(votes, "ordinal") < 1
    assert gwet_ac1(votes) == pytest.approx(0, abs=1e-4)
