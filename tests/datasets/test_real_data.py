"""The files of sources, made again from folders of real data: their digests and what becomes of them."""

from __future__ import annotations

import csv
import hashlib
import os
import shutil
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from crowdpilot.datasets import DATASETS, Data, read_folder
from crowdpilot.datasets.local_copies import check_counts
from crowdpilot.datasets.sets import figure_eight, truth_inference

pytestmark = pytest.mark.slow


def folder_of(name: str) -> Path:
    folder = Path(os.environ.get("CROWDPILOT_DATA", "no such folder")) / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not in the folder that CROWDPILOT_DATA names")
    return folder


def put(folder: Path, name: str, files: Mapping[str, str]) -> dict[str, Path]:
    """The files of a set, which are those that the registry knows."""
    for file in DATASETS[name].files:
        content = files[file.name].encode()
        (folder / file.name).write_bytes(content)
        assert file.sha256 in (None, hashlib.sha256(content).hexdigest())
        assert file.size in (None, len(content))
    return {file.name: folder / file.name for file in DATASETS[name].files}


def same(found: Data, known: Data) -> None:
    assert (len(found.votes), found.votes.tasks.tolist()) == (len(known.votes), known.votes.tasks.tolist())
    np.testing.assert_allclose(found.votes.tally(), known.votes.tally())
    assert found.truth == known.truth
    assert found.texts == known.texts


COLLECTION = [d.name for d in truth_inference.DATASETS if d.checksum == "known"]


@pytest.mark.parametrize("name", COLLECTION)
def test_the_collection_is_the_known_one(name: str, tmp_path: Path) -> None:
    folder = folder_of(name)
    answers, truth = ((folder / file).read_text().partition("\n")[2] for file in ("answers.csv", "truth.csv"))
    files = {"label.csv": f"item,worker,label\n{answers}", "truth.csv": f"item,truth\n{truth}"}
    data = DATASETS[name].make(put(tmp_path, name, files))
    check_counts(DATASETS[name], data)
    same(data, read_folder(folder, repeats="all"))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def table(folder: Path, part: str) -> str:
    """A part as the source has it; in tests of natural shares, whole numbers have no decimals."""
    prefix = "" if part == "train" else f"{part}_"
    soft = rows(folder / f"{prefix}soft.csv")
    texts = [row["text"] for row in rows(folder / f"{prefix}texts.csv")]
    truth = folder / f"{prefix}truth.csv"
    gold = [[row["label"]] for row in rows(truth)] if truth.is_file() else [[]] * len(texts)
    shares = [name for name in soft[0] if name.startswith("conf")]
    out = StringIO(newline="")
    write = csv.writer(out, lineterminator="\n")
    write.writerow(["text", *(["gold_label"] if truth.is_file() else []), "crowd_label", *shares])
    for text, known, row in zip(texts, gold, soft, strict=True):
        write.writerow([text, *known, row["crowd_label"], *(number(row[name], part) for name in shares)])
    return out.getvalue().removesuffix("\n") if part == "test" else out.getvalue()


def number(share: str, part: str) -> str:
    return str(int(float(share))) if part == "test" and float(share).is_integer() else share


@pytest.mark.parametrize("name", [d.name for d in figure_eight.DATASETS])
def test_the_texts_of_figure_eight_are_the_known_ones(name: str, tmp_path: Path) -> None:
    folder = folder_of(name)
    files = {file.name: table(folder, Path(file.name).stem) for file in DATASETS[name].files}
    data = DATASETS[name].make(put(tmp_path, name, files))
    check_counts(DATASETS[name], data)
    shutil.copytree(folder, tmp_path / "known", ignore=shutil.ignore_patterns("test_soft.csv"))  # see `make`
    known = read_folder(tmp_path / "known")
    same(data, known)
    for part, of in data.parts.items():
        assert of.truth == known.parts[part].truth
        assert of.texts == known.parts[part].texts


@pytest.mark.parametrize("name", ["labelme", "music"])
def test_folders_with_features_are_read(name: str) -> None:
    data = read_folder(folder_of(name))
    counts = DATASETS[name].counts
    assert (len(data.votes), len(data.votes.workers), len(data.truth)) == (
        counts.votes,
        counts.workers,
        counts.truth,
    )
    assert data.features is not None
    assert len(data.features) == counts.tasks
    assert len(data.parts["test"].truth) == len(data.parts["test"].features)


def test_counts_of_cifar_are_read_as_weights() -> None:
    data = read_folder(folder_of("cifar10h"))
    assert data.votes.weights.sum() == 511_000
    truth = np.array([data.truth[task] for task in data.votes.tasks.tolist()])
    assert (data.votes.tally().argmax(axis=1) == truth).mean() > 0.99
