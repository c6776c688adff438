"""Tables in memory: codes and values say the same as the list of values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdpilot.io import plain
from crowdpilot.io.columns import (
    Column,
    EncodedColumn,
    NumberError,
    TableError,
    column_of_names,
    encode_column,
    objects,
    stack,
    table_of,
)
from crowdpilot.names import Encoded

TEXTS = st.sampled_from(["a", "b", "c", "", "1", None])
NUMBERS = st.one_of(st.none(), st.integers(-5, 5))
COLUMNS = st.one_of(st.lists(TEXTS), st.lists(NUMBERS), st.lists(st.one_of(st.none(), st.booleans())))


def column(*values: Any) -> Column:
    return plain.column(list(values))


@given(values=COLUMNS)
def test_a_column_holds_its_values(values):
    assert column(*values).values() == values
    assert column(*values).values(2) == values[:2]
    assert len(column(*values)) == len(values)


@given(values=COLUMNS)
def test_distinct_values_stand_in_the_order_of_their_first_appearance(values):
    codes, names = column(*values).distinct
    assert names.tolist() == list(dict.fromkeys(value for value in values if value is not None))
    assert [None if code < 0 else names[code] for code in codes] == values


@given(data=st.data(), values=COLUMNS)
def test_a_filter_keeps_the_rows_of_its_mask(data, values):
    mask = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    kept = table_of({"x": column(*values)}).filter(np.array(mask, bool))
    assert kept["x"].values() == [value for value, is_kept in zip(values, mask, strict=True) if is_kept]


@given(first=st.lists(TEXTS), second=st.lists(TEXTS))
def test_stacked_columns_stand_one_below_the_other(first, second):
    assert stack([column(*first), column(*second)]).values() == first + second


def test_stacked_columns_of_different_types_become_numbers_or_texts():
    assert stack([column(1, None), column(0.5)]).values() == [1.0, None, 0.5]
    assert stack([column(2.0), column(False), column("x")]).values() == ["2", "false", "x"]


def test_numbers_are_parsed_and_nothing_is_nan():
    np.testing.assert_array_equal(column(" 1 ", "", None, "2.5").floats(), [1, np.nan, np.nan, 2.5])
    np.testing.assert_array_equal(column(1, None).floats(), [1, np.nan])
    np.testing.assert_array_equal(column("1970-01-01 00:01", None).times(), [60, np.nan])


def test_what_is_no_number_is_named_with_its_row():
    with pytest.raises(NumberError, match="found 'much'") as error:
        column("1", "1", "much", "more").floats()
    assert error.value.row == 2


@given(values=st.lists(NUMBERS))
def test_whole_numbers_are_names_whatever_their_type(values):
    whole = encode_column(column(*values))
    for other in (
        [None if n is None else float(n) for n in values],
        [n if n is None else str(n) for n in values],
    ):
        same = encode_column(column(*other), numbers_as_text=True)
        assert same.codes.tolist() == whole.codes.tolist()
        assert same.names.tolist() == whole.names.tolist()


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["1", "2", "NA"], [1, 2]),
        (["1.0", "2.0"], [1, 2]),
        (["1.0", "2"], ["1.0", "2"]),
        (["01", "2"], ["01", "2"]),
        (["1" * 19], ["1" * 19]),
        (["NA", "x"], ["NA", "x"]),
        (["NA"], ["NA"]),
    ],
)
def test_texts_become_whole_numbers_only_if_they_all_are(texts, names):
    assert encode_column(column(*texts), numbers_as_text=True).names.tolist() == names
    assert encode_column(column(*texts)).names.tolist() == texts


def test_listed_values_come_first_whether_they_occur_or_not():
    codes, names = encode_column(column("b", "", "c"), first=objects(["a", "b"]))
    assert (codes.tolist(), names.tolist()) == ([1, -1, 2], ["a", "b", "c"])


def test_names_of_several_types_become_text():
    assert column_of_names(np.array([0, -1, 1]), objects([1, "x"])).values() == ["1", None, "x"]


def test_lists_are_no_names():
    with pytest.raises(TableError, match="found values of type list"):
        _ = EncodedColumn(Encoded(np.array([0], np.int32), objects([[1]]))).distinct


def test_columns_of_a_table_have_one_length():
    with pytest.raises(ValueError, match="column 'b' has 2 rows, but 'a' has 1"):
        table_of({"a": column(1), "b": column(1, 2)})


def test_a_table_gives_columns_by_name():
    table = table_of({"a": column(1), "b": column("x")}).append_column("c", column(True))
    assert table.select(["c", "a"]).column_names == ["c", "a"]
    assert [table[name].values() for name in table.column_names] == [[1], ["x"], [True]]
    assert [len(table), len(table_of({}))] == [1, 0]
