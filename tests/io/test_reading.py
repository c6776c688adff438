"""How votes were read: one line, notes about what was assumed, repeats in the order of time."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io import Reading, ReadingWarning, explain, read
from crowdpilot.votes import Votes

MANY = [(f"t{t}", f"w{w}", "yes" if (t + w) % 3 else "no") for t in range(8) for w in range(4)]


def table(rows=MANY, **more) -> dict[str, list]:
    task, worker, label = (list(column) for column in zip(*rows, strict=True))
    return {"task": task, "worker": worker, "label": label, **more}


def notes(source, **options) -> str:
    return " | ".join(explain(source, **options).notes)


def test_one_line_says_what_was_understood():
    reading = explain(table([*MANY, ("t0", "w0", "no"), ("t1", "w9", None)], text=["x"] * 34))
    assert isinstance(reading, Reading)
    assert str(reading) == (
        "the table: columns, task from 'task', worker from 'worker', label from 'label'; 32 votes on 8 tasks "
        "by 5 workers, 2 classes (no, yes); 1 repeat, of which the last in the file counts; 1 row without a "
        "vote; ignored 'text'"
    )
    assert reading.notes == ()


def test_the_first_rows_are_shown_as_they_were_read():
    shown = explain(table(MANY[:3], seconds=["1", "2", "3"], gold=["no"] * 3)).preview(2)
    assert shown == {
        "task": ["t0", "t0"], "worker": ["w0", "w1"], "label": ["no", "yes"],
        "seconds": [1.0, 2.0], "gold": ["no", "no"],
    }  # fmt: skip


def test_what_may_be_wrong_is_a_warning_of_its_own_kind():
    with pytest.warns(ReadingWarning, match="the table: labels that differ only in spelling are one class"):
        read(table([*MANY, ("t9", "w0", "Yes")]))


# Spelling --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelt", "kept"), [("Yes", "yes"), (" yes", "yes"), ("YES ", "yes"), ("no ", "no"), ("No", "no")]
)
def test_spellings_of_a_label_are_one_class_and_named(spelt, kept):
    reading = explain(table([*MANY, ("t9", "w0", spelt)]))
    assert reading.votes.classes.tolist() == ["no", "yes"]
    assert f"{spelt!r} as {kept!r}" in reading.notes[0]


@pytest.mark.parametrize("spelt", ["1.0", " 1", "01", "1.00"])
def test_spellings_of_a_number_are_one_class(spelt):
    rows = [(task, worker, "1" if label == "yes" else "0") for task, worker, label in MANY]
    reading = explain(table([*rows, ("t9", "w0", spelt)]))
    assert reading.votes.classes.tolist() == ["0", "1"]
    assert f"{spelt!r} as '1'" in reading.notes[0]


def test_classes_that_are_named_stay_apart():
    rows = [*MANY, ("t9", "w0", "Yes")]
    assert explain(table(rows), classes=["no", "yes", "Yes"]).votes.classes.tolist() == ["no", "yes", "Yes"]


def test_a_true_label_is_a_class_in_whatever_spelling():
    reading = explain(table(gold=["Yes", *["no"] * 3, *[None] * 28]) | {"task": ["t0", *["t1"] * 31]})
    assert reading.votes.gold.tolist() == [1, 0]


@pytest.mark.parametrize("word", ["NaN", "nan", "null", "<NA>", "NULL"])
def test_words_of_programs_for_nothing_are_no_class(word):
    reading = explain(table([*MANY, ("t9", "w0", word)]))
    assert reading.votes.classes.tolist() == ["no", "yes"]
    assert f"1 row without a vote (1 labelled '{word}')" in str(reading)


@pytest.mark.parametrize("word", ["None", "N/A", "?", "-"])
def test_words_that_may_mean_nothing_are_pointed_out(word):
    rows = [*MANY, ("t3", "w8", word)]
    assert f"{word!r} is read as a class; if it means no answer, use abstain=" in notes(table(rows))
    assert notes(table(rows), abstain=[word]) == ""


def test_minus_one_beside_other_numbers_is_pointed_out():
    rows = [(task, worker, n % 4 - 1) for n, (task, worker, _) in enumerate(MANY)]
    assert notes(table(rows)) == "-1 is read as a class; if it means no answer, use abstain= (--abstain=-1)"
    assert notes(table(rows), abstain=[-1]) == notes(table(rows), classes=[-1, 0, 1, 2]) == ""


def test_blanks_around_names_are_slips_in_text_alone(save):
    lines = "".join(f"{task},{worker} ,{label}\n" for task, worker, label in MANY[:16])
    more = "".join(f"{task},{worker},{label}\n" for task, worker, label in MANY[16:])
    reading = explain(save("votes.csv", f"task,worker,label\n{lines}{more}"))
    assert len(reading.votes.workers) == 4
    assert "workers that differ only in blanks are one: 'w0' as 'w0 '" in reading.notes[0]
    assert "stay apart" in notes(table([*MANY, ("t0", "w0 ", "yes")]))


def by_pair(votes: Votes) -> dict[tuple[str, str], str]:
    names = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    return {(task, worker): label for task, worker, label in zip(*names, strict=True)}


# Repeats ---------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from(["no", "yes"])),
        min_size=1, max_size=12,
    ),
    data=st.data(),
)  # fmt: skip
def test_of_repeats_the_last_by_time_counts_in_whatever_order_they_stand(rows, data):
    times = data.draw(st.permutations(range(len(rows))))
    votes = read(table(rows, time=[1.7e9 + 60 * time for time in times]))
    last = {(t, w): label for _, (t, w, label) in sorted(zip(times, rows, strict=True), key=lambda p: p[0])}
    assert by_pair(votes) == last
    first = read(table(rows, time=[1.7e9 - 60 * time for time in times]), repeats="first")
    assert by_pair(first) == last


def test_a_time_that_is_no_date_does_not_order_votes():
    rows = [("a", "x", "no"), ("a", "x", "yes"), ("b", "x", "no")]
    votes = read(table(rows, time=[12.5, 3.5, 4.0]))
    assert votes.classes[votes.label].tolist() == ["yes", "no"]


def test_a_time_that_cannot_be_read_is_pointed_out_where_there_are_repeats():
    rows = [("a", "x", "no"), ("a", "x", "yes"), ("b", "x", "no")]
    assert "'time' has a value that is no time, so that of repeats the last in the file counts" in notes(
        table(rows, time=["2024-01-01", "2023-01-01", "soon"])
    )


# What looks wrong ------------------------------------------------------------------------------


def test_labels_that_are_nearly_all_different_are_refused():
    rows = {"item": [n % 30 for n in range(60)], "rater": [n // 30 for n in range(60)], "answer": range(60)}
    with pytest.raises(ValueError, match="the labels in 'answer' are nearly all different"):
        read(rows)
    assert len(read(rows, columns={"label": "answer"})) == 60


@pytest.mark.parametrize(
    ("row", "position"),
    [(("The task", "The worker", "The label"), 0), (("Total", "", "32"), -1), (("t9", "w0", "ye"), -1)],
)
def test_a_title_a_total_and_a_cut_line_are_pointed_out(row, position):
    rows = [row, *MANY] if position == 0 else [*MANY, (row[0], row[1] or "w0", row[2])]
    assert "occurs once" in notes(table(rows))


def test_a_label_that_describes_tasks_is_pointed_out_if_there_are_other_columns():
    of_task = [task for task, _, _ in MANY]
    said = notes({"item": of_task, "rater": [w for _, w, _ in MANY], "category": of_task, "q": [1] * 32})
    assert "'category' may be a fact about tasks; if one of 'q' is the label" in said


def test_plain_votes_cause_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        votes = read(table(seconds=np.arange(32)))
    assert (len(votes), votes.dropped) == (32, 0)
