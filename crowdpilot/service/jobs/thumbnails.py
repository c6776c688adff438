"""Thumbnails: uploaded images as vectors of grey pixels, the features of a simple classifier."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection

from crowdpilot.arrays import Floats
from crowdpilot.service.store import items
from crowdpilot.service.uploads.image_sizes import check_image, image_type

SIDE_PIXELS = 32
PILLOW_FORMATS = ("PNG", "JPEG", "GIF", "WEBP")  # that it may read; it knows many more
FILE_DIGEST = re.compile(r"([0-9a-f]{64})(\.[a-z]+)?$")  # how the address of an uploaded file ends


def read(c: Connection, project: str, contents: Sequence[dict[str, Any]]) -> Floats:
    """Brightness from 0 to 1, (images, 1024); NaN where there is no file or it is no image."""
    rows = np.full((len(contents), SIDE_PIXELS * SIDE_PIXELS), np.nan)
    for n, content in enumerate(contents):
        digest = FILE_DIGEST.search(content.get("image", ""))
        data = None if digest is None else items.file_data(c, project, digest[1])
        if data is not None:
            rows[n] = shrink(data)
    return rows


def shrink(data: bytes) -> Floats:
    """The brightness of one image, (1024,); NaN if it cannot be read."""
    from PIL import Image

    try:
        size = check_image(image_type(data) or "", data)
        with Image.open(io.BytesIO(data), formats=PILLOW_FORMATS) as image:
            if image.width * image.height > size.width * size.height:
                raise ValueError("the image is larger than its header says")
            image.draft("L", (SIDE_PIXELS, SIDE_PIXELS))  # decodes a JPEG at a reduced size
            small = image.convert("L").resize((SIDE_PIXELS, SIDE_PIXELS), Image.Resampling.BOX)
            return np.asarray(small, np.float64).ravel() / 255
    except Exception:  # whatever is wrong with one image, the others are read
        return np.full(SIDE_PIXELS * SIDE_PIXELS, np.nan)
