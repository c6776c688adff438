from __future__ import annotations

import io

import numpy as np
from PIL import Image

from crowdpilot.datasets.sets.digits import NAMES, load_digits, to_png


def test_the_digits_are_those_of_scikit_learn():
    from sklearn.datasets import load_digits as original

    known = original()
    originals = known.images.astype(np.uint8)
    pairs = {(image.tobytes(), int(digit)) for image, digit in zip(originals, known.target, strict=True)}
    number = {name: digit for digit, name in NAMES.items()}
    images, names = load_digits()
    assert {(im.tobytes(), number[n]) for im, n in zip(images, names, strict=True)} <= pairs


def test_a_picture_of_a_digit_is_dark_where_there_is_ink():
    image = load_digits()[0][0]
    shown = Image.open(io.BytesIO(to_png(image, 10)))
    assert shown.size == (80, 80)
    grey = np.asarray(shown)[5::10, 5::10].astype(float)
    assert np.corrcoef(grey.ravel(), image.ravel())[0, 1] < -0.8
