"""Labelling configurations of Label Studio: one question with one choice about a text, image, sound or video.

Tags: https://labelstud.io/tags/choices, https://labelstud.io/tags/choice, https://labelstud.io/tags/text,
https://labelstud.io/tags/hypertext, https://labelstud.io/tags/paragraphs, https://labelstud.io/tags/image,
https://labelstud.io/tags/audio and https://labelstud.io/tags/video.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring

from crowdpilot.service.platforms.platform import parse_xml

TAGS = {"text": "Text", "image": "Image", "audio": "Audio", "video": "Video"}  # by the kind of content
KINDS = {  # by tags in lower case
    "text": "text", "hypertext": "text", "paragraphs": "text", "image": "image", "audio": "audio",
    "audioplus": "audio", "video": "video",
}  # fmt: skip
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


def read_config(text: str, control: str = "") -> Config:
    """The question of a configuration; a `ValueError` unless it has exactly one single choice.

    Parameters
    ----------
    text
        XML.
    control
        Name of the choices that are meant, where there are several.
    """
    root = parse_xml(text, "the labelling configuration")
    choices = _find_choices(root, control)
    classes = [one.get("alias") or one.get("value") or "" for one in choices.iter("Choice")]
    if len(classes) < 2 or len({*classes}) < len(classes) or "" in classes:
        raise ValueError("the labelling configuration needs two or more Choice tags with different values")
    about = (choices.get("toName") or "").split(",")[0]
    fields = _fields(root, about)
    if not fields or not choices.get("name") or about not in {one.get("name") for one in root.iter()}:
        raise ValueError(
            "the labelling configuration has to ask about a Text, Image, Audio or Video that it names"
        )
    return Config(tuple(classes), fields, choices.get("name", ""), about)


def read_question(text: str, control: str) -> str:
    """What annotators are asked: the header that stands last before the choices; empty if there is none."""
    header = ""
    for element in parse_xml(text, "the labelling configuration").iter():
        if element.tag == "Header":
            header = element.get("value", "")
        if element.tag == "Choices" and element.get("name") == control:
            break
    return "" if header.startswith("$") else header


def _find_choices(root: Element, control: str) -> Element:
    """The single choice of this name, or the only one; those about parts of a task do not count."""
    single = [
        element
        for element in root.iter("Choices")
        if element.get("choice", "single").startswith("single")
        and "true" not in (element.get("perRegion"), element.get("perItem"))
    ]
    names = [element.get("name", "") for element in single]
    found = [element for element in single if control in ("", element.get("name"))]
    if control and len(found) != 1:
        raise ValueError(
            f"the labelling configuration has no single choice {control!r}; it has "
            f"{', '.join(names) or 'none'}"
        )
    if len(found) > 1:
        raise ValueError(
            f"the labelling configuration has {len(found)} single choices; say which is asked: "
            f"{', '.join(names)}"
        )
    if not found:
        raise ValueError("the labelling configuration has 0 single choices; add one Choices tag")
    return found[0]


def _fields(root: Element, about: str) -> dict[str, str]:
    """The field of the first of each kind; what the choices belong to goes before others of its kind."""
    fields: dict[str, str] = {}
    for element in sorted(root.iter(), key=lambda one: one.get("name") != about):
        kind, value = KINDS.get(element.tag.lower()), element.get("value", "")
        if kind is not None and value.startswith("$") and len(value) > 1:
            fields.setdefault(kind, value[1:])
    return {kind: fields[kind] for kind in TAGS if kind in fields}
