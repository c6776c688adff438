"""Folders and files like peerannot's, in both directions."""

from __future__ import annotations

import json

import pytest

from crowdpilot.io import read, write
from crowdpilot.votes import Votes

pytestmark = pytest.mark.usefixtures("each_engine")

ANSWERS = '{"0": {"7": 1, "12": 0}, "1": {}, "2": {"7": 1}}'
VOTES = [(0, 7, 1), (0, 12, 0), (2, 7, 1)]


def test_a_file_of_answers_is_read(save, rows):
    votes = read(save("crowd.json", ANSWERS))
    assert rows(votes) == VOTES
    assert votes.tasks.tolist() == [0, 1, 2]
    assert votes.dropped == 0


def test_a_folder_is_read_with_the_number_of_its_classes(save, rows):
    save("set/metadata.json", '{"name": "set", "n_classes": 4, "n_workers": 2}')
    path = save("set/answers.json", ANSWERS)
    for source in (path, path.parent):
        votes = read(source)
        assert rows(votes) == VOTES
        assert votes.classes.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("metadata", ["{}", "[]", '{"n_classes": "2"}'])
def test_metadata_may_say_nothing(save, metadata):
    save("set/metadata.json", metadata)
    assert read(save("set/answers.json", ANSWERS).parent).classes.tolist() == [0, 1]


def test_given_classes_come_before_those_of_the_folder(save):
    save("set/metadata.json", '{"n_classes": 4}')
    path = save("set/answers.json", ANSWERS)
    assert read(path.parent, classes=[1, 0]).classes.tolist() == [1, 0]


def test_more_labels_than_the_metadata_say_are_an_error(save):
    save("set/metadata.json", '{"n_classes": 1}')
    path = save("set/answers.json", ANSWERS)
    with pytest.raises(ValueError, match=r"answers.json: label .*1.* of vote 1 is not one of the classes 0"):
        read(path.parent)


def test_texts_are_names_too(save, rows):
    votes = read(save("answers.json", '{"img-1": {"bob": "cat", "eve": null, "007": "dog"}}'))
    assert rows(votes) == [("img-1", "bob", "cat"), ("img-1", "007", "dog")]
    assert votes.dropped == 1


def test_the_other_way_round_has_to_be_named(save, rows):
    path = save("answers.json", '{"bob": {"3": "cat", "4": "dog"}, "eve": {}}')
    votes = read(path, format="peerannot_inverse")
    assert rows(votes) == [(3, "bob", "cat"), (4, "bob", "dog")]
    assert votes.workers.tolist() == ["bob", "eve"]
    assert read(path).tasks.tolist() == ["bob", "eve"]


def test_nothing_is_no_votes(save):
    assert len(read(save("answers.json", "{}"))) == 0


def test_a_large_file_is_told_as_well(save):
    answers = {f"task-{n}": {f"worker-{m}": "a label" for m in range(20)} for n in range(3000)}
    assert len(read(save("big.json", json.dumps(answers)))) == 60_000


def test_it_is_written_as_a_folder_that_other_tools_can_read(tmp_path):
    votes = Votes.of([0, 1, 0], ["a", "b", "b"], [2, 0, 0], tasks=[5])
    write(votes, tmp_path / "set")
    assert json.loads((tmp_path / "set/answers.json").read_text()) == {
        "0": {"a": 2, "b": 0},
        "1": {"b": 0},
        "5": {},
    }
    about = {"name": "set", "n_classes": 2, "n_workers": 2, "n_task": 3, "classes": [0, 2]}
    assert json.loads((tmp_path / "set/metadata.json").read_text()) == about
    write(votes, tmp_path / "inverse", format="peerannot_inverse")
    inverse = {"a": {"0": 2}, "b": {"1": 0, "0": 0}}
    assert json.loads((tmp_path / "inverse/answers.json").read_text()) == inverse


def test_a_folder_keeps_its_other_files(save):
    kept = save("set/train/cat.png", b"picture")
    save("set/answers.json", ANSWERS)
    write(Votes.of(["a"], ["x"], [1]), kept.parents[1])
    assert kept.read_bytes() == b"picture"
    assert sorted(p.name for p in kept.parents[1].iterdir()) == ["answers.json", "metadata.json", "train"]
    assert read(kept.parents[1]).tasks.tolist() == ["a"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (ANSWERS[:-5], "line 1: found broken JSON"),
        ("[1]", "found a JSON list, expected {task: {worker: label}}"),
        ('{"0": {"7": 1}, "1": 3}', "found 3 at task '1', expected {worker: label}"),
        ('{"0": {"7": [1]}}', "found values of type list"),
    ],
)
def test_a_bad_file_is_an_error(save, content, problem):
    path = save("set/answers.json", content)
    with pytest.raises(ValueError) as caught:
        read(path.parent)
    assert str(caught.value).startswith(str(path))
    assert problem in str(caught.value)
