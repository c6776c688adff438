from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import crowdpilot as cp
from crowdpilot import simulation
from crowdpilot.datasets import open, read_folder
from crowdpilot.datasets.folder import write_folder


def fill(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def test_votes_truth_and_texts_are_found_by_the_names_of_files(tmp_path: Path) -> None:
    folder = fill(tmp_path, {
        "answers.csv": "task,worker,label\n1,a,0\n2,a,1\n1,b,0\n",
        "truth.csv": "task,label\n1,0\n",
        "texts.csv": 'task,text\n2,"two, or\nmore"\n1,12\n',
        "test_texts.csv": "task,text\nnew,hello\n",
        "test_truth.csv": "task,label\nnew,1\n",
        "valid_truth.csv": "task,label\nv,1\n",
        "README.md": "# not data",
    })  # fmt: skip
    data = read_folder(folder)
    assert len(data.votes) == 3
    assert data.truth == {1: 0}
    assert dict(zip(data.tasks.tolist(), data.texts, strict=True)) == {2: "two, or\nmore", 1: "12"}
    assert set(data.parts) == {"test", "val"}
    assert data.parts["test"].texts == ["hello"]
    assert data.parts["test"].truth == {"new": 1}
    assert data.parts["val"].votes is None
    assert repr(open(folder)) == repr(data)


def test_features_stay_with_their_tasks(tmp_path: Path) -> None:
    fill(tmp_path, {"answers.csv": "task,worker,label\n3,a,0\n5,a,1\n"})
    np.savez(tmp_path / "features.npz", task=np.array(["5", "3"]), x=np.array([[5.0], [3.0]]))
    data = read_folder(tmp_path)
    assert data.tasks.tolist() == [5, 3]  # as the votes call them
    np.testing.assert_array_equal(data.features, [[5], [3]])


def test_repeats_are_read_as_asked(tmp_path: Path) -> None:
    fill(tmp_path, {"answers.csv": "task,worker,label\n1,a,0\n1,a,1\n"})
    assert len(read_folder(tmp_path).votes) == 1
    assert len(read_folder(tmp_path, repeats="all").votes) == 2


def test_shares_are_votes_of_the_crowd(tmp_path: Path) -> None:
    fill(tmp_path, {"soft.csv": "task,crowd_label,conf0,conf1\nt,0,0.75,0.25\n"})
    votes = read_folder(tmp_path).votes
    assert votes.workers.tolist() == ["crowd"]
    np.testing.assert_allclose(votes.tally(), [[0.75, 0.25]])


def test_counts_weigh_as_much_as_there_were_votes(tmp_path: Path) -> None:
    fill(tmp_path, {"counts.csv": "task,n0,n1,n2\n0,48,0,2\n1,0,50,0\n", "truth.csv": "task,label\n0,0\n"})
    data = read_folder(tmp_path)
    np.testing.assert_array_equal(data.votes.tally(), [[48, 0, 2], [0, 50, 0]])
    assert data.votes.classes.tolist() == [0, 1, 2]
    assert data.truth == {0: 0}
    fill(tmp_path, {"counts.csv": "task,n0\n0,many\n"})
    with pytest.raises(ValueError, match=r"counts\.csv: expected a column task"):
        read_folder(tmp_path)


def test_a_folder_without_votes_says_so_when_they_are_asked_for(tmp_path: Path) -> None:
    data = read_folder(fill(tmp_path, {"truth.csv": "task,label\n1,0\n"}))
    assert data.truth == {1: 0}
    assert repr(data) == "Data(1 tasks, truth of 1)"
    with pytest.raises(ValueError, match=r"no votes; a folder has them in answers\.csv"):
        data.votes  # noqa: B018 - looking them up is the test


def test_a_folder_with_nothing_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none of the files answers\.csv, .* nor answers\.json"):
        read_folder(tmp_path)
    with pytest.raises(ValueError, match="there is no such folder"):
        read_folder(tmp_path / "none")


@pytest.mark.parametrize("arrays", [{"x": np.zeros(2)}, {"task": np.arange(3), "x": np.zeros((2, 2))}])
def test_features_of_another_shape_are_refused(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    fill(tmp_path, {"answers.csv": "task,worker,label\n3,a,0\n5,a,1\n"})
    np.savez(tmp_path / "features.npz", **arrays)
    with pytest.raises(ValueError, match=r"features\.npz: "):
        read_folder(tmp_path)


def test_a_folder_of_shares_can_be_written_and_read_again(tmp_path: Path) -> None:
    fill(tmp_path, {
        "soft.csv": "task,crowd_label,conf0,conf1\nt,0,0.75,0.25\nu,1,0,1\n",
        "texts.csv": "task,text\nt,one\nu,\n",
        "test_soft.csv": "task,crowd_label,conf0,conf1\nx,0,1,0\n",
    })  # fmt: skip
    data = read_folder(tmp_path)
    write_folder(data, tmp_path / "copy")
    again = read_folder(tmp_path / "copy")
    np.testing.assert_allclose(again.votes.tally(), data.votes.tally())
    np.testing.assert_allclose(again.parts["test"].votes.tally(), [[1, 0]])
    assert again.texts == data.texts


def picture(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    Image.new("L", (2, 2)).save(folder / name)


@pytest.mark.parametrize("words", [True, False])
def test_peerannots_layout_has_images_and_its_folders_are_the_truth(tmp_path: Path, words: bool) -> None:
    (tmp_path / "answers.json").write_text('{"0": {"4": 0, "9": 0}, "1": {"4": 1}}')
    (tmp_path / "metadata.json").write_text('{"name": "x", "n_classes": 2, "n_workers": 2}')
    cat, dog = ("cat", "dog") if words else ("0", "1")
    picture(tmp_path / "train" / cat, "a-0.png")
    picture(tmp_path / "train" / dog, "b-1.png")
    picture(tmp_path / "test" / dog, "c-0.png")
    data = read_folder(tmp_path)
    assert [path.name for path in data.images] == ["a-0.png", "b-1.png"]
    assert {str(task): label for task, label in data.truth.items()} == {"0": 0, "1": 1}
    assert set(data.truth) == set(data.votes.tasks.tolist()) == set(data.tasks.tolist())
    assert list(data.parts["test"].truth.values()) == [1]
    assert len(data.votes) == 3


def test_what_simulate_writes_is_read_with_its_truth(tmp_path: Path) -> None:
    made = simulation.HammerSpammer(tasks=12, workers=6, classes=3).run()
    simulation.save(made, tmp_path / "made")
    data = read_folder(tmp_path / "made")
    assert [data.truth[task] for task in data.votes.tasks.tolist()] == made.truth.tolist()
    assert cp.datasets.open(tmp_path / "made").images is None
