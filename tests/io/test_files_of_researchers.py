"""Files as researchers have them: read as they are meant, refused with the way out, or warned of."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from crowdpilot import explain
from crowdpilot.io import Reading

WORKERS = ("5f3a", "60bc", "61de", "62ef")
VOTES = tuple(
    (f"{100 + n}", worker, ("favor", "against", "none")[(n + (n + k) % 4 // 3) % 3])
    for n in range(6)
    for k, worker in enumerate(WORKERS)
)


def text(names: Sequence[str], rows: Iterable[Sequence[Any]], delimiter: str = ",") -> io.BytesIO:
    lines = [delimiter.join(map(str, row)) for row in (names, *rows)]
    return io.BytesIO("".join(f"{line}\n" for line in lines).encode())


def triples(reading: Reading) -> set[tuple[str, str, str]]:
    votes = reading.votes
    columns = votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label]
    return {(str(task), str(worker), str(label)) for task, worker, label in zip(*columns, strict=True)}


# Long tables ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    [
        ("paper", "reviewer", "include"),
        ("doc", "who", "code"),
        ("movie", "critic", "stars"),
        ("image", "Name", "stance"),
        ("Aufgabe", "Person", "Antwort"),
        ("Bild", "Kodierer", "Kategorie"),
        ("tâche", "annotateur", "étiquette"),
        ("tarea", "anotador", "etiqueta"),
    ],
)
def test_names_that_people_use_are_known(names: Sequence[str]) -> None:
    reading = explain(text(names, VOTES))

    assert triples(reading) == set(VOTES)
    assert not reading.notes


def test_facts_about_workers_are_no_rivals_of_the_label() -> None:
    rows = [(*vote, 20 + WORKERS.index(vote[1]), "fm"[WORKERS.index(vote[1]) % 2]) for vote in VOTES]

    assert triples(explain(text(["tweet_id", "PROLIFIC_PID", "stance", "age", "gender"], rows))) == set(VOTES)


@pytest.mark.parametrize("remark", ["confidence", "notes", "Any comments?"])
def test_remarks_beside_a_label_are_no_rivals_of_it(remark: str) -> None:
    rows = [(*vote, "high" if n % 3 else "low") for n, vote in enumerate(VOTES)]

    assert triples(explain(text(["clip", "listener", "emotion", remark], rows))) == set(VOTES)


def test_another_answer_beside_a_label_of_a_usual_name_is_a_rival() -> None:
    rows = [(*vote, "yes" if n % 3 else "no") for n, vote in enumerate(VOTES)]

    with pytest.raises(ValueError, match="label could be any of 'emotion', 'funny'"):
        explain(text(["clip", "listener", "emotion", "funny"], rows))


def test_a_worker_of_unknown_name_is_found_where_only_one_column_can_be_it_and_that_is_said() -> None:
    reading = explain(text(["image", "nurse", "shade"], VOTES))

    assert triples(reading) == set(VOTES)
    assert "'nurse' is read as the worker" in reading.notes[0]


def test_three_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="no task and no worker and no label"):
        explain(text(["bottle", "nurse", "shade"], VOTES))


def test_a_usual_name_with_one_value_is_taken_where_nothing_else_is_left_and_that_is_said() -> None:
    same = [(task, worker, "yes") for task, worker, _ in VOTES]
    reading = explain(text(["tweet_id", "PROLIFIC_PID", "stance"], same))

    assert triples(reading) == set(same)
    assert "one value in all rows" in reading.notes[0]


def test_an_id_that_numbers_rows_but_for_a_doubled_one_is_a_doubt() -> None:
    rows = [(task, n, worker, label) for n, (task, worker, label) in enumerate(VOTES)]

    with pytest.raises(ValueError, match="task could be any of 'id', 'stimulus'"):
        explain(text(["stimulus", "id", "pid", "verdict"], [*rows, rows[3]]))


# Lines above the header -----------------------------------------------------------------------


@pytest.mark.parametrize("above", ["# exported today\n# by us, with care\n", "# project, phase, three\n"])
def test_comments_above_the_header_are_left_out_and_that_is_said(above: str) -> None:
    content = above.encode() + text(["tweet_id", "PROLIFIC_PID", "stance"], VOTES).read()
    reading = explain(io.BytesIO(content))

    assert triples(reading) == set(VOTES)
    assert "with # and" in reading.notes[0]


def test_lines_below_comments_keep_their_number() -> None:
    with pytest.raises(ValueError, match="line 4: found 2 fields"):
        explain(io.BytesIO(b"# a comment\nitem,worker,label\na,x,cat\nb,y\n"))


def test_a_header_may_begin_with_a_number_sign() -> None:
    assert triples(explain(text(["#item", "worker", "label"], VOTES))) == set(VOTES)


def test_the_delimiter_that_excel_is_told_is_no_header() -> None:
    content = b"\xef\xbb\xbfsep=;\r\n" + text(["item", "worker", "label"], VOTES, ";").read()

    assert triples(explain(io.BytesIO(content))) == set(VOTES)


# Answers inside records -----------------------------------------------------------------------

ANSWERS = {task: {worker: label for t, worker, label in VOTES if t == task} for task, _, _ in VOTES}
INSIDE: dict[str, list[dict[str, Any]]] = {
    "side by side": [
        {"id": task, "text": "x", "annotators": list(given), "labels": list(given.values())}
        for task, given in ANSWERS.items()
    ],
    "by worker": [{"id": task, "annotations": given} for task, given in ANSWERS.items()],
    "records": [
        {"doc_id": task, "ratings": [{"rater_id": worker, "score": label} for worker, label in given.items()]}
        for task, given in ANSWERS.items()
    ],
}


@pytest.mark.parametrize("kind", INSIDE)
def test_answers_inside_records_are_read(kind: str) -> None:
    lines = "\n".join(json.dumps(record) for record in INSIDE[kind])

    for source in (io.StringIO(json.dumps(INSIDE[kind])), io.StringIO(lines)):
        assert triples(explain(source)) == set(VOTES)


@pytest.mark.parametrize("kind", ["side by side", "records"])
def test_answers_inside_records_in_memory_are_read(kind: str) -> None:
    assert triples(explain(INSIDE[kind])) == set(VOTES)


def test_answers_by_worker_in_memory_are_read_where_not_all_answer_everything() -> None:
    first = {**INSIDE["by worker"][0], "annotations": {WORKERS[0]: "favor"}}

    assert len(explain([first, *INSIDE["by worker"][1:]]).votes) == len(VOTES) - len(WORKERS) + 1


def test_names_that_are_in_each_record_may_be_questions_and_that_is_said() -> None:
    records = [
        {"id": n, "answers": {"cat?": "yes" if n % 2 else "no", "dog?": "no" if n % 3 else "yes"}}
        for n in range(9)
    ]

    assert any("questions" in note for note in explain(io.StringIO(json.dumps(records))).notes)
    with pytest.raises(ValueError, match="dict"):
        explain(records)


def test_facts_about_workers_are_named_where_the_label_has_no_usual_name() -> None:
    rows = [(*vote, "yes" if vote[1] < "61" else "no") for vote in VOTES]
    reading = explain(text(["image", "worker", "shade", "hate"], rows))

    assert triples(reading) == set(VOTES)
    assert any("'hate' never differ" in note for note in reading.notes)


def test_lists_side_by_side_in_which_all_agree_are_no_labels_of_a_file() -> None:
    records = [{"id": n, "annotators": ["x", "y"], "labels": ["ab"[n % 2]] * 2} for n in range(6)]

    assert len(explain(io.StringIO(json.dumps(records))).votes) == 12


@pytest.mark.parametrize(
    "inside",
    [
        {"labels": {"spam": 2, "ham": 1}},  # counts
        {"labels": {"spam": "2", "ham": "2"}},
        {"annotations": [{"user_name": "x", "start": 1, "end": 4, "label": "a"}]},  # parts
        {"labels": {"tone": "angry", "topic": "sport"}},  # questions
        {"annotators": ["x", "y"], "labels": ["a", "b", "c"]},
    ],
)
def test_what_is_inside_records_and_not_clear_is_refused(inside: dict[str, Any]) -> None:
    other = {"labels": {"tone": "calm", "topic": "news"}} if "tone" in str(inside) else inside
    records = [{"id": n, **(other if n % 2 else inside)} for n in range(6)]

    for source in (records, io.StringIO(json.dumps(records))):
        with pytest.raises(ValueError, match=r"found|spans"):
            explain(source)


# Cells ----------------------------------------------------------------------------------------


def test_a_cell_of_blanks_is_no_vote() -> None:
    rows = [(n, 1 + n % 2, 1 + n % 3 // 2, " " if n % 2 else 1 + n // 4) for n in range(6)]
    reading = explain(text(["ID", "Rater1", "Rater2", "Rater3"], rows))

    assert reading.votes.classes.tolist() == [1, 2]
    assert len(reading.votes) == 15


@pytest.mark.parametrize("code", [99, -9, 999])
def test_a_usual_code_of_no_answer_is_named(code: int) -> None:
    rows = [(n, 1 + n % 2, 1, code if n % 3 else 2) for n in range(6)]
    reading = explain(text(["ID", "Rater1", "Rater2", "Rater3"], rows))

    assert any(f"--abstain={code}" in note for note in reading.notes)


def test_large_classes_are_no_codes_of_no_answer() -> None:
    rows = [(n, worker, (75, 88, 99)[n % 3]) for n in range(6) for worker in WORKERS]

    assert not explain(text(["item", "worker", "label"], rows)).notes


def test_ids_that_a_spreadsheet_has_rounded_are_named() -> None:
    rows = [("1.78E+18", worker, label) for _, worker, label in VOTES]

    assert any("1.78E+18" in note for note in explain(text(["item", "worker", "label"], rows)).notes)


def test_ticked_classes_above_a_total_are_refused() -> None:
    rows = [(n, *(int(n % 3 == k) for k in range(3))) for n in range(6)]

    with pytest.raises(ValueError, match="counts of votes"):
        explain(text(["item", "favor", "against", "none"], [*rows, ("Total", 2, 2, 2)]))


def test_a_survey_has_its_workers_in_the_column_of_addresses() -> None:
    names = ["Timestamp", "Email Address", *(f"Is picture {n} a cat?" for n in (1, 2, 3))]
    rows = [
        ("2024/05/01", f"{worker}@x.org", *("Yes" if (n + k) % 3 else "No" for k in range(3)))
        for n, worker in enumerate(WORKERS)
    ]

    assert f"{WORKERS[0]}@x.org" in explain(text(names, rows)).votes.workers


def test_a_described_header_is_named_in_exports_of_programs_too() -> None:
    names = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Input.text", "Answer.mood.label"]
    rows = [(task, task + worker, worker, "Approved", "x", label) for task, worker, label in VOTES]
    reading = explain(text(names, [[f"The {name} of the row" for name in names], *rows]))

    assert any("occurs once, for the first task" in note for note in reading.notes)


def test_a_worker_of_unknown_name_is_doubted_where_no_task_has_a_second_vote() -> None:
    rows = [(n, n % 6, "news" if n % 2 else "sport") for n in range(60)]

    assert any(
        "no task has a second vote" in note
        for note in explain(text(["item", "spam", "category"], rows)).notes
    )


def test_a_label_that_was_cut_off_is_named_whatever_the_order_of_rows() -> None:
    rows = [*VOTES, (VOTES[0][0], "63aa", "agai")]

    assert any(
        "'agai', may be 'against'" in note for note in explain(text(["item", "worker", "label"], rows)).notes
    )


def test_reasons_are_no_answers_of_label_studio_where_another_column_may_hold_them() -> None:
    names = [
        "annotation_id",
        "annotator",
        "created_at",
        "id",
        "lead_time",
        "mood",
        "text",
        "updated_at",
        "reason",
    ]
    rows = [
        (
            f"{n}{k}",
            k,
            "2026-02-25T06:27:20Z",
            n,
            3.5,
            n % 2 == 0,
            f"text {n}",
            "2026-02-25T06:27:20Z",
            reason,
        )
        for n in range(8)
        for k, reason in enumerate(("ok", "hard to say"))
    ]

    with pytest.raises(ValueError, match="'reason' or 'mood'"):
        explain(text(names, rows))
