"""Labelling configurations of Label Studio: one question with one choice about a text, image, sound or video.

Tags: https://labelstud.io/tags/choices, https://labelstud.io/tags/choice, https://labelstud.io/tags/text,
https://labelstud.io/tags/image, https://labelstud.io/tags/audio and https://labelstud.io/tags/video.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from crowdpilot.service.platforms.platform import parse_xml

TAGS = {"text": "Text", "image": "Image", "audio": "Audio", "video": "Video"}  # by the kind of content
CONTROL_NAME = "label"


class Config(NamedTuple):
    """A question with one choice about the content of tasks.

    Parameters
    ----------
    classes
        The choices, as they stand in annotations.
    fields
        The field of a task's data that holds the text, the image, or another kind of content.
    control
        Name of the choices; empty if it is not known, where any will do.
    about
        Name of what is shown, to which the choices belong.
    """

    classes: tuple[str, ...]
    fields: dict[str, str]
    control: str = CONTROL_NAME
    about: str = "text"


def any_config(classes: Sequence[str]) -> Config:
    """The configuration that is assumed where none is known: fields called text, image, audio and video."""
    return Config(tuple(classes), {kind: kind for kind in TAGS}, control="")


def write_config(classes: Sequence[str], *, question: str = "", shows: Sequence[str] = ("text",)) -> str:
    """The configuration of a project.

    Parameters
    ----------
    classes
        Of the project, in their order.
    question
        What workers are asked.
    shows
        What items have: text, image, audio, video, or several of them.

    Examples
    --------
    >>> read_config(write_config(["cat", "dog"], shows=["image"])).fields
    {'image': 'image'}
    """
    view = Element("View")
    if question:
        SubElement(view, "Header", value=question)
    for kind in shows:
        SubElement(view, TAGS[kind], name=kind, value=f"${kind}")
    choices = SubElement(
        view, "Choices", name=CONTROL_NAME, toName=shows[0], choice="single", required="true"
    )
    for name in classes:
        SubElement(choices, "Choice", value=name)
    text = tostring(view, encoding="unicode")
    if read_config(text).classes != tuple(classes):
        raise ValueError("a class has characters that XML cannot hold; rename it")
    return text


def read_config(text: str) -> Config:
    """The question of a configuration; a `ValueError` unless it has exactly one single choice."""
    root = parse_xml(text, "the labelling configuration")
    choices = [
        element for element in root.iter("Choices") if element.get("choice", "single").startswith("single")
    ]
    if len(choices) != 1:
        raise ValueError(
            f"the labelling configuration has {len(choices)} single choices; keep one Choices tag"
        )
    classes = [one.get("alias") or one.get("value") or "" for one in choices[0].iter("Choice")]
    if len(classes) < 2 or len({*classes}) < len(classes) or "" in classes:
        raise ValueError("the labelling configuration needs two or more Choice tags with different values")
    fields = _fields(root)
    about = (choices[0].get("toName") or "").split(",")[0]
    if not fields or not choices[0].get("name") or about not in {one.get("name") for one in root.iter()}:
        raise ValueError(
            "the labelling configuration has to ask about a Text, Image, Audio or Video that it names"
        )
    return Config(tuple(classes), fields, choices[0].get("name", ""), about)


def _fields(root: Element) -> dict[str, str]:
    """The field of the first of each kind."""
    shown = {kind: root.find(f".//{tag}") for kind, tag in TAGS.items()}
    values = {kind: one.get("value", "") for kind, one in shown.items() if one is not None}
    return {kind: value.removeprefix("$") for kind, value in values.items() if value.startswith("$")}
