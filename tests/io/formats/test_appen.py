"""Reports of Appen, which was Figure Eight and CrowdFlower."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io import ReadingWarning, explain, read

pytestmark = pytest.mark.usefixtures("each_engine")


def judgment(unit: int, worker: int, /, **more: Any) -> dict[str, Any]:
    about = {
        "_unit_id": unit,
        "_created_at": "2/17/2015 09:21:49",
        "_golden": "false",
        "_id": 10 * unit + worker,
    }
    other = {"_missed": "", "_started_at": "2/17/2015 09:21:39", "_tainted": "false", "_channel": "elite"}
    return {**about, **other, "_trust": "0.9", "_worker_id": worker, "_country": "USA", **more}


def report(*rows: dict[str, Any]) -> str:
    stream = io.StringIO()
    names = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(stream, list(names))
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


FULL = [
    judgment(1, 5, mood="good", airline="blue", mood_gold=""),
    judgment(1, 6, mood="bad", airline="blue", mood_gold=""),
    judgment(2, 5, mood="bad", airline="red", mood_gold="bad", _golden="true"),
    judgment(2, 6, mood="good", airline="red", mood_gold="bad", _tainted="true"),
]


def test_judgments_are_votes_and_tainted_ones_are_not(save, rows):
    reading = explain(save("full.csv", report(*FULL)))
    votes = reading.votes
    assert rows(votes) == [(1, 5, "good"), (1, 6, "bad"), (2, 5, "bad")]
    assert reading.left_out == {"tainted": 1}
    assert votes.classes[votes.gold[1]] == "bad"
    assert votes.gold[0] == -1
    assert votes.time.tolist() == [1424164909] * 3
    assert votes.seconds.tolist() == [10] * 3
    assert reading.notes == ()


def test_of_several_questions_one_has_to_be_named(save, rows):
    path = save("full.csv", report(*({**row, "reason": "late", "reason_gold": ""} for row in FULL)))
    with pytest.raises(ValueError, match="there are 2 questions, name one with question=: mood, reason"):
        read(path)
    assert rows(read(path, question="mood")) == rows(read(save("one.csv", report(*FULL))))
    assert read(path, columns={"label": "reason"}).classes.tolist() == ["late"]


def test_without_test_questions_answers_and_data_look_alike(save, rows):
    lines = [{name: value for name, value in row.items() if name != "mood_gold"} for row in FULL]
    path = save("full.csv", report(*lines))
    with pytest.raises(ValueError, match=r"may be in 'mood' or 'airline', .* \(--question mood\)"):
        read(path)
    assert len(read(path, question="mood")) == 3
    only = [{name: value for name, value in row.items() if name != "airline"} for row in lines]
    assert len(read(save("only.csv", report(*only)))) == 3


def test_several_right_answers_are_no_true_label(save):
    path = save("full.csv", report(*FULL[:2], {**FULL[2], "mood_gold": "bad\nawful"}))
    with pytest.warns(ReadingWarning, match="1 rows are of test questions with several right answers"):
        assert read(path).gold is None


def test_an_aggregated_report_is_refused(save):
    content = (
        "_unit_id,_golden,_unit_state,_trusted_judgments,mood,mood:confidence\n1,false,finalized,3,good,0.7\n"
    )
    with pytest.raises(
        ValueError, match=r"aggregated report of Appen.* no workers; download the full report"
    ):
        read(save("agg.csv", content))


def test_times_in_other_styles_are_read_or_left_out(save):
    iso = [{**row, "_created_at": "2015-02-17T09:21:49Z", "_started_at": "soon"} for row in FULL]
    votes = read(save("full.csv", report(*iso)))
    assert votes.time.tolist() == [1424164909] * 3
    assert votes.seconds is None


SAID = st.dictionaries(
    st.tuples(st.integers(1, 9), st.integers(1, 4)), st.sampled_from(["good", "bad"]), min_size=1
)
FIELDS = st.lists(st.sampled_from(["label", "answer", "worker", "text", "task", "_trust2"]), unique=True)


@settings(max_examples=30, deadline=None)
@given(said=SAID, fields=FIELDS, data=st.data())
def test_the_votes_are_found_among_clutter(said, fields, data):
    lines = [
        judgment(unit, worker, mood=label, mood_gold="", **dict.fromkeys(fields, f"bad{unit}"))
        for (unit, worker), label in said.items()
    ]
    lines.append(judgment(1, 77, mood="bad", mood_gold="", _tainted="true", **dict.fromkeys(fields, "bad")))
    order = data.draw(st.permutations([*lines[0]]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "full.csv"
        path.write_text(
            report(*({name: line[name] for name in order} for line in data.draw(st.permutations(lines))))
        )
        votes = explain(path).votes
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    assert {(t, w): label for t, w, label in zip(*(c.tolist() for c in columns), strict=True)} == said
