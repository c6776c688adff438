"""The form of a project: a round trip of descriptions, and errors beside their fields."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdpilot.service.pages.dashboard.setup.fields import (
    GROUPS,
    MAX_ROWS,
    group_of,
    read_typed,
    shown_rows,
)
from crowdpilot.service.pages.dashboard.setup.form import (
    form_data,
    new_typed,
    parse_changes,
    parse_form,
    to_typed,
)
from crowdpilot.service.pages.rendering import render
from crowdpilot.service.schemas import ProjectIn

BIRDS = {**new_typed(), "name": "Birds", "classes-0-name": "Robin", "classes-1-name": "Wren"}

words = st.text("aeiou ünß<'\"&", min_size=1, max_size=12).map(str.strip).filter(bool)
prose = st.text("abc ,.\n", max_size=40).map(str.strip)
cents = st.integers(0, 100_000).map(lambda n: n / 100)
amounts = cents | st.floats(1e-6, 1e6)
picture = st.sampled_from(["", "https://example.org/a.png", "/files/0123456789ab/" + "0" * 64])


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


@st.composite
def labelled(draw: st.DrawFn, classes: list[str]) -> dict[str, Any]:
    return {
        "text": draw(prose),
        "image": draw(picture),
        "label": draw(st.sampled_from(classes)),
        "why": draw(prose),
    }


@st.composite
def errors(draw: st.DrawFn, classes: int) -> list[list[float]] | None:
    """Costs that make sense to a campaign: none for what is right, some for each mistake."""
    if draw(st.booleans()):
        return None
    same = draw(maybe(amounts.filter(bool)))
    cost = amounts.filter(bool) if same is None else st.just(same)
    return [[0.0 if d == k else draw(cost) for d in range(classes)] for k in range(classes)]


@st.composite
def prices(draw: st.DrawFn) -> dict[str, float]:
    """Prices of kinds in any order, perhaps without the crowd, perhaps of 0."""
    kinds = st.sampled_from(["crowd", "expert", "volunteer", "robot"])
    return {kind: draw(amounts) for kind in draw(st.lists(kinds, min_size=1, unique=True))}


@st.composite
def projects(draw: st.DrawFn) -> ProjectIn:
    classes = draw(st.lists(words, min_size=2, max_size=5, unique_by=str.casefold))
    keys = draw(st.permutations("abdegijklmnoqr"))
    details = {
        name: {
            "description": draw(words),
            "key": draw(st.sampled_from(["", key])),
            "color": draw(st.sampled_from(["", "#00ff00"])),
        }
        for name, key in zip(classes, keys, strict=False)
        if draw(st.booleans())
    }
    quiz = draw(st.lists(labelled(classes), max_size=3))
    spec = {
        "name": draw(words),
        "classes": classes,
        "class_details": details,
        "question": draw(prose),
        "criteria": [
            {"name": name} for name in draw(st.lists(words, max_size=3 * (len(classes) == 2), unique=True))
        ],
        "instructions": draw(prose),
        "consent": draw(prose),
        "examples": draw(st.lists(labelled(classes), max_size=2)),
        "quiz": quiz,
        "quiz_pass": draw(maybe(st.integers(0, len(quiz)))),
        "quiz_tries": draw(st.integers(1, 20)),
        "pictures": [{"image": "https://example.org/a.png", "caption": draw(prose)}]
        * draw(st.integers(0, 2)),
        "costs": {
            "errors": draw(errors(len(classes))),
            "budget": draw(maybe(cents)),
            "classifier": draw(cents),
            "prices": draw(maybe(prices())),
        },
        "policy": draw(st.sampled_from(["value", "fixed[votes=7]", "value[ahead=2]"])),
        "plan": {
            "gold": draw(st.integers(0, 1000).map(lambda n: n / 1000) | st.floats(1e-6, 1)),
            "per_item": draw(maybe(st.integers(1, 99))),
            "per_worker": draw(maybe(st.integers(1, 99))),
            "seed": draw(st.integers(0, 9)),
            "pilot": draw(maybe(st.integers(0, 9))),
            "online": draw(st.booleans()),
        },
        "machine": draw(st.sampled_from(["none", "given", "tfidf", "embeddings"])),
        "batch": draw(st.integers(1, 100)),
        "lease": draw(st.integers(1, 7 * 86400) | st.floats(1, 7 * 86400)),
        "min_answers": draw(maybe(st.integers(1, 99))),
        "seconds_per_answer": draw(maybe(cents.filter(bool))),
        "currency": draw(st.sampled_from(["", "EUR", "XTS"])),
        "language": draw(st.sampled_from(["", "de", "ar"])),
        "markdown": draw(st.booleans()),
        "comments": draw(st.booleans()),
        "flags": draw(st.booleans()),
        "guests": {"per_hour": draw(st.integers(1, 99)), "checks": draw(st.integers(0, 9))},
        "retention": {"days": draw(maybe(st.integers(0, 999))), "delete_project": draw(st.booleans())},
        "webhook": draw(st.sampled_from(["", "https://example.org/hook"])),
        "notify": {
            "emails": draw(st.sampled_from([[], ["a@b.org", "c@d.org"]])),
            "events": draw(st.sampled_from([[], ["done", "budget"], ["worker"]])),
        },
        "prolific": draw(
            maybe(
                st.just({"study": "a" * 24, "code": "C-1", "reward": 1.25, "places": 7, "keys": {"keys": []}})
            )
        ),
        "mturk": draw(maybe(st.just({"sandbox": False, "hits": ["HIT"]}))),
    }
    return ProjectIn.model_validate(spec)


@settings(max_examples=40, deadline=None)
@given(project=projects())
def test_the_form_holds_every_setting_of_a_project(project: ProjectIn) -> None:
    typed = to_typed(project.model_dump())
    parsed, wrong = parse_form(read_typed(typed))
    assert wrong == {}
    assert parsed == project
    assert list(parsed.costs.prices or {}) == list(project.costs.prices or {})
    assert parse_changes(read_typed(typed), project.model_dump()) == ({}, {})


ODD: list[dict[str, Any]] = [  # settings that the form shows in other words
    {"costs": {"prices": {"volunteer": 0}, "errors": [[0, 2], [7, 0]]}},
    {"costs": {"prices": {"volunteer": 0.02, "expert": 0.5}, "errors": [[0, 2], [7, 0]]}},
    {"costs": {"prices": {"expert": 0.5, "crowd": 0.02}, "errors": [[0, 1 / 3], [7, 0]]}},
    {"costs": {"prices": {"expert": 0.5, "volunteer": 0, "crowd": 0}, "errors": [[0.5, 2], [7, 0]]}},
    {"costs": {"prices": {"crowd": 0.03, "expert": 0}, "errors": [[0, 1, 0.2], [7, 0, 0.2]]}},
    {"classes": [" no", "yes "], "class_details": {"yes ": {}}, "question": "Really?\r\nYes. "},
    {"notify": {"events": ["worker", "done"]}, "plan": {"gold": 1 / 3}, "lease": 100 / 3},
    {"pictures": [{"image": ""}], "prolific": {}, "mturk": {}, "policy": " value"},
]


@pytest.mark.parametrize("more", ODD, ids=lambda more: str(more.get("costs", {}).get("prices", list(more))))
def test_a_form_that_nobody_has_changed_changes_nothing(more: dict[str, Any]) -> None:
    before = ProjectIn.model_validate({"name": "Birds ", "classes": ["no", "yes"], **more}).model_dump()
    typed = read_typed(to_typed(before))
    assert parse_changes(typed, before) == ({}, {})
    changed = {"question": "New?"}
    assert parse_changes({**typed, **changed}, before) == (changed, {})


def test_the_first_kind_of_worker_stays_the_first_when_a_price_changes() -> None:
    costs = {"prices": {"volunteer": 0, "expert": 0.5, "crowd": 0.02}, "errors": [[0, 2], [7, 0]]}
    before = ProjectIn.model_validate({"name": "x", "classes": ["a", "b"], "costs": costs}).model_dump()
    new, _ = parse_changes(read_typed({**to_typed(before), "expert": "0.6"}), before)
    assert new is not None
    assert list(new) == ["costs"]
    assert list(new["costs"]["prices"].items()) == [("volunteer", 0), ("expert", 0.6), ("crowd", 0.02)]


@pytest.mark.parametrize("number", [20, 50, 5000, 123_456_789])
@pytest.mark.parametrize("group", ["classes", "criteria", "quiz"])
def test_a_row_of_any_number_is_read_and_shown(group: str, number: int) -> None:
    field, value = ("label", "Wren") if group == "quiz" else ("name", "Owl")
    typed = read_typed({**BIRDS, f"{group}-{number}-{field}": value})
    project, wrong = parse_form(typed)
    assert wrong == {}
    assert project is not None
    assert value in str(getattr(project, group))
    assert number in shown_rows(typed)[group]
    assert len(shown_rows(typed)[group]) <= MAX_ROWS[group]


@pytest.mark.parametrize(("group", "most"), [("criteria", 20), ("quiz", 50), ("classes", 200)])
def test_too_many_rows_are_told_beside_them(group: str, most: int) -> None:
    field = "label" if group == "quiz" else "name"
    values = {f"{group}-{n}-{field}": "Wren" if group == "quiz" else f"Owl {n}" for n in range(most)}
    assert parse_form(read_typed({**BIRDS, **values}))[1] == {}
    more = {f"{group}-{most}-{field}": "Wren"}
    words = "up to 200" if group == "classes" else f"These are too many; {most} is the most."
    assert words in parse_form(read_typed({**BIRDS, **values, **more}))[1][group]


@pytest.mark.parametrize(("field", "typed", "words"), [
    ("name", "", "Fill this in."),
    ("price", "cheap", "Give a number."),
    ("missed", "much", "Give a number."),
    ("budget", "-1", "Give 0 or more."),
    ("gold", "200", "Give 100 or less."),
    ("lease", "0", "Give 0.0166667 or more."),
    ("batch", "0", "Give 1 or more."),
    ("batch", "2.5", "Give a whole number."),
    ("classes-1-key", "u", "already has a meaning"),
    ("classes-1-key", "!", "Give one letter"),
    ("classes-0-color", "red", "Give a colour"),
    ("examples-0-label", "Eagle", "not one of the classes"),
    ("quiz-3-image", "file.png", "an address that begins with https://"),
    ("quiz_pass", "3", "but the quiz has 0 questions"),
    ("emails", "nobody", "Give e-mail addresses"),
    ("prolific_study", "x", "24 characters"),
    ("more", "{", "This is no JSON object"),
    ("more", '{"name": {}}', "has its own field"),
    ("more", '{"plan": {"gold": 1}}', "has its own field"),
    ("more", '{"plan": {"seed": -1}}', "Give 0 or more."),
])  # fmt: skip
def test_an_error_belongs_to_its_field(field: str, typed: str, words: str) -> None:
    more = {"quiz-3-label": "Wren"} if field == "quiz-3-image" else {}
    more |= {"classes-1-description": "small", "prolific": "yes"}
    project, wrong = parse_form(read_typed({**BIRDS, **more, field: typed}))
    assert project is None
    shown = next(iter(wrong))
    assert shown == field or (field.startswith(f"{shown}-") and field.endswith("key"))
    assert words in wrong[shown]


def test_classes_that_are_missing_or_twice_are_told() -> None:
    assert parse_form(read_typed({**BIRDS, "classes-1-name": ""}))[1] == {
        "classes": "Give at least two answers, one in each row."
    }
    assert "twice" in parse_form(read_typed({**BIRDS, "classes-1-name": "Robin"}))[1]["classes"]


def test_errors_are_typed_in_answers_and_kept_in_money() -> None:
    typed = {**BIRDS, "price": "0.03", "missed": "20", "mistake": "10"}
    project, _ = parse_form(read_typed(typed))
    assert project is not None
    assert project.costs.errors == [[0, 0.3], [0.6, 0]]
    free, _ = parse_form(read_typed({**typed, "price": "0"}))
    assert free is not None
    assert free.costs.errors == [[0, 10], [20, 0]]


def test_with_more_classes_one_number_or_a_table_says_what_errors_cost() -> None:
    typed = {**BIRDS, "classes-2-name": "Owl", "price": "0.1", "wrong": "5"}
    project, _ = parse_form(read_typed(typed))
    assert project is not None
    assert project.costs.errors == [[0, 0.5, 0.5], [0.5, 0, 0.5], [0.5, 0.5, 0]]
    table = {"each": "yes", "table": "0 1 2\n3, 0, 4\n5;6;0"}
    project, _ = parse_form(read_typed({**typed, **table}))
    assert project is not None
    assert project.costs.errors == [[0, 0.1, 0.2], [0.3, 0, 0.4], [0.5, 0.6, 0]]


def test_a_comma_in_the_table_of_costs_is_a_decimal_mark_where_that_makes_a_number_for_each_answer() -> None:
    table = {"each": "yes", "price": "1", "table": "0 0,5\n2;0"}
    project, wrong = parse_form(read_typed({**BIRDS, **table}))
    assert wrong == {}
    assert project is not None
    assert project.costs.errors == [[0, 0.5], [2, 0]]


@pytest.mark.parametrize("group", GROUPS)
def test_each_group_of_fields_has_a_template_that_shows_all_of_them(group: str) -> None:
    typed = {**BIRDS, "policy": "other", "classes-1-description": "<b>", "quiz-1-label": "Wren"}
    page = render(f"dashboard/setup/{group}.html", **form_data(typed, dict.fromkeys(typed, "Mend this.")))
    shown = form_data(typed, {})["typed"]
    for name in shown:
        if group_of(name) == group:
            assert f'name="{name}"' in page, name
    assert "<b>" not in page
