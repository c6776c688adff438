"""LabelMe: photographs of eight kinds of scenes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdpilot.datasets.data import Data, Part
from crowdpilot.datasets.registry import Counts, Dataset
from crowdpilot.datasets.source_files import UNSTATED, on_github, read_text
from crowdpilot.names import to_names
from crowdpilot.votes import Votes

REPOSITORY = "fmenat/PyLearningCrowds", "272bf1deb6237908262b8103ae0538ae08638f41"
CLASSES = "highway", "insidecity", "tallbuilding", "street", "forest", "coast", "mountain", "opencountry"
PARTS = {"train": "train", "val": "valid", "test": "test"}  # and what its files are called by


def make(files: Mapping[str, Path]) -> Data:
    """From a matrix of tasks and workers with -1 where there is no vote, and files for each part."""
    parts = {name: _part(files, file) for name, file in PARTS.items()}
    train = parts.pop("train")
    try:
        label = np.loadtxt(files["answers.txt"], np.int64, ndmin=2)
    except ValueError as error:
        raise ValueError(f"answers.txt: expected numbers ({error})") from error
    if len(label) != len(train.tasks) or not -1 <= label.min() <= label.max() < len(CLASSES):
        raise ValueError(f"answers.txt: expected {len(train.tasks)} rows of classes from 0 to 7, or -1")
    label = label[:, (label >= 0).any(axis=0)]  # columns without a vote are no workers
    task, worker = np.nonzero(label >= 0)
    votes = Votes(
        task.astype(np.int32), worker.astype(np.int32), label[task, worker].astype(np.int32),
        train.tasks, np.arange(label.shape[1]), to_names(CLASSES),
    )  # fmt: skip
    return Data(Part(train.tasks, votes, train.truth, features=train.features), parts)


def _part(files: Mapping[str, Path], name: str) -> Part:
    tasks = [line.removesuffix(".jpg") for line in read_text(files[f"filenames_{name}.txt"]).split()]
    codes = read_text(files[f"LabelMe_Z_{name}.txt"]).split()
    if len(codes) != len(tasks):
        raise ValueError(f"LabelMe_Z_{name}.txt: it has {len(codes)} rows, expected {len(tasks)}")
    truth = {task: CLASSES[int(k)] for task, k in zip(tasks, codes, strict=True)}
    features = _features(files[f"LabelMe_VGG_avg_{name}.npy"], len(tasks))
    return Part(to_names(tasks), truth=truth, features=features)


def _features(path: Path, tasks: int) -> NDArray[Any]:
    try:
        x = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{path.name}: cannot be read as an array of numpy ({error})") from error
    if len(x) != tasks:
        raise ValueError(f"{path.name}: it has {len(x)} rows, expected {tasks}")
    flat: NDArray[Any] = x.reshape(tasks, -1).astype(np.float32)
    return flat


SIZE_AND_SHA256 = {
    "LabelMe_Z_train.txt": (2000, "229556bdc5da327dd7d4e4154ba180969091c83f43cf8cbee3727131c5a062f6"),
    "LabelMe_Z_valid.txt": (1000, "40aba43f903a539b38243c411e214da1f8c696cc47aa59811cc3388cc6899892"),
    "LabelMe_Z_test.txt": (2376, "6d508b638d41fa84b2628615270456df96a49dce18054d201ac6261b03ea77bc"),
    "raw/filenames_train.txt": (20745, "ab6b8c79cf243aadad711e13c31fd05c645caeeab691be1f93481eb63105142c"),
    "raw/filenames_valid.txt": (10300, "7f38999aee931a392a04208cf3a0a48a4556a1d1f0dceeb365b04619b6d0816f"),
    "raw/filenames_test.txt": (24736, "4ecc5ba8be2060d49783a4f955deeed698f3cde8aeef3b1a1daa2e8d976104d4"),
    "answers.txt": (228453, None),
    **{f"LabelMe_VGG_avg_{name}.npy": (None, None) for name in PARTS.values()},
}
DATASETS = (
    Dataset(
        name="labelme",
        description="Which of eight scenes does a photograph show? Mechanical Turk, one to three workers "
        "each. The name of a task holds its class: never learn from it.",
        counts=Counts(1000, 59, 2547, 8, 1000),
        kind="features",
        licence=UNSTATED,
        source="Rodrigues and Pereira, AAAI 2018, with features of a VGG16 network in "
        f"https://github.com/{REPOSITORY[0]}",
        make=make,
        files=tuple(
            on_github(*REPOSITORY, f"data/LabelMe/{path}", *known) for path, known in SIZE_AND_SHA256.items()
        ),
    ),
)
