"""Exports of Label Studio with other controls than one choice: stars, comments, several choices, spans."""

from __future__ import annotations

from typing import Any

from scripts.corpus.folder import Vote, write_folder
from scripts.corpus.program import Client
from scripts.corpus.scenario import SENTIMENT_VOTES, SENTIMENTS, TEXTS

RATING = '<Rating name="stars" toName="text" maxRating="5"/>'
COMMENT = '<TextArea name="comment" toName="text" maxSubmissions="1"/>'
SPANS = '<Labels name="span" toName="text"><Label value="person"/><Label value="place"/></Labels>'
STARS = {label: n + 1 for n, label in enumerate(SENTIMENTS)}
Result = list[dict[str, Any]]


def choice(*labels: str) -> dict[str, Any]:
    """The result of a control with choices."""
    return {
        "from_name": "sentiment",
        "to_name": "text",
        "type": "choices",
        "value": {"choices": list(labels)},
    }


def rating(label: str) -> Result:
    """As many stars as the label stands for."""
    return [{"from_name": "stars", "to_name": "text", "type": "rating", "value": {"rating": STARS[label]}}]


def with_comment(label: str) -> Result:
    """A choice and a free text; every other time the text is left out."""
    value = {"text": [f"I think it is {label}, really."]}
    comment = {"from_name": "comment", "to_name": "text", "type": "textarea", "value": value}
    return [choice(label)] if label == "neutral" else [choice(label), comment]


def several(label: str) -> Result:
    """One choice or two."""
    return [choice(label) if label == "neutral" else choice(label, "neutral")]


def span(label: str) -> Result:
    """A part of the text, which is about no task as a whole."""
    value = {"start": 0, "end": 3, "text": "The", "labels": ["person" if label == "neutral" else "place"]}
    return [{"from_name": "span", "to_name": "text", "type": "labels", "value": value}]


def spans_and_choice(label: str) -> Result:
    """Both in one annotation."""
    return [*span(label), choice(label)]


def votes_of(tasks: list[int], users: list[int], names: dict[str, Any]) -> list[Vote]:
    """What was voted, under the names that the control gives to labels."""
    return [
        (task, user, names[label])
        for task, row in zip(tasks, SENTIMENT_VOTES, strict=True)
        for user, label in zip(users, row, strict=True)
        if label is not None
    ]


def submit(people: list[Client], tasks: list[int], result: Any) -> None:
    """The annotations of everybody."""
    for task, row in zip(tasks, SENTIMENT_VOTES, strict=True):
        for client, label in zip(people, row, strict=True):
            if label is not None:
                body = {"result": result(label), "lead_time": 4.0}
                client.call("POST", f"/api/tasks/{task}/annotations", body)


def data() -> list[dict[str, Any]]:
    """Tasks with a field that is called like an answer."""
    return [{"text": text, "rating": "PG-13"} for text in TEXTS]


def write_kind(name: str, content: bytes, votes: list[Vote], about: dict[str, Any]) -> None:
    """A folder whose file has the suffix of its kind."""
    suffix = {"JSON": "json", "JSON_MIN": "json", "CSV": "csv"}[about["export"]]
    kind = about["export"].lower().replace("_", "-")
    write_folder(f"label-studio-{name}-{kind}", {f"export.{suffix}": content}, votes, about)
