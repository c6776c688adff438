from __future__ import annotations

import re
from collections.abc import Callable

from crowdpilot.aggregation import aggregate, suggest_gold
from crowdpilot.aggregation.accuracy.statements import state_gain
from crowdpilot.diagnosis import Diagnosis
from crowdpilot.reporting import report
from crowdpilot.reporting.headline import make_headline
from crowdpilot.simulation import one_coin

BLANK = "\N{NO-BREAK SPACE}"


def test_the_claim_is_the_range_of_the_expected_accuracy() -> None:
    votes, _ = one_coin(tasks=300, skill=[0.9, 0.8, 0.7, 0.6], seed=0)
    result = aggregate(votes)
    suggestion = suggest_gold(result, None)
    headline = make_headline(result, suggestion)
    low, high = (round(100 * share) for share in (result.expected_accuracy[1:3]))
    assert headline.claim == f"About {low} to {high}{BLANK}% of these labels are right"
    assert headline.estimate == result.expected_accuracy
    assert f"{state_gain(suggestion).capitalize()}." in headline.details
    assert headline.caveats == []
    assert not any("gold" in detail for detail in headline.details)


def test_gold_labels_are_mentioned(whole: Diagnosis) -> None:
    headline = make_headline(whole.result, suggest_gold(whole.result, None))
    assert any(
        re.match(r"60 gold labels are used: by the votes alone \d+ of", text) for text in headline.details
    )


def test_every_headline_is_made_of_sentences(odd: Diagnosis) -> None:
    headline = make_headline(odd.result, suggest_gold(odd.result, None))
    assert headline.claim.startswith("About ")
    assert all(text.endswith(".") and text[0] == text[0].upper() for text in headline.details)
    assert "nan" not in "".join(headline.details)


def test_the_report_begins_with_the_claim_and_its_caveats(page: Callable[[str], str]) -> None:
    html = page("one worker")
    claim, caveat = html.index("of these labels are right</p>"), html.index("All votes come from one worker")
    assert claim < caveat < html.index('<ul class="findings">')
    assert 'class="caveats" role="note"' in html


def test_a_report_without_caveats_has_no_box() -> None:
    votes, _ = one_coin(tasks=50, skill=[0.9, 0.8, 0.7], seed=0)
    assert 'class="caveats"' not in report(votes)


def test_the_file_of_tasks_to_check_has_no_label_to_agree_with() -> None:
    votes, _ = one_coin(tasks=300, skill=[0.9, 0.8, 0.7, 0.6], seed=0)
    html = report(votes, source="votes.csv")
    assert re.search(r'data-file="check.csv" data-fill-in="truth"', html)
    assert "crowdpilot report votes.csv --gold check.csv -o report.html" in html
