from __future__ import annotations

import json

import numpy as np
import pytest

from crowdpilot.hybrid import Campaign, Costs

ITEMS = [f"i{n}" for n in range(30)]


def campaign() -> Campaign:
    return Campaign(ITEMS, ["no", "yes"], Costs.binary(fp=1, fn=2, crowd=0.02))


def crowd(seed: int) -> list[tuple[str, str, str]]:
    rng = np.random.default_rng(seed)
    places = rng.permutation(180)[:90]
    return [
        (f"i{p // 6}", f"w{p % 6}", "yes" if (p // 6 % 3 == 0) ^ (rng.random() < 0.2) else "no")
        for p in places
    ]


@pytest.mark.parametrize("seed", range(4))
def test_a_lesson_brings_another_campaign_to_the_same_beliefs(seed):
    votes = crowd(seed)
    teacher, pupil = campaign(), campaign()
    for c in (teacher, pupil):
        c.tell(votes[:60], refit=False)
    teacher.refit()
    lesson = json.loads(json.dumps(teacher.lesson()))
    pupil.tell(votes[60:], refit=False)
    pupil.learn(lesson)
    teacher.tell(votes[60:], refit=False)
    np.testing.assert_allclose(pupil.believed(), teacher.believed(), atol=1e-12)
    np.testing.assert_allclose(pupil.wishes.want, teacher.wishes.want, atol=1e-9)
    again = campaign()
    again.tell(votes, refit=False)
    again.learn(lesson)
    np.testing.assert_array_equal(again.believed(), pupil.believed())
    np.testing.assert_array_equal(again.wishes.want, pupil.wishes.want)


def test_a_lesson_of_a_machine_teaches_one_that_has_none():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 3))

    class Line:
        def fit(self, rows, targets):
            self.coef = np.linalg.lstsq(rows, targets[:, 1] * 2 - 1, rcond=None)[0]
            return self

        def predict_proba(self, rows):
            p = 1 / (1 + np.exp(-rows @ self.coef))
            return np.stack([1 - p, p], axis=1)

    costs = Costs.binary(crowd=0.02)
    teacher = Campaign(ITEMS, ["no", "yes"], costs, features=x, classifier=Line())
    pupil = Campaign(ITEMS, ["no", "yes"], costs)
    for c in (teacher, pupil):
        c.tell(crowd(1), refit=False)
    teacher.refit()
    pupil.learn(teacher.lesson())
    np.testing.assert_allclose(pupil.believed(), teacher.believed(), atol=1e-12)
    pupil.add(["new"])
    pupil.learn(teacher.lesson())
    assert pupil.decide().probs.shape == (31, 2)
