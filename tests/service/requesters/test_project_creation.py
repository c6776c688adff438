"""Creation of projects: what the budget has to pay, copies of items, pictures that are not there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from crowdpilot.service import access, capacity
from crowdpilot.service.errors import ConflictError
from crowdpilot.service.requesters.project_creation import (
    MissingPictureError,
    NewContents,
    NewProject,
    create_project,
    drop_missing_pictures,
)
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.store import items, projects
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import members
from crowdpilot.service.uploads.files import File
from tests.service.harness.service import GIF, PNG, migrated_store

PAPERS = {"classes": ["no", "yes"], "criteria": [{"name": "human", "question": "People?"}]}
TABLE = b"name,text,p_no,p_yes,gold\na,A text.,0.25,0.75,yes\nb,Another.,0.5,0.5,\n"
GIVEN = {"machine": "given"}


@pytest.fixture
def store(database_url: str) -> Iterator[Store]:
    made = migrated_store(database_url)
    yield made
    made.close()


def described(**more: Any) -> dict[str, Any]:
    return ProjectIn.model_validate({"name": "x", "classes": ["no", "yes"], **more}).model_dump()


def create(store: Store, data: bytes = b"", copied: str = "", **more: Any) -> NewProject:
    """Create a project with a table of items, or with the items of another project."""
    files = [File("items.csv", data)] if data else []
    contents = NewContents(files, copied_project=copied)
    return create_project(store, somebody(store), described(**more), contents)


def somebody(store: Store) -> access.Requester:
    """A requester who may create projects."""
    with store.writing() as c:
        ann = members.find_or_create(c, "ann").id
    return access.Requester(ann, "ann", False, access.ADMIN, None, ann)


def rows_of(store: Store, project: NewProject) -> dict[str, Row]:
    with store.reading() as c:
        return {row.name: row for row in items.list_all(c, project.id)}


def count_projects(store: Store) -> int:
    with store.reading() as c:
        return len(projects.list_all(c))


def test_the_budget_has_to_pay_for_the_classifier(store: Store) -> None:
    costs = {"classifier": 1.0, "budget": 1.5}
    with pytest.raises(ConflictError, match="budget does not pay"):
        create(store, b"text\nOne.\nTwo.\n", machine="tfidf", costs=costs)
    create(store, b"text\nOne.\n", machine="tfidf", costs=costs)
    first = create(store, b"text\nOne.\nTwo.\n", costs=costs)
    with pytest.raises(ConflictError, match="budget does not pay"):
        create(store, copied=first.id, machine="tfidf", costs=costs)
    with pytest.raises(ConflictError, match="to look at 3 items"):
        create(store, b"text\nThree.\n", first.id, machine="tfidf", costs={"classifier": 1.0, "budget": 2})
    assert count_projects(store) == 2


def test_a_project_takes_no_more_items_than_it_can_hold_copies_included(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = create(store, b"text\nOne.\nTwo.\n")
    monkeypatch.setattr(capacity, "MAX_PROJECT_BYTES", capacity.items_bytes(described(), 2))
    create(store, copied=first.id)
    with pytest.raises(ConflictError, match="3 items of 2 classes"):
        create(store, b"text\nThree.\n", first.id)


@pytest.mark.parametrize("more", [
    {"classes": ["no", "maybe"]}, {"classes": ["no", "yes", "maybe"]}, {"criteria": [{"name": "human"}]},
], ids=str)  # fmt: skip
def test_items_without_guesses_for_the_new_answers_are_not_copied_where_these_decide(
    store: Store, more: dict[str, Any]
) -> None:
    first = create(store, TABLE, **GIVEN)
    with pytest.raises(ConflictError, match="bring no guesses"):
        create(store, copied=first.id, **GIVEN, **more)
    assert count_projects(store) == 1
    copy = create(store, copied=first.id, **more)
    assert [(row.gold, row.classifier_probs) for row in rows_of(store, copy).values()] == [(None, None)] * 2


def test_items_that_never_had_guesses_are_not_copied_where_these_decide(store: Store) -> None:
    first = create(store, b"text\nOne.\n")
    with pytest.raises(ConflictError, match="bring no guesses"):
        create(store, copied=first.id, **GIVEN)


def test_known_answers_and_guesses_are_copied_by_the_names_of_answers(store: Store) -> None:
    first = create(store, TABLE, **GIVEN)
    copy = rows_of(store, create(store, copied=first.id, **GIVEN, classes=["yes", "no"]))
    assert [copy[name].gold for name in "ab"] == ["yes", None]
    assert [copy[name].classifier_probs for name in "ab"] == [[0.75, 0.25], [0.5, 0.5]]
    without = rows_of(store, create(store, copied=first.id))
    assert [without[name].classifier_probs for name in "ab"] == [None, None]


def test_known_answers_are_copied_though_the_question_of_a_criterion_changes(store: Store) -> None:
    first = create(store, b"name,text,gold_human\na,A text.,yes\n", **PAPERS)
    asked = {**PAPERS, "criteria": [{"name": "human", "question": "Is it about people?"}]}
    assert rows_of(store, create(store, copied=first.id, **asked))["a"].gold == {"human": "yes"}


def test_items_that_are_withdrawn_are_not_copied_nor_their_files(store: Store) -> None:
    files = [File("one.png", PNG), File("two.gif", GIF)]
    first = create_project(store, somebody(store), described(), NewContents(files))
    with store.writing() as c:
        items.change(c, first.id, ["two.gif"], state=items.WITHDRAWN)
    copy = create(store, copied=first.id)
    (row,) = rows_of(store, copy).values()
    with store.reading() as c:
        digests = [one.content["image"].rpartition("/")[2] for one in items.list_all(c, first.id)]
        assert [items.file_data(c, copy.id, digest) for digest in digests] == [PNG, None]
    assert (row.name, row.state) == ("one.png", items.OPEN)


def test_a_picture_that_is_on_no_project_here_is_named(store: Store) -> None:
    address = f"/files/{'a' * 12}/{'0' * 64}"
    quiz = [{"text": "A", "label": "no"}, {"image": address, "label": "yes"}]
    with pytest.raises(MissingPictureError, match="quiz, row 2: this picture is not on this server"):
        create(store, b"text\nOne.\n", quiz=quiz)
    assert count_projects(store) == 0


def test_pictures_that_are_on_no_project_here_are_dropped_and_told(store: Store) -> None:
    address = f"/files/{'a' * 12}/{'0' * 64}"
    pictures = [{"image": address, "caption": "A"}, {"image": "https://example.org/b.png", "caption": "B"}]
    quiz = [{"image": address, "label": "yes", "text": "Good."}]
    with store.reading() as c:
        spec, missing = drop_missing_pictures(c, described(pictures=pictures, quiz=quiz))
    assert missing == [("pictures", 0), ("quiz", 0)]
    assert spec["pictures"] == pictures[1:]
    assert [(one["image"], one["text"]) for one in spec["quiz"]] == [("", "Good.")]
