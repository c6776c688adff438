"""Exports of Label Studio: two projects with three annotators, in each of its formats."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scripts.corpus import label_studio_controls as controls
from scripts.corpus.folder import RUN, Vote, write_folder
from scripts.corpus.program import Client, free_port, running
from scripts.corpus.scenario import (
    ANNOTATORS,
    CATEGORIES,
    PASSWORD,
    SENTIMENT_VOTES,
    SENTIMENTS,
    TEXTS,
    TOPIC_VOTES,
    TOPICS,
)

ADMIN = "admin@example.org"
FORMATS = {"JSON": "json", "JSON_MIN": "json", "CSV": "csv", "TSV": "tsv"}
SETTINGS = {"COLLECT_ANALYTICS": "False", "LATEST_VERSION_CHECK": "False", "SENTRY_DSN": "", "TZ": "UTC"}
ASKED = {"options": {"question": "sentiment"}, "refused_without_options": "may be in"}
EXPECTED: dict[tuple[str, str], dict[str, Any]] = {  # what a table does not tell is asked or refused
    **{("multiple", kind): {"refused": "2 labels"} for kind in ("JSON", "JSON_MIN", "CSV")},
    **{("spans", kind): {"refused": "may be in"} for kind in ("JSON_MIN", "CSV")},
    ("spans", "JSON"): {"refused": "labels only"},
    ("comment", "JSON_MIN"): ASKED,
    ("comment", "CSV"): ASKED,
}
ACCEPTED = "label-studio-accepted-prediction"


def make(program: Path) -> None:
    """Run `program` (the command `label-studio`) and write the folders."""
    with TemporaryDirectory() as home:
        port = free_port()
        command: list[str | Path] = [
            program, "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port),
            "--data-dir", home, "--username", ADMIN, "--password", PASSWORD,
        ]  # fmt: skip
        settings = {**SETTINGS, "LABEL_STUDIO_BASE_DATA_DIR": home}
        with running(command, Path(home) / "log.txt", settings):
            export_all(port)


def export_all(port: int) -> None:
    """Make the projects and write what they export."""
    admin = signed_in(port, ADMIN)
    version = admin.call("GET", "/api/version")["label-studio-os-package"]["version"]
    about = {"program": "Label Studio", "version": version, "made": RUN}
    invitation = admin.call("GET", "/api/invite")["invite_url"]
    people = [signed_up(port, f"{name}@example.org", invitation) for name in ANNOTATORS]
    write_one_question(admin, people, about)
    write_two_questions(admin, people, about)
    write_accepted(admin, people, about)
    write_controls(admin, people, about)


def signed_in(port: int, email: str) -> Client:
    """The client of a user who is known."""
    client = Client(port)
    client.wait("/user/login/")
    client.submit("/user/login/", {"email": email, "password": PASSWORD, "persist_session": "on"})
    return client


def signed_up(port: int, email: str, invitation: str) -> Client:
    """The client of a new user of the same organization."""
    client = Client(port)
    client.send("GET", invitation)
    client.submit(invitation, {"email": email, "password": PASSWORD, "allow_newsletters": "false"})
    return client


def choices(name: str, values: tuple[str, ...]) -> str:
    """A control with one answer."""
    options = "".join(f'<Choice value="{value}"/>' for value in values)
    return f'<Choices name="{name}" toName="text" choice="single">{options}</Choices>'


def new_project(admin: Client, title: str, tags: str, data: list[dict[str, Any]]) -> tuple[int, list[int]]:
    """The id of a project and those of its tasks."""
    config = f'<View><Text name="text" value="$text"/>{tags}</View>'
    settings = {"title": title, "label_config": config, "maximum_annotations": 3, "show_skip_button": True}
    project = admin.call("POST", "/api/projects", settings)["id"]
    admin.call("POST", f"/api/projects/{project}/import", data)
    tasks = admin.call("GET", f"/api/tasks?project={project}&page_size=100")["tasks"]
    return project, sorted(task["id"] for task in tasks)


def answer(**labels: str) -> list[dict[str, Any]]:
    """The result of an annotation, as the page of Label Studio sends it."""
    return [
        {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [label]}}
        for name, label in labels.items()
    ]


def annotate(client: Client, task: int, lead_time: float, **labels: str) -> int:
    """The id of a new annotation."""
    body = {"result": answer(**labels), "lead_time": lead_time}
    return int(client.call("POST", f"/api/tasks/{task}/annotations", body)["id"])


def user_of(client: Client) -> int:
    """The id of the user."""
    return int(client.call("GET", "/api/current-user/whoami")["id"])


def write_one_question(admin: Client, people: list[Client], about: dict[str, Any]) -> None:
    """One question, a data field called `category`, an edit, a repeat, a skip, a draft and a ground truth."""
    data = [
        {"text": text, "category": category, "user": "importer"}
        for text, category in zip(TEXTS, CATEGORIES, strict=True)
    ]
    project, tasks = new_project(admin, "One question", choices("sentiment", SENTIMENTS), data)
    last: dict[tuple[int, int], str] = {}
    ids: dict[tuple[int, int], int] = {}
    for n, task in enumerate(tasks):
        for m, client in enumerate(people):
            if (label := SENTIMENT_VOTES[n][m]) is not None:
                ids[n, m] = annotate(client, task, 3.5 + n + m / 4, sentiment=label)
                last[n, m] = label
    people[1].call("POST", f"/api/tasks/{tasks[2]}/annotations", {"result": [], "was_cancelled": True})
    people[2].call("POST", f"/api/tasks/{tasks[5]}/drafts", {"result": answer(sentiment="negative")})
    time.sleep(1.1)
    people[0].call("PATCH", f"/api/annotations/{ids[4, 0]}", {"result": answer(sentiment="positive")})
    last[4, 0] = "positive"
    annotate(people[1], tasks[0], 2.0, sentiment="negative")  # a second annotation: the vote of today
    last[0, 1] = "negative"
    admin.call("PATCH", f"/api/annotations/{ids[3, 2]}", {"ground_truth": True})
    votes = _votes(tasks, people, last)
    gold = {str(tasks[3]): SENTIMENT_VOTES[3][2]}
    for kind, suffix in FORMATS.items():
        extra = {"gold": gold} if kind == "JSON" else {}
        name = f"label-studio-{kind.lower().replace('_', '-')}"
        content = exported(admin, project, kind)
        write_folder(name, {f"export.{suffix}": content}, votes, {**about, "export": kind, **extra})
    write_snapshot(admin, project, votes, {**about, "gold": gold})


def write_snapshot(admin: Client, project: int, votes: list[Vote], about: dict[str, Any]) -> None:
    """A snapshot, which is the other way to export JSON."""
    path = f"/api/projects/{project}/exports"
    made = admin.call("POST", f"{path}/", {"title": "snapshot"})
    while admin.call("GET", f"{path}/{made['id']}")["status"] != "completed":
        time.sleep(0.5)
    content = admin.send("GET", f"{path}/{made['id']}/download?exportType=JSON")
    write_folder("label-studio-snapshot", {"export.json": content}, votes, {**about, "export": "snapshot"})


def write_two_questions(admin: Client, people: list[Client], about: dict[str, Any]) -> None:
    """Two questions, data fields called `label` and `id`; an annotator leaves the second question open."""
    data = [{"text": text, "label": "imported", "id": f"doc-{n}"} for n, text in enumerate(TEXTS)]
    two = choices("topic", TOPICS) + choices("sentiment", SENTIMENTS)
    project, tasks = new_project(admin, "Two questions", two, data)
    topics: dict[tuple[int, int], str] = {}
    for n, task in enumerate(tasks):
        for m, client in enumerate(people):
            topic, sentiment = TOPIC_VOTES[n][m], SENTIMENT_VOTES[n][m]
            if topic is None or sentiment is None:
                continue
            topics[n, m] = topic
            second = {} if (n, m) == (1, 1) else {"sentiment": sentiment}
            annotate(client, task, 4.0 + n, topic=topic, **second)
    asked = {"options": {"question": "topic"}, "refused_without_options": "question"}
    for kind, suffix in FORMATS.items():
        names = (
            [one["id"] for one in data] if suffix in ("csv", "tsv") else tasks
        )  # the field replaces the id
        votes = _votes(names, people, topics)
        name = f"label-studio-two-questions-{kind.lower().replace('_', '-')}"
        content = exported(admin, project, kind)
        write_folder(name, {f"export.{suffix}": content}, votes, {**about, "export": kind, **asked})


def write_accepted(admin: Client, people: list[Client], about: dict[str, Any]) -> None:
    """Two tasks: in the first the annotators accepted a prediction of the model, in the second they voted."""
    data = [{"text": text} for text in TEXTS[:2]]
    project, tasks = new_project(admin, "Predictions", choices("sentiment", SENTIMENTS), data)
    body = {"task": tasks[0], "model_version": "v1", "score": 0.9, "result": answer(sentiment="negative")}
    prediction = admin.call("POST", "/api/predictions", body)["id"]
    for client in people[:2]:
        body = {"result": answer(sentiment="negative"), "parent_prediction": prediction, "lead_time": 1.0}
        client.call("POST", f"/api/tasks/{tasks[0]}/annotations", body)
        annotate(client, tasks[1], 2.0, sentiment="positive")
    labels = zip(tasks, ("negative", "positive"), strict=True)
    votes = [(task, user_of(client), label) for task, label in labels for client in people[:2]]
    content = exported(admin, project, "JSON")
    write_folder(ACCEPTED, {"export.json": content}, votes, {**about, "export": "JSON"})


def write_controls(admin: Client, people: list[Client], about: dict[str, Any]) -> None:
    """Projects with other controls, each in three formats."""
    users = [user_of(client) for client in people]
    single = choices("sentiment", SENTIMENTS)
    multiple = single.replace('choice="single"', 'choice="multiple"')
    same = {label: label for label in SENTIMENTS}
    for name, config, result, names in (
        ("rating", controls.RATING, controls.rating, controls.STARS),
        ("comment", single + controls.COMMENT, controls.with_comment, same),
        ("multiple", multiple, controls.several, None),
        ("spans", controls.SPANS, controls.span, None),
        ("spans-and-choice", controls.SPANS + single, controls.spans_and_choice, same),
    ):
        project, tasks = new_project(admin, name, config, controls.data())
        controls.submit(people, tasks, result)
        votes = controls.votes_of(tasks, users, names) if names else []
        for kind in ("JSON", "JSON_MIN", "CSV"):
            content = exported(admin, project, kind)
            controls.write_kind(
                name, content, votes, {**about, "export": kind, **EXPECTED.get((name, kind), {})}
            )


def exported(admin: Client, project: int, kind: str) -> bytes:
    """The file that a user would download."""
    return admin.send("GET", f"/api/projects/{project}/export?exportType={kind}&download_all_tasks=true")


def _votes(tasks: list[Any], people: list[Client], last: dict[tuple[int, int], str]) -> list[Vote]:
    users = [user_of(client) for client in people]
    return [(tasks[n], users[m], label) for (n, m), label in sorted(last.items())]
