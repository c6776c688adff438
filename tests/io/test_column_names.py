"""Column aliases: columns are found by their names, unless the user or the format says otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.io.column_names import ALIASES, find_columns, is_known, listed, resolve

ROLES_AND_ALIASES = [(role, alias) for role, aliases in ALIASES.items() for alias in aliases]
SPELLINGS = [str.upper, str.title, "{} ID".format, "{}_name".format, " {}".format, "{}-id".format]


def test_no_alias_has_two_roles():
    aliases = [alias for _, alias in ROLES_AND_ALIASES]
    assert len(set(aliases)) == len(aliases)


@pytest.mark.parametrize(("role", "alias"), ROLES_AND_ALIASES)
def test_an_alias_is_found_however_it_is_spelled(role, alias):
    for name in (alias, *(spell(alias) for spell in SPELLINGS)):
        assert find_columns(["text", name]) == {role: name}


@given(names=st.permutations(["example", "item", "rater", "answer", "notes"]))
def test_the_order_of_the_columns_does_not_matter(names):
    assert find_columns(names) == {"task": "item", "worker": "rater", "label": "answer"}


def test_of_two_columns_with_one_key_the_first_is_taken():
    assert find_columns(["Task", "task"]) == {"task": "Task"}


def test_other_names_have_no_role():
    assert is_known("Worker ID")
    assert not is_known("text")
    assert find_columns(["tasks per hour", ""]) == {}


def test_the_user_comes_before_the_format_and_the_format_before_the_names():
    names = ["task", "worker", "label", "x"]
    assert resolve(names, {"task": "x"}, {"task": "worker", "label": "label"}) == {
        "task": "x",
        "label": "label",
    }
    assert resolve(names, {}) == {role: role for role in names[:3]}


def test_a_role_is_given_up_with_none():
    assert resolve(["task", "gold"], {"gold": None}) == {"task": "task"}


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"tasks": "a"}, "columns names 'tasks', expected one of task, worker, label"),
        ({"task": "z"}, "there is no column 'z', only 'a', 'b'$"),
    ],
)
def test_a_wrong_choice_is_an_error(chosen, message):
    with pytest.raises(ValueError, match=message):
        resolve(["a", "b"], chosen)


def test_a_sentence_lists_few_names():
    assert listed([]) == "nothing"
    assert listed(list("abcdefgh")).endswith("'g', 'h'")
    assert listed(list("abcdefghij")).endswith("'h', and 2 more")
