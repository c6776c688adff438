from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from crowdpilot.calibration.experience import AccuracyEstimate
from crowdpilot.diagnosis import Agreement, Diagnosis
from crowdpilot.reporting import findings
from crowdpilot.reporting.truth import match_truth, truth_metrics

Of = Callable[[str], Diagnosis]


def said(found: Any) -> str:
    """What findings say, in plain blanks."""
    found = found if isinstance(found, list) else [found]
    return " ".join(finding.text for finding in found).replace("\N{NO-BREAK SPACE}", " ")


def flag(diagnosis: Diagnosis, changed: int = 0, groups: int = 1, **flags: int) -> Diagnosis:
    """The same diagnosis with so many workers of each flag, one after the other, and labels that change."""
    W, T = len(diagnosis.votes.workers), len(diagnosis.votes.tasks)
    first, who, group = 0, {}, np.full(W, -1)
    for name, n in flags.items():
        who[name.replace("_", " ")] = (np.arange(W) >= first) & (np.arange(W) < first + n)
        first += n
    if flags.get("colluding"):
        group[who["colluding"]] = np.arange(flags["colluding"]) % groups
    tasks = diagnosis.tasks | {"changed": np.arange(T) < changed}
    some = any(flags.get(name) for name in ("spammer", "colluding"))
    without = diagnosis.result if some else None
    columns = diagnosis.workers | {"group": group}
    return replace(diagnosis, workers=columns, tasks=tasks, flags=who, without_suspects=without)


@pytest.mark.parametrize(
    ("spammer", "changed", "text"),
    [
        (0, 0, "No worker looks like a spammer or seems to copy from others."),
        (1, 0, "1 of 40 workers looks like a spammer; removing this one changes no labels."),
        (1, 1, "1 of 40 workers looks like a spammer; removing this one changes 1 label."),
        (3, 14, "3 of 40 workers look like spammers; removing them changes 14 labels."),
    ],
)
def test_spammers_are_counted_with_what_they_change(
    spammer: int, changed: int, text: str, whole: Diagnosis
) -> None:
    found = findings.suspect_findings(flag(whole, changed, spammer=spammer, colluding=0))
    assert said(found) == text
    assert found[0].tone == ("warn" if spammer else "good")


@pytest.mark.parametrize(
    ("spammer", "colluding", "groups", "text"),
    [
        (
            0, 3, 1,
            "3 of 40 workers seem to copy from each other, in 1 group; "
            "counting the group once changes 5 labels",
        ),
        (
            2, 6, 2,
            "2 of 40 workers look like spammers. 6 of 40 workers seem to copy from each other, in 2 groups. "
            "Removing the spammers and counting each group once changes 5 labels",
        ),
    ],
)  # fmt: skip
def test_colluding_groups_are_counted(
    spammer: int, colluding: int, groups: int, text: str, whole: Diagnosis
) -> None:
    found = findings.suspect_findings(flag(whole, 5, groups, spammer=spammer, colluding=colluding))
    assert said(found) == f"{text}."


def test_nothing_is_said_of_removing_everybody(whole: Diagnosis) -> None:
    all_out = replace(flag(whole, spammer=40), without_suspects=None)
    assert said(findings.suspect_findings(all_out)) == "40 of 40 workers look like spammers."


def test_the_only_worker_is_called_so(of: Of) -> None:
    assert said(findings.suspect_findings(flag(of("one worker"), 2, spammer=1))).startswith(
        "The only worker looks"
    )


def test_each_flag_has_its_sentence(whole: Diagnosis) -> None:
    found = flag(whole, drifting=2, too_fast=1, same_answer=0, fails_gold=3)
    found.workers["drift"] = np.append([-0.3, 0.2], np.zeros(38))
    assert said(findings.flag_findings(found)) == (
        "2 of 40 workers change in skill: 1 for the worse, 1 for the better. "
        "1 of 40 workers votes too fast. "
        "3 of 40 workers fail on the gold tasks. "
        "No worker nearly always gives the same answer."
    )


def test_flags_that_nobody_has_share_a_sentence(whole: Diagnosis) -> None:
    found = flag(whole, drifting=0, too_fast=0, same_answer=0)
    assert said(findings.flag_findings(found)) == (
        "No worker changes in skill, votes too fast or nearly always gives the same answer."
    )


def test_drift_in_one_direction_is_reported_so(whole: Diagnosis) -> None:
    found = flag(whole, drifting=1)
    found.workers["drift"] = np.full(40, -0.3)
    assert said(findings.flag_findings(found)) == "1 of 40 workers changes in skill, for the worse."


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ([0, 0, 0], "All 3 tasks reach the target"),
        ([0, 1, 0], "1 of 3 tasks is below the target; about 1 more vote would bring it there"),
        ([2, 0, 3], "2 of 3 tasks are below the target; about 5 more votes would bring them there"),
        ([2, 999, 3], "3 of 3 tasks are below the target; about 5 more votes would bring 2 of them there"),
        ([0, 999, 0], "1 of 3 tasks is below the target, and more votes of such workers would not help"),
        ([0], "The only task reaches the target"),
        ([4], "The only task is below the target; about 4 more votes would bring it there"),
    ],
)
def test_votes_that_are_needed_are_counted(more: list[int], text: str, whole: Diagnosis) -> None:
    found = replace(whole, tasks=whole.tasks | {"more_votes": np.array(more)})
    found_text = said(findings.more_votes_finding(found))
    target = f"the target of {100 * whole.rules.target:.0f} % confidence"
    assert found_text.replace(target, "the target") == f"{text}."


@pytest.mark.parametrize(
    ("value", "text", "tone"),
    [
        (0.85, "The workers agree well: Krippendorff's alpha is 0.85", "good"),
        (0.7, "The workers agree well enough for tentative conclusions", "plain"),
        (0.5, "The workers often disagree", "warn"),
        (-0.1, "The workers hardly agree more than by chance: Krippendorff's alpha is −0.10", "warn"),
    ],
)
def test_agreement_has_words_for_its_size(value: float, text: str, tone: str, whole: Diagnosis) -> None:
    row = Agreement("krippendorff_alpha", value, value - 0.01, value + 0.01, 9)
    found = findings.agreement_finding(replace(whole, agreement=(row,)))
    assert said(found).startswith(text)
    assert found.tone == tone


def test_agreement_that_is_undefined_is_not_reported(of: Of) -> None:
    assert said(findings.agreement_finding(of("one vote, two classes"))).endswith(
        "no task has several votes."
    )
    assert said(findings.agreement_finding(of("all votes equal"))).endswith("all votes are the same.")


def test_measures_have_names() -> None:
    assert findings.measure_name("krippendorff_alpha_ordinal") == "Krippendorff's alpha, ordinal"
    assert findings.measure_name("gwet_ac1") == "Gwet's AC1"
    assert findings.measure_name("some_new_one") == "some new one"


def test_the_size_is_described(of: Of, whole: Diagnosis) -> None:
    assert findings.describe_size(of("one vote")) == "1 worker gave 1 vote on 1 task with 1 class."
    assert findings.describe_size(whole) == (
        "40 workers gave 6,400 votes on 400 tasks with 4 classes. Each task has 16 votes. "
        "7 rows hold no vote and were left out."
    )
    found = of("tasks and workers without votes")
    assert "Each task has 0 to" in findings.describe_size(found)


def test_class_balance_is_described(of: Of) -> None:
    assert said(findings.class_balance_finding(of("one class"))).startswith("There is only one class")
    assert "one class is the label of no task" in said(
        findings.class_balance_finding(of("a class without a vote"))
    )
    assert "times as often as the rarest" in said(findings.class_balance_finding(of("all there is")))
    assert "equally frequent" in said(findings.class_balance_finding(of("two workers who never meet")))


def test_missing_columns_are_reported(of: Of, whole: Diagnosis) -> None:
    assert findings.missing_columns_finding(whole) is None
    assert said(findings.missing_columns_finding(of("one worker"))) == (
        "Without seconds, times or gold tasks, speed, drift and accuracy on gold tasks cannot be judged."
    )


def test_accuracy_against_the_truth_comes_first(whole: Diagnosis) -> None:
    truth = dict(zip(whole.votes.tasks.tolist(), whole.result.labels.tolist(), strict=True))
    sure = replace(whole.result, posterior=np.eye(4)[whole.result.codes])
    known = match_truth(sure, truth)
    first = findings.list_findings(whole, known, truth_metrics(known))[0]
    assert said(first) == (
        "Measured on 400 tasks of known class, 100 % of the labels are right, "
        "and the confidence is calibrated on average."
    )


def test_wrong_labels_are_counted_as_a_range(whole: Diagnosis) -> None:
    params = whole.result.params | {"expected_accuracy": AccuracyEstimate(0.9, 0.85, 0.95)}
    honest = replace(whole, result=replace(whole.result, params=params, posterior=np.full((400, 4), 0.9)))
    assert findings.accuracy_finding(honest) == findings.Finding(
        "plain", "Of 400 labels, about 20 to 60 may be wrong."
    )
    sure = replace(honest, result=replace(honest.result, posterior=np.full((400, 4), 0.99)))
    found = findings.accuracy_finding(sure)
    assert found.tone == "warn"
    assert said(found).endswith("The confidence of auto is 99 % on average: it is too sure.")


def test_overconfidence_is_reported(whole: Diagnosis) -> None:
    known = match_truth(whole.result, dict.fromkeys(whole.votes.tasks.tolist(), "cat"))
    first = findings.truth_finding(known, truth_metrics(known))
    assert "points too high on average" in first.text
    assert first.tone == "warn"


def test_the_summary_of_any_crowd_is_made_of_sentences(odd: Diagnosis) -> None:
    for finding in findings.list_findings(odd):
        assert finding.text.endswith(".")
        assert "nan" not in finding.text
        assert finding.text[0].isupper() or finding.text[0].isdigit()
