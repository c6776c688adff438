from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from crowdpilot.aggregation import MajorityVoting
from crowdpilot.diagnosis import Diagnosis, diagnose
from crowdpilot.reporting import report
from crowdpilot.reporting.advice import recommend
from crowdpilot.reporting.report_plots import PLOTS
from crowdpilot.reporting.task_cards import AMBIGUITY, MAX_CARDS, CardBuilder
from crowdpilot.reporting.truth import match_truth
from crowdpilot.simulation import one_coin

VOTES, TRUTH = one_coin(tasks=40, skill=[0.9, 0.7, 0.6], seed=0)
WAUM = np.random.default_rng(0).permutation(40).astype(float)


def scored(**scores: np.ndarray) -> Diagnosis:
    return diagnose(VOTES, MajorityVoting(), scores=scores, samples=10)


def builder(diagnosis: Diagnosis, **settings: object) -> CardBuilder:
    return CardBuilder(diagnosis, **({"known": None, "texts": None, "images": None} | settings))  # type: ignore[arg-type]


def test_the_most_ambiguous_tasks_come_first() -> None:
    (found,) = builder(scored(waum=WAUM)).ambiguous_tasks()
    assert (found.name, found.title) == ("waum", "WAUM")
    assert [card.score for card in found.cards] == list(range(MAX_CARDS))
    assert [card.task for card in found.cards] == VOTES.tasks[np.argsort(WAUM)[:MAX_CARDS]].tolist()


def test_tasks_without_a_score_are_not_shown() -> None:
    some = np.where(np.arange(40) < 3, WAUM, np.nan)
    (found,) = builder(scored(aum=some)).ambiguous_tasks()
    assert len(found.cards) == 3
    assert builder(scored(aum=np.full(40, np.nan))).ambiguous_tasks() == []


def test_scores_of_other_kinds_are_in_the_table_alone() -> None:
    assert builder(scored(beauty=WAUM)).ambiguous_tasks() == []
    assert '"name":"beauty"' in report(scored(beauty=WAUM))


def test_a_card_says_what_was_said_and_what_is_true(tmp_path: Path) -> None:
    diagnosis = scored(waum=WAUM)
    worst = int(np.argmin(WAUM))
    known = match_truth(diagnosis.result, {worst: "1"})
    (tmp_path / f"{worst}.png").write_bytes(b"picture")
    (found,) = builder(diagnosis, known=known, texts={worst: "words"}, images=tmp_path).ambiguous_tasks()
    card = found.cards[0]
    labels = VOTES.label[VOTES.task == worst]
    assert {name: n for name, n, _ in card.tally} == {
        str(k): int((labels == k).sum()) for k in np.unique(labels)
    }
    assert str(card.truth) == "1"
    assert card.content.text == "words"
    assert card.content.image.startswith("data:image/png;base64,")


def test_tasks_for_review_are_the_least_sure_ones_without_gold() -> None:
    gold = {int(task): VOTES.classes[TRUTH[task]] for task in range(20)}
    diagnosis = diagnose(VOTES.with_gold(gold), MajorityVoting(), samples=10)
    found = builder(diagnosis).review_cards()
    assert found
    assert all(card.task >= 20 and card.why and card.score is None for card in found)
    assert [card.confidence for card in found] == sorted(card.confidence for card in found)


@pytest.mark.parametrize("name", AMBIGUITY)
def test_the_page_shows_them_with_a_picture_of_all_scores(name: str) -> None:
    text = report(scored(**{name: WAUM}))
    assert f'id="ambiguous-{name}"' in text
    assert f'id="plot-score-{name}"' in text
    assert text.count('<p class="score">') == MAX_CARDS


def test_a_page_without_scores_has_none_of_it(page: Callable[[str], str]) -> None:
    text = page("all there is")
    assert "Ambiguous tasks" not in text
    assert 'class="score"' not in text
    assert not re.search(r'id="plot-score', text)


def test_a_wrong_label_is_marked_as_wrong() -> None:
    diagnosis = scored(waum=WAUM)
    right = {int(t): diagnosis.result.labels[t] for t in range(40)}
    wrong = {t: VOTES.classes[1 - int(diagnosis.result.codes[t])] for t in right}
    assert 'class="wrong"' not in report(diagnosis, truth=right)
    assert report(diagnosis, truth=wrong).count('class="wrong"') >= MAX_CARDS


def test_one_score_of_one_task_can_be_shown() -> None:
    one = np.where(np.arange(40) == 5, 0.25, np.nan)
    text = report(scored(waum=one))
    assert "with the votes on this task" in text
    assert "0.250" in text


def test_the_recommended_action_is_to_review_them() -> None:
    (action,) = [action for action in recommend(scored(waum=WAUM)) if "WAUM" in action.title]
    assert action.title == f"Review the {MAX_CARDS} tasks with the lowest WAUM"
    assert set(action.rows) == set(np.argsort(WAUM)[:MAX_CARDS].tolist())
    assert (action.table, action.file) == ("tasks", "ambiguous.csv")


def test_the_histogram_counts_every_task_once() -> None:
    (plot,) = [plot for plot in PLOTS if plot.name == "score-waum"]
    axes = plot.draw(scored(waum=WAUM), None)
    top = {}
    for bar in axes.patches:
        top[round(bar.get_x(), 6)] = max(top.get(round(bar.get_x(), 6), 0), bar.get_y() + bar.get_height())
    assert sum(top.values()) == 40
