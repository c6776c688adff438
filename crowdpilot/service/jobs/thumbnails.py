"""Thumbnails: uploaded images as small grey squares, which is what a simple machine sees of them."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection

from crowdpilot.arrays import Floats
from crowdpilot.service.store import items

SIDE = 32
LARGEST = 50_000_000  # points of an image that is looked at
FILE = re.compile(r"([0-9a-f]{64})(\.[a-z]+)?$")  # how the address of an uploaded file ends


def read(c: Connection, project: str, contents: Sequence[dict[str, Any]]) -> Floats:
    """Rows of brightness from 0 to 1, (images, 1024); NaN where there is no file or it is no image."""
    rows = np.full((len(contents), SIDE * SIDE), np.nan)
    for n, content in enumerate(contents):
        found = FILE.search(content.get("image", ""))
        data = None if found is None else items.file_data(c, project, found[1])
        if data is not None:
            rows[n] = shrink(data)
    return rows


def shrink(data: bytes) -> Floats:
    """One image as a row of brightness; NaN if it cannot be read."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > LARGEST:
                raise ValueError("the image is too large")
            image.draft("L", (SIDE, SIDE))  # a JPEG is read small at once
            small = image.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX)
            return np.asarray(small, np.float64).ravel() / 255
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return np.full(SIDE * SIDE, np.nan)
