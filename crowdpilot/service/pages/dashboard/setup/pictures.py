"""Pictures that are uploaded with the form of a project: of instructions, examples and the quiz."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from starlette.datastructures import UploadFile

from crowdpilot.service.pages.dashboard.setup.fields import ROW_FIELD, Typed
from crowdpilot.service.pages.rendering import sentence
from crowdpilot.service.requesters.project_creation import Picture
from crowdpilot.service.uploads.image_sizes import check_image, image_type

END = "-file"  # of the name of a field with a file, after that of the field with its address


def read_pictures(
    form: Mapping[str, Any], typed: Typed, project: str
) -> tuple[dict[str, str], list[Picture], dict[str, str]]:
    """Typed fields with the addresses of uploaded pictures, the pictures, and what is wrong by field.

    The pictures have addresses in `project`; they are to be saved with `store.items.save_file`.
    """
    found, pictures, wrong = dict(typed), [], {}
    for name, file in form.items():
        field = name.removesuffix(END)
        if (
            field == name
            or not ROW_FIELD.fullmatch(field)
            or not isinstance(file, UploadFile)
            or not file.filename
        ):
            continue
        data = file.file.read()
        type = image_type(data)
        try:
            if type is None:
                raise ValueError("this file is no PNG, JPEG, GIF or WebP image; choose another")
            check_image(type, data)
        except ValueError as error:
            wrong[field] = sentence(str(error))
            continue
        pictures.append(Picture(type, data))
        found[field] = f"/files/{project}/{sha256(data).hexdigest()}"
    return found, pictures, wrong
