"""Digits: images of handwritten digits with a simulated crowd, bundled for trying things out."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import zoom

from crowdpilot.datasets.data import Data, Part
from crowdpilot.datasets.registry import Counts, Dataset
from crowdpilot.datasets.simulated_votes import simulate_votes

Pixels = NDArray[np.uint8]
NAMES = {3: "three", 5: "five", 8: "eight", 9: "nine"}
CLASSES = "eight", "five", "nine", "three"
TRAIN_TASKS = 450  # the others are to test by
CONFUSABILITY = np.array([
    [0.0, 0.3, 0.3, 0.4],
    [0.2, 0.0, 0.3, 0.5],
    [0.4, 0.3, 0.0, 0.3],
    [0.3, 0.5, 0.2, 0.0],
])  # fmt: skip


def load_digits() -> tuple[Pixels, list[str]]:
    """600 images of 8 x 8 pixels from 0 (paper) to 16 (ink), and the digit that each shows.

    Threes, fives, eights and nines of the test set in Alpaydin and Kaynak, Optical Recognition of
    Handwritten Digits, UCI Machine Learning Repository, 1998 (CC BY 4.0),
    https://doi.org/10.24432/C50P49.

    Examples
    --------
    >>> images, names = load_digits()
    >>> images.shape, sorted(set(names))
    ((600, 8, 8), ['eight', 'five', 'nine', 'three'])
    """
    with (resources("crowdpilot.datasets") / "digits.npz").open("rb") as file, np.load(file) as arrays:
        return arrays["images"], [NAMES[int(label)] for label in arrays["labels"]]


def to_png(image: Pixels, scale: int = 24) -> bytes:
    """An image of `load_digits` as a PNG file, enlarged so that people can look at it.

    Examples
    --------
    >>> to_png(load_digits()[0][0])[1:4]
    b'PNG'
    """
    ink = np.clip(zoom(image.astype(float) / 16, scale, order=1), 0, 1)
    grey = (255 * (1 - ink)).astype(np.uint8)
    height, width = grey.shape
    lines = b"".join(b"\0" + line.tobytes() for line in grey)  # no filter
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def make(_: Mapping[str, Path]) -> Data:
    """The first images with votes, the others to test by; the pixels are the features too."""
    images, names = load_digits()
    tasks = np.arange(len(images))
    truth = np.array([CLASSES.index(name) for name in names], np.int32)
    votes = simulate_votes(
        tasks[:TRAIN_TASKS], truth[:TRAIN_TASKS], CLASSES, CONFUSABILITY, workers=30, votes_per_task=4, seed=1
    )
    train, test = (
        Part(
            tasks[rows],
            crowd,
            dict(zip(tasks[rows].tolist(), names[rows], strict=True)),
            features=images[rows].reshape(-1, 64) / np.float32(16),
            images=images[rows],
        )
        for rows, crowd in ((slice(TRAIN_TASKS), votes), (slice(TRAIN_TASKS, None), None))
    )
    return Data(train, {"test": test})


DATASETS = (
    Dataset(
        name="digits",
        description="Which of four digits did somebody write? 450 real images with four votes each of "
        "a simulated crowd, 150 more to test by.",
        counts=Counts(TRAIN_TASKS, 30, 4 * TRAIN_TASKS, len(CLASSES), TRAIN_TASKS),
        kind="images",
        licence="CC BY 4.0",
        source="Alpaydin and Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning "
        "Repository, 1998, https://doi.org/10.24432/C50P49; the votes are simulated",
        make=make,
    ),
)
