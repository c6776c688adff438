"""From files in the shape of each source to what is in them."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from crowdpilot.datasets.sets import active_crowd, cifar10h, figure_eight, labelme, music, truth_inference

Write = Callable[[Mapping[str, str]], dict[str, Path]]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Put texts into files."""

    def write(files: Mapping[str, str]) -> dict[str, Path]:
        for name, text in files.items():
            (tmp_path / name).write_text(text, "utf-8")
        return {name: tmp_path / name for name in files}

    return write


def test_truth_inference_keeps_the_names_and_every_vote(write: Write) -> None:
    label = "item,worker,label\n7,2,1\n7,0,0\n7,0,0\n12,2,3\n"
    data = truth_inference.make(write({"label.csv": label, "truth.csv": "item,truth\n12,3\n"}))
    assert data.votes.tasks.tolist() == [7, 12]
    assert data.votes.workers.tolist() == [2, 0]
    assert data.votes.classes.tolist() == [0, 1, 3]
    assert len(data.votes) == 4
    assert data.truth == {12: 3}


@pytest.mark.parametrize(
    ("label", "problem"),
    [
        ("", "label.csv: the file is empty"),
        ("<html>\n", "row 1 has 1 cells, expected 3"),
        ("a,b,c\n1,2,3\n", "it begins with a,b,c, expected item"),
        ("item,worker,label\n1,2\n", "row 2 has 2 cells, expected 3"),
    ],
)
def test_a_file_of_another_shape_is_refused(write: Write, label: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        truth_inference.make(write({"label.csv": label, "truth.csv": "item,truth\n12,3\n"}))


def test_the_toolkit_gives_seconds_and_hides_who_the_workers_are(write: Write) -> None:
    data = active_crowd.make(write({"SP.csv": "A2LRG,x-é,1,1,63\nA9,x-é,0,1,7\nA2LRG,y,0,0,5\n"}))
    assert data.votes.tasks.tolist() == ["x-é", "y"]
    assert data.votes.workers.tolist() == [0, 1]
    assert data.votes.seconds is not None
    assert data.votes.seconds.tolist() == [63, 7, 5]
    assert data.truth == {"x-é": 1, "y": 0}


def test_the_toolkit_may_have_no_seconds(write: Write) -> None:
    data = active_crowd.make(write({"CF.csv": "842,79185673,0,2\n12,79185673,2,2\n"}))
    assert data.votes.seconds is None
    assert data.truth == {79185673: 2}


def labelme_files(write: Write, tmp_path: Path, answers: str) -> dict[str, Path]:
    texts: dict[str, str] = {"answers.txt": answers}
    for part, names in (("train", "ab"), ("valid", "c"), ("test", "d")):
        texts[f"filenames_{part}.txt"] = "".join(f"street_{name}.jpg\n" for name in names)
        texts[f"LabelMe_Z_{part}.txt"] = "3\n" * len(names)
        np.save(tmp_path / f"LabelMe_VGG_avg_{part}.npy", np.full((len(names), 2), ord(names[0]), np.float64))
        texts |= {}
    arrays = {
        f"LabelMe_VGG_avg_{p}.npy": tmp_path / f"LabelMe_VGG_avg_{p}.npy" for p in labelme.PARTS.values()
    }
    return write(texts) | arrays


def test_labelme_is_a_matrix_whose_empty_columns_are_no_workers(write: Write, tmp_path: Path) -> None:
    data = labelme.make(labelme_files(write, tmp_path, "-1 3 -1 0\n-1 -1 -1 7\n"))
    votes = data.votes
    assert votes.tasks.tolist() == data.tasks.tolist() == ["street_a", "street_b"]
    assert votes.workers.tolist() == [0, 1]
    assert votes.classes[votes.label].tolist() == ["street", "highway", "opencountry"]
    assert data.truth == {"street_a": "street", "street_b": "street"}
    assert data.parts["val"].tasks.tolist() == ["street_c"]
    np.testing.assert_array_equal(data.parts["test"].features, [[100, 100]])


@pytest.mark.parametrize("answers", ["-1 3\n", "-1 8\n0 0\n", "a b\n"])
def test_labelme_of_another_shape_is_refused(write: Write, tmp_path: Path, answers: str) -> None:
    with pytest.raises(ValueError, match=r"answers\.txt: expected"):
        labelme.make(labelme_files(write, tmp_path, answers))


def test_music_names_its_genres_and_tests_by_clips_nobody_judged(write: Write) -> None:
    votes = "A1,jazz.00083.mp3,2,2\nA1,disco.00012.mp3,2,3\nB2,jazz.00083.mp3,3,2\n"
    clips = ["disco.00012", "jazz.00083", "jazz.00099"]
    table = "filename,length,a,b,label\n" + "".join(
        f"{clip}.wav,661794,{n},{n}.5,{clip[:4]}\n" for n, clip in enumerate(clips)
    )
    data = music.make(write({"MS.csv": votes, "features_30_sec.csv": table}))
    assert data.votes.classes.tolist() == ["disco", "jazz"]
    assert data.votes.classes[data.votes.label].tolist() == ["jazz", "jazz", "disco"]
    assert data.tasks.tolist() == ["jazz.00083", "disco.00012"]
    np.testing.assert_array_equal(data.features, [[1, 1.5], [0, 0.5]])
    assert data.parts["test"].truth == {"jazz.00099": "jazz"}
    with pytest.raises(ValueError, match=r"no row for the clip jazz\.00083"):
        music.make(
            write({"MS.csv": votes, "features_30_sec.csv": "filename,length,a,b,label\nx.wav,1,1,1,x\n"})
        )


def test_cifar_leaves_checks_of_attention_and_impossible_times_out(tmp_path: Path) -> None:
    table = (
        "annotator_id,trial_index,is_attn_check,true_category,chosen_category,true_label,chosen_label,"
        "correct_guess,cifar10_test_test_idx,image_filename,reaction_time,subcategory\n"
        "0,0,0,cat,dog,3,5,0,42,a.png,1500.5,cat\n"
        "0,1,1,dog,dog,5,5,1,-99999,b.png,900,dog\n"
        "7,0,0,dog,dog,5,5,1,8,b.png,-3,dog\n"
    )
    path = tmp_path / "cifar10h-raw.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("cifar10h-raw.csv", table)
    data = cifar10h.make({path.name: path})
    assert data.votes.tasks.tolist() == [42, 8]
    assert data.votes.workers.tolist() == [0, 7]
    assert data.votes.classes[data.votes.label].tolist() == ["dog", "dog"]
    assert data.truth == {42: "cat", 8: "dog"}
    np.testing.assert_array_equal(data.votes.seconds, [1.5005, np.nan])
    path.write_bytes(b"not an archive")
    with pytest.raises(ValueError, match=r"expected an archive with cifar10h-raw\.csv"):
        cifar10h.make({path.name: path})


def test_figure_eight_gives_shares_texts_and_labels_by_hand(write: Write) -> None:
    train = 'text,crowd_label,conf0,conf1\n"He said ""no"",\n twice",0,0.75,0.25\nyes,1,0.0,1.0\n'
    test = "text,gold_label,crowd_label,conf0,conf1\nfine,1,0,1,0"  # as it is: no end of the last line
    data = figure_eight.make(write({"train.csv": train, "test.csv": test}))
    assert data.texts == ['He said "no",\n twice', "yes"]
    np.testing.assert_allclose(data.votes.tally(), [[0.75, 0.25], [0, 1]])
    assert data.truth == {}
    assert data.parts["test"].truth == {"test-0": 1}
    with pytest.raises(ValueError, match=r"train\.csv: expected numbers"):
        figure_eight.make(write({"train.csv": "text,crowd_label,conf0,conf1\na,0,x,1\n"}))
    with pytest.raises(ValueError, match="it begins with"):
        figure_eight.make(write({"train.csv": "a,b,c,d\n1,2,3,4\n"}))


def test_a_share_that_lost_its_decimal_point_is_mended(write: Write) -> None:
    train = "text,crowd_label,conf0,conf1,conf2\na,2,0.1575,0.1575,685\nb,0,1,0,0\n"
    np.testing.assert_allclose(
        figure_eight.make(write({"train.csv": train})).votes.tally(), [[0.1575, 0.1575, 0.685], [1, 0, 0]]
    )


def test_a_text_that_is_not_utf8_is_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_bytes("text,crowd_label,conf0,conf1\ncafé,0,1,0\n".encode("latin-1"))
    assert figure_eight.make({"train.csv": path}).texts == ["café"]
