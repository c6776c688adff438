"""Roles of columns: by name, by content where names leave a doubt, and refused where that leaves one too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io.columns import Table
from crowdpilot.io.inference.column_roles import resolve
from crowdpilot.io.votes_tables import as_table

ROWS = [(f"t{t}", f"w{w}", "cat" if (t + w) % 3 else "dog") for t in range(8) for w in range(4)]
TASK, WORKER, LABEL = (list(column) for column in zip(*ROWS, strict=True))
VOTES = {"task": TASK, "worker": WORKER, "label": LABEL}


def table(**columns) -> Table:
    return as_table(columns)


def found(frame: Table, **chosen) -> dict[str, str]:
    return resolve(frame.column_names, chosen, content=frame.select).columns


def test_the_user_comes_before_the_format_and_the_format_before_the_names():
    names = ["task", "worker", "label", "x"]
    preset = {"task": "worker", "label": "label"}
    assert resolve(names, {"task": "x"}, preset).columns == {"task": "x", "label": "label"}
    assert resolve(names, {}).columns == {role: role for role in names[:3]}


def test_a_role_is_given_up_with_none():
    assert resolve(["task", "gold"], {"gold": None}).columns == {"task": "task"}


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"tasks": "a"}, "columns names 'tasks', expected one of task, worker, label"),
        ({"task": "z"}, "there is no column 'z', only 'a', 'b'$"),
    ],
)
def test_a_wrong_choice_is_an_error(chosen, message):
    with pytest.raises(ValueError, match=message):
        resolve(["a", "b"], chosen)


@pytest.mark.parametrize("name", ["id", "image", "tweet_id", "sentence", "url", "XYZ", "stimulus"])
def test_a_column_that_is_left_is_the_task(name):
    assert found(table(**{name: TASK, "rater": WORKER, "answer": LABEL}))["task"] == name


@pytest.mark.parametrize("name", ["respondent", "PROLIFIC_PID", "e-mail", "XYZ"])
def test_a_column_that_is_left_is_the_worker(name):
    assert found(table(**{"item": TASK, name: WORKER, "answer": LABEL}))["worker"] == name


@pytest.mark.parametrize("name", ["sentiment", "is it a cat?", "XYZ"])
def test_a_column_that_is_left_is_the_label(name):
    assert found(table(**{"item": TASK, "rater": WORKER, name: LABEL}))["label"] == name


def test_three_usual_names_are_enough():
    frame = table(image=TASK, PROLIFIC_PID=WORKER, verdict=LABEL)
    assert found(frame) == {"task": "image", "worker": "PROLIFIC_PID", "label": "verdict"}


def test_texts_numbers_of_rows_and_constants_take_no_role():
    clutter = {"": range(32), "text": [f"about {t}" for t in TASK], "study": ["a"] * 32}
    frame = table(**clutter, tweet_id=TASK, rater=WORKER, answer=LABEL)
    assert found(frame)["task"] in ("tweet_id", "text")  # which say the same
    remarks = [f"because of {n}" for n in range(32)]
    assert found(table(item=TASK, rater=WORKER, q7=LABEL, remarks=remarks))["label"] == "q7"


def test_what_all_votes_of_a_task_share_is_not_the_label():
    of_task = [f"{int(t[1]) % 2}" for t in TASK]
    frame = table(item=TASK, rater=WORKER, category=of_task, answer=LABEL)
    assert found(frame)["label"] == "answer"
    roles = resolve(
        ["item", "rater", "label", "answer"],
        {},
        content=table(item=TASK, rater=WORKER, label=of_task, answer=LABEL).select,
    )
    assert roles.columns["label"] == "answer"
    assert roles.notes == [
        "'label' is the same for all votes of a task, so 'answer' is read as the label; if that is wrong, "
        "use --columns label=label"
    ]


def test_columns_that_say_the_same_are_no_doubt():
    names = [f"Anna {w}" for w in WORKER]
    assert found(table(item=TASK, user_id=WORKER, user_name=names, answer=LABEL))["worker"] == "user_id"


@pytest.mark.parametrize("role", ["rating", "choice"])
def test_two_plausible_labels_are_refused_with_both(role):
    other = [str(int(w[1]) % 2) for w in WORKER]
    frame = table(item=TASK, rater=WORKER, category=other, **{role: LABEL})
    with pytest.raises(ValueError, match=r"label could be any of '.*', '.*'; name .*--columns label="):
        found(frame)
    assert found(frame, label="category")["label"] == "category"


@pytest.mark.parametrize("total", [[], ["14"]])
def test_boxes_to_tick_are_no_labels(total):
    ticked = ["1" if label == "cat" else "0" for label in LABEL]
    other = ["0" if tick == "1" else "1" for tick in ticked]
    extra = [""] * len(total)
    frame = table(item=[*TASK, *extra], rater=[*WORKER, *extra], cat=[*ticked, *total], dog=[*other, *extra])
    with pytest.raises(ValueError, match="label could be any of 'cat', 'dog'"):
        found(frame)


def test_a_subject_may_be_a_person():
    with_stimulus = table(subject=WORKER, stimulus=TASK, response=LABEL)
    assert "worker" not in found(with_stimulus)  # so that it is asked for
    assert found(table(subject=TASK, user=WORKER, response=LABEL))["task"] == "subject"


def test_a_number_of_each_row_is_no_task_where_another_column_could_be_one():
    frame = table(id=range(32), link=TASK, rater=WORKER, answer=LABEL)
    assert found(frame)["task"] == "link"
    with pytest.raises(ValueError, match="task could be any of 'id', 'what'"):
        found(table(id=range(32), what=TASK, rater=WORKER, answer=LABEL))


def test_two_tasks_that_repeat_are_refused():
    other = [f"u{t[1]}{w[1]}" if t > "t4" else "u" + t for t, w in zip(TASK, WORKER, strict=True)]
    with pytest.raises(ValueError, match="the task could be any of 'item', 'document'"):
        found(table(item=TASK, document=other, rater=WORKER, answer=LABEL))


@settings(max_examples=25)
@given(order=st.permutations(range(6)), seed=st.integers(0, 5))
def test_neither_the_order_of_columns_nor_of_rows_matters(order, seed):
    rows = np.random.default_rng(seed).permutation(32)
    columns = {
        "tweet": TASK, "who": WORKER, "verdict": LABEL, "": [str(n) for n in range(32)],
        "study": ["s"] * 32, "remarks": [f"{n}!" for n in range(32)],
    }  # fmt: skip
    names = [list(columns)[n] for n in order]
    frame = table(**{name: [columns[name][row] for row in rows] for name in names})
    assert found(frame) == {"task": "tweet", "worker": "who", "label": "verdict"}
