from __future__ import annotations

import json

import numpy as np
import pytest

from crowdpilot.simulation import (
    STRATEGIES,
    DiscreteDifficulty,
    HammerSpammer,
    StudentTeacher,
    save,
)

COMMON = {"answers.json", "metadata.json", "ground_truth.npy", "matrices.npy"}
MORE = {
    "student-teacher": {"student_teacher_association.npy"},
    "discrete-difficulty": {"difficulties.npy"},
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_folder_holds_the_files_of_peerannot(name: str, tmp_path) -> None:
    simulation = STRATEGIES[name](tasks=40, workers=6, votes_per_task=3, seed=5).run()
    save(simulation, tmp_path / "deep" / "folder")
    folder = tmp_path / "deep" / "folder"
    assert {file.name for file in folder.iterdir()} == COMMON | MORE.get(name, set())
    assert [file.name for file in folder.parent.iterdir()] == ["folder"]
    truth, matrices = np.load(folder / "ground_truth.npy"), np.load(folder / "matrices.npy")
    np.testing.assert_array_equal(truth, simulation.truth)
    np.testing.assert_array_equal(matrices, simulation.confusion)


def test_answers_are_the_votes_by_task_and_worker(tmp_path) -> None:
    simulation = HammerSpammer(tasks=30, workers=8, ratio=0.5, votes_per_task=2, abstain=0.5).run()
    save(simulation, tmp_path / "s")
    answers = json.loads((tmp_path / "s" / "answers.json").read_text())
    votes = simulation.votes
    assert list(answers) == [str(n) for n in range(30)]
    assert {} in answers.values(), "a task without votes is listed"
    flat = {(int(t), int(w)): label for t, given in answers.items() for w, label in given.items()}
    expected = zip(votes.task.tolist(), votes.worker.tolist(), votes.label.tolist(), strict=True)
    assert flat == {(t, w): label for t, w, label in expected}


def test_metadata_says_how_the_crowd_was_made(tmp_path) -> None:
    np.save(tmp_path / "m.npy", np.full((4, 2, 2), 0.5))
    crowd = StudentTeacher(tasks=9, workers=20, classes=2, matrix_file=tmp_path / "m.npy", prior=(0.3, 0.7))
    save(crowd.run(), tmp_path / "s")
    metadata = json.loads((tmp_path / "s" / "metadata.json").read_text())
    expected = {
        "name": "student-teacher",
        "n_workers": 20,
        "n_classes": 2,
        "n_task": 9,
        "ratio": 0.8,
        "seed": 0,
    }
    assert metadata.items() >= (expected | {"matrix_file": str(tmp_path / "m.npy")}).items()
    assert metadata["prior"] == [0.3, 0.7]


def test_each_student_is_paired_with_the_teacher(tmp_path) -> None:
    simulation = StudentTeacher(tasks=5, workers=10, ratio=0.7).run()
    save(simulation, tmp_path / "s")
    pairs = np.load(tmp_path / "s" / "student_teacher_association.npy")
    np.testing.assert_array_equal(pairs[:, 0], np.arange(3, 10))
    np.testing.assert_array_equal(pairs[:, 1], simulation.teacher[3:])


def test_difficulties_are_words(tmp_path) -> None:
    simulation = DiscreteDifficulty(tasks=50, random=0.3).run()
    save(simulation, tmp_path / "s")
    difficulty = np.load(tmp_path / "s" / "difficulties.npy")
    np.testing.assert_array_equal(difficulty, simulation.difficulty)
    assert set(difficulty.tolist()) == {"easy", "hard", "random"}


def test_a_folder_with_something_in_it_is_left_alone(tmp_path) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(ValueError, match="exists already"):
        save(HammerSpammer().run(), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]


def test_an_empty_folder_is_filled(tmp_path) -> None:
    save(HammerSpammer().run(), tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == COMMON
