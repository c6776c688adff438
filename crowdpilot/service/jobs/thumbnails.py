"""Thumbnails: uploaded images as vectors of grey pixels, the features of a simple classifier."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection

from crowdpilot.arrays import Floats
from crowdpilot.service.store import items
from crowdpilot.service.store.engine import Store
from crowdpilot.service.uploads.image_sizes import check_image, image_type

SIDE_PIXELS = 32
PICTURE_PIXELS = 360  # of a picture in a report, on its longer side
MAX_PICTURES = 60  # in a report
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


class ItemPictures:
    """Small pictures of items by name, as data URLs for a report; empty where there is none.

    Parameters
    ----------
    store, project
        Where the files are.
    """

    def __init__(self, store: Store, project: str) -> None:
        self._store, self._project = store, project
        self._left = MAX_PICTURES

    def __call__(self, name: str) -> str:
        if not self._left:
            return ""
        with self._store.reading() as c:
            content = items.contents_by_name(c, self._project, [name]).get(name, {})
            digest = FILE_DIGEST.search(content.get("image", ""))
            data = None if digest is None else items.file_data(c, self._project, digest[1])
        self._left -= data is not None
        return "" if data is None else small_picture(data)


def small_picture(data: bytes) -> str:
    """An image as a JPEG of at most `PICTURE_PIXELS` on a side, as a data URL; empty if it cannot be read."""
    from PIL import Image

    try:
        size = check_image(image_type(data) or "", data)
        with Image.open(io.BytesIO(data), formats=PILLOW_FORMATS) as image:
            if image.width * image.height > size.width * size.height:
                raise ValueError("the image is larger than its header says")
            image.draft("RGB", (PICTURE_PIXELS, PICTURE_PIXELS))
            small = image.convert("RGBA")
            small.thumbnail((PICTURE_PIXELS, PICTURE_PIXELS))
            page = Image.new("RGB", small.size, "white")
            page.paste(small, mask=small.getchannel("A"))
            out = io.BytesIO()
            page.save(out, "JPEG", quality=80)
    except Exception:  # whatever is wrong with one image, the report is made
        return ""
    return f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}"
