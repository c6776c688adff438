"""Class probabilities of every source, in the order of tasks and classes, or a sentence that refuses them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.io.probabilities import parse_probs, read_probs

TASKS, CLASSES = np.array(["owl", "eel", "emu"], object), np.array(["bird", "fish"], object)
PROBS = np.array([[0.8, 0.2], [0.2, 0.8], [0.9, 0.1]])
FRAME = pd.DataFrame(PROBS, TASKS, CLASSES)
WIDE = FRAME.add_prefix("p_").rename_axis("task").reset_index()
LONG = FRAME.rename_axis("task").reset_index().melt("task", var_name="class", value_name="prob")

SOURCES = {
    "array": PROBS,
    "lists": PROBS.tolist(),
    "floats of 32 bits": PROBS.astype(np.float32),
    "frame by index": FRAME[::-1],
    "frame with a column for the task": WIDE,
    "columns in another order": WIDE[["p_fish", "task", "p_bird"]],
    "frame without names of tasks": FRAME.reset_index(drop=True),
    "other prefixes": WIDE.rename(columns={"p_bird": "proba_bird", "p_fish": "prob_fish"}),
    "columns that are numbered": pd.DataFrame(PROBS, TASKS),
    "one of two classes": FRAME[["fish"]],
    "a row for each task and class": LONG.sample(frac=1, random_state=0),
    "polars": pl.DataFrame(WIDE.to_dict("list")),
    "Arrow": pl.DataFrame(WIDE.to_dict("list")).to_arrow(),
    "dict of columns": WIDE.to_dict("list"),
    "dict of columns named by class": {"bird": PROBS[:, 0], "fish": PROBS[:, 1]},
    "records": WIDE.to_dict("records"),
    "rows by task": dict(zip(TASKS[::-1], PROBS[::-1], strict=True)),
    "probabilities by task and class": FRAME.T.to_dict(),
    "a row that occurs twice": pd.concat([WIDE, WIDE[:1]]),
    "rows of other tasks": pd.concat([WIDE, pd.DataFrame({"task": ["x"], "p_bird": [3], "p_fish": [4]})]),
    "other columns": WIDE.assign(text="a", confidence=0.9, votes=3),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same(source):
    np.testing.assert_allclose(read_probs(SOURCES[source], TASKS, CLASSES), PROBS, atol=1e-7)


def test_tasks_may_be_called_like_columns():
    tasks = np.array(["p_1", "task", "item"], object)
    np.testing.assert_allclose(read_probs(dict(zip(tasks, PROBS, strict=True)), tasks, CLASSES), PROBS)


@pytest.mark.parametrize("frame", [FRAME, WIDE, LONG], ids=["index", "wide", "long"])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl", "csv.gz"])
def test_every_file_gives_the_same(frame, suffix, tmp_path: Path):
    path = tmp_path / f"probs.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "jsonl":
        named = frame.rename_axis("task").reset_index() if frame is FRAME else frame
        named.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, sep="\t" if suffix == "tsv" else ",", index=frame is FRAME)
    np.testing.assert_allclose(read_probs(path, TASKS, CLASSES), PROBS)
    np.testing.assert_allclose(read_probs(str(path), TASKS, CLASSES), PROBS)


def test_columns_that_are_numbers_of_classes_are_read_without_a_task(tmp_path: Path):
    pd.DataFrame(PROBS).to_csv(tmp_path / "probs.csv", index=False)
    np.testing.assert_allclose(read_probs(tmp_path / "probs.csv", TASKS, np.array([0, 1])), PROBS)


def test_rounding_is_no_error():
    rng = np.random.default_rng(0)
    for K in (2, 3, 10):
        exact = rng.dirichlet(np.ones(K), 300)
        names = np.arange(300), np.arange(K)
        np.testing.assert_allclose(read_probs(exact.round(2), *names), exact, atol=0.06)
        np.testing.assert_allclose(read_probs(exact.astype(np.float16), *names), exact, atol=1e-2)


WRONG = {
    "a sum": (PROBS * [1, 0.5], "of task 'owl' sum to 0.9, expected 1"),
    "a missing number": (FRAME.replace(0.9, np.nan), "of task 'emu' have no number for the class 'bird'"),
    "infinity": (FRAME.replace(0.2, np.inf), "of task 'owl' have no number for the class 'fish'"),
    "logits": ([[2.0, -1], [0.5, 0.25], [3, 1]], "of task 'owl' are 2, -1; these look like logits"),
    "logits above zero": ([[2.5, 1], [0.5, 7.25], [3, 1]], "of task 'owl' are 2.5, 1; these look like"),
    "logarithms": (np.log(PROBS), "apply np.exp first"),
    "percentages": (100 * PROBS, "divide them by 100"),
    "counts": ([[4, 1], [0, 3], [2, 2]], "divide each row by its sum"),
    "negative": ([[1.2, -0.2], [0.5, 0.5], [1, 0]], "of task 'owl' are 1.2, -0.2; a probability is never"),
    "one number for two classes": (PROBS[:, 1], r"if p is that of 'fish', .*np.column_stack\(\[1 - p, p\]\)"),
    "too few rows": (PROBS[:2], r"shape \(2, 2\), expected \(tasks, classes\) \(3, 2\); give a row for each"),
    "too many classes": (np.full((3, 4), 0.25), r"\(3, 2\), the classes bird, fish; name all classes"),
    "several classifiers": (np.stack([PROBS, PROBS]), "give the mean"),
    "no numbers": ([["much", "little"]] * 3, "are no array of numbers"),
    "a missing task": (WIDE[1:], "have no row for task 'owl'; add one"),
    "other tasks": (WIDE.replace("owl", "OWL")[:1], "3 of 3 tasks, such as 'owl', but for tasks such as 'O"),
    "rows that differ": (pd.concat([WIDE, WIDE[:1].assign(p_bird=0, p_fish=1)]), "several rows for task 'o"),
    "a missing class": (WIDE.rename(columns={"p_bird": "p_cow"}).assign(p_yak=0.0), "no column p_bird or b"),
    "labels": (pd.DataFrame({"task": TASKS, "label": ["bird", "fish", "bird"]}), "are labels, expected a"),
    "labels with a confidence": (
        pd.DataFrame({"task": TASKS, "label": ["bird", "fish", "bird"], "confidence": 0.8}),
        "are labels, expected a column p_CLASS",
    ),
    "a class twice": (pd.concat([LONG, LONG[:1]]), "two rows for task 'owl' and class 'bird'"),
    "rows of different lengths": ({"owl": [0.5, 0.5], "eel": [1], "emu": [1, 0]}, "tasks 'owl' and 'eel' di"),
    "text": (WIDE.astype({"p_bird": object}).replace(0.8, "high"), "found 'high' in column 'p_bird', row 1"),
    "no columns of classes": (FRAME.set_axis(["a", "b"], axis=1), "have the columns 'a', 'b', expected a"),
    "rows of different lengths in a list": ([[0.5, 0.5], [1]], "are no array of numbers"),
    "no file": ("nothing.csv", "nothing.csv: there is no such file"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_said_in_one_sentence(wrong):
    source, message = WRONG[wrong]
    classes = np.array(["bird", "fish", "yak"]) if wrong == "a missing class" else CLASSES
    with pytest.raises(ValueError, match=message) as error:
        read_probs(source, TASKS, classes)
    assert "\n" not in str(error.value)


def test_an_error_names_the_file(tmp_path: Path):
    path = tmp_path / "probs.csv"
    WIDE.assign(p_bird=0.5).to_csv(path, index=False)
    with pytest.raises(
        ValueError, match=r"probs.csv: the classifier's probabilities of task 'owl' sum to 0.7"
    ):
        read_probs(path, TASKS, CLASSES)
    path.write_text("")
    with pytest.raises(ValueError, match=r"probs.csv: the file is empty"):
        read_probs(path, TASKS, CLASSES)
    np.save(tmp_path / "probs.npy", PROBS[:2])
    with pytest.raises(ValueError, match=r"probs.npy: the classifier's probabilities have shape \(2, 2\)"):
        read_probs(tmp_path / "probs.npy", TASKS, CLASSES)


def test_tasks_and_classes_that_a_source_names_are_told():
    found = parse_probs(WIDE)
    assert found.tasks is not None
    assert found.classes is not None
    assert (found.tasks.tolist(), found.classes.tolist()) == (TASKS.tolist(), CLASSES.tolist())
    assert parse_probs(PROBS).tasks is parse_probs(PROBS).classes is None


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8), st.integers(2, 5), st.integers(0, 10**6))
def test_frames_and_mappings_in_any_order_give_the_array(tasks, K, seed):
    rng = np.random.default_rng(seed)
    names, classes = (
        np.array([f"{kind}{n}" for n in range(size)], object) for kind, size in (("t", tasks), ("c", K))
    )
    probs = rng.dirichlet(np.ones(K), tasks)
    rows, columns = rng.permutation(tasks), rng.permutation(K)
    frame = pd.DataFrame(probs, names, classes).iloc[rows, columns]
    for source in (frame, frame.T.to_dict(), dict(zip(names[rows], probs[rows], strict=True))):
        np.testing.assert_allclose(read_probs(source, names, classes), probs)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(2, 4), st.floats(0, 3), st.integers(0, 10**6))
def test_only_rows_that_sum_to_one_pass(tasks, K, factor, seed):
    probs = np.random.default_rng(seed).dirichlet(np.ones(K), tasks)
    scaled = probs * np.where(np.arange(tasks) == tasks - 1, factor, 1)[:, None]
    names = np.arange(tasks), np.arange(K)
    if abs(factor - 1) <= 0.01:
        np.testing.assert_allclose(read_probs(scaled, *names), probs, atol=1e-9)
    elif abs(factor - 1) > 0.03:
        with pytest.raises(ValueError, match=f"of task '{tasks - 1}'"):
            read_probs(scaled, *names)
