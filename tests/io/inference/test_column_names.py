"""Column aliases: columns are found by their names, unless the user or the format says otherwise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.io.inference.column_names import ALIASES, ENDS, candidates, find_columns, is_known, listed

ROLES_AND_ALIASES = [(role, alias) for role, aliases in ALIASES.items() for alias in aliases]
SPELLINGS = [str.upper, str.title, " {}".format]


def test_no_alias_has_two_roles():
    aliases = [alias for _, alias in ROLES_AND_ALIASES]
    assert len(set(aliases)) == len(aliases)


@pytest.mark.parametrize(("role", "alias"), ROLES_AND_ALIASES)
def test_an_alias_is_found_however_it_is_spelled(role, alias):
    ends = [f"{alias} {end.upper()}" for end in ENDS.get(role, ())]
    for name in (alias, *ends, *(spell(alias) for spell in SPELLINGS)):
        assert find_columns(["text", name]) == {role: name}


@pytest.mark.parametrize("alias", ALIASES["label"])
def test_the_id_of_an_answer_is_no_answer(alias):
    assert find_columns([f"{alias}_id", f"{alias}-ids"]) == {}


def test_all_columns_that_are_called_like_a_role_are_found_the_best_first():
    assert candidates(["category", "text", "rating", "Label"], "label") == ["Label", "rating", "category"]


@given(names=st.permutations(["example", "item", "rater", "answer", "notes"]))
def test_the_order_of_the_columns_does_not_matter(names):
    assert find_columns(names) == {"task": "item", "worker": "rater", "label": "answer"}


def test_of_two_columns_with_one_key_the_first_is_taken():
    assert find_columns(["Task", "task"]) == {"task": "Task"}


def test_other_names_have_no_role():
    assert is_known("Worker ID")
    assert not is_known("text")
    assert find_columns(["tasks per hour", ""]) == {}


def test_a_sentence_lists_few_names():
    assert listed([]) == "nothing"
    assert listed(list("abcdefgh")).endswith("'g', 'h'")
    assert listed(list("abcdefghij")).endswith("'h', and 2 more")
