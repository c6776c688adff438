"""Workbooks of Excel: one sheet, read like the same table as text."""

from __future__ import annotations

import datetime
import io
import re
import sys
import zipfile
from collections.abc import Sequence
from typing import Any

import openpyxl
import pytest

from crowdpilot.io import explain, read
from crowdpilot.io.sources.excel import sheet_as_csv

HEADER = ["task", "worker", "label"]
VOTES = [("a", "x", "cat"), ("b", "y", "dog")]
TABLE = [HEADER, *map(list, VOTES)]
OTHER = [HEADER, ["c", "z", "emu"]]


def workbook(**sheets: Sequence[Sequence[Any]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    return saved(book)


def saved(book: openpyxl.Workbook) -> bytes:
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("name", ["votes.xlsx", "votes.xlsm", "votes"])
def test_a_workbook_is_told_by_its_content(save, rows, name):
    assert rows(read(save(name, workbook(votes=TABLE)))) == VOTES


def test_other_layouts_are_found_in_a_sheet(rows):
    wide = workbook(votes=[["task", "anna", "ben"], ["a", "cat", None], ["b", "dog", "cat"]])
    assert explain(wide).format == "wide"
    assert rows(read(wide)) == [("a", "anna", "cat"), ("b", "anna", "dog"), ("b", "ben", "cat")]
    header = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Answer.animal"]
    assert explain(workbook(votes=[header, ["h", "a", "w", "Approved", "cat"]])).format == "mturk"


def test_values_are_written_as_excel_shows_them():
    book = openpyxl.Workbook()
    sheet = book.active
    day = datetime.datetime(2024, 5, 1)
    long = datetime.timedelta(minutes=1, seconds=30)
    sheet.append(list("abcdefghij"))
    sheet.append([1.0, 0.5, 12345678901.0, day, day.replace(hour=9), long, True, "007", 7, "#N/A"])
    sheet["D2"].number_format = "yyyy-mm-dd"
    sheet["I2"].number_format = "000"
    sheet["J2"].data_type = "e"
    content = sheet_as_csv(io.BytesIO(saved(book)), None)[0].decode()
    shown = "1,0.5,12345678901,2024-05-01,2024-05-01 09:00:00,90,TRUE,007,007,"
    assert content.splitlines()[1] == shown


def test_whole_numbers_are_numbers(rows):
    assert rows(read(workbook(votes=[HEADER, [1, 7.0, 0], [2, 7.0, 1]]))) == [(1, 7, 0), (2, 7, 1)]


def test_empty_rows_and_columns_and_a_title_do_not_matter(rows):
    table = [
        [],
        [None, "task", None, "worker", "label"],
        [],
        [None, "a", None, "x", "cat"],
        [None, "b", "", "y", "dog"],
    ]
    assert rows(read(workbook(votes=table))) == VOTES
    assert rows(read(workbook(votes=[["Results of May"], [], *TABLE, [], []]))) == VOTES


def test_errors_name_the_row_of_the_sheet(save):
    table = [["Title"], [], [*HEADER, "weight"], ["a", "x", "cat", 1], ["b", "x", "cat", "?"]]
    with pytest.raises(ValueError, match=r"votes.xlsx, line 5: found '\?' in column 'weight'"):
        read(save("votes.xlsx", workbook(votes=table)))


def test_one_of_several_sheets_is_chosen(rows):
    assert rows(read(workbook(notes=[["read me"]], votes=TABLE))) == VOTES
    book = workbook(may=TABLE, june=OTHER)
    with pytest.raises(ValueError, match=r"tables in 2 sheets, name one with sheet= \(--sheet\): may, june"):
        read(book)
    assert rows(read(book, sheet="june")) == [("c", "z", "emu")]
    with pytest.raises(ValueError, match=r"there is no sheet 'jun'; did you mean june\?"):
        read(book, sheet="jun")


def test_hidden_sheets_are_not_meant_unless_they_are_named(rows):
    book = openpyxl.load_workbook(io.BytesIO(workbook(votes=TABLE, old=OTHER)))
    book["old"].sheet_state = "hidden"
    content = saved(book)
    assert rows(read(content)) == VOTES
    assert rows(read(content, sheet="old")) == [("c", "z", "emu")]


def test_a_workbook_without_a_table_is_an_error():
    with pytest.raises(ValueError, match="there is no sheet with a table"):
        read(workbook(votes=[["a"], ["b"]]))


def test_a_formula_has_the_value_that_was_saved_with_it(rows):
    content = workbook(votes=[*TABLE, ["c", "z", '=IF(1,"emu","")']])
    with pytest.raises(ValueError, match="the formula in cell C4 of sheet 'votes' has no value; open"):
        read(content)
    assert rows(read(with_value(content, "emu")))[-1] == ("c", "z", "emu")
    assert read(with_value(content, "")).dropped == 1  # the formula gives an empty text


def with_value(content: bytes, value: str) -> bytes:
    """The same workbook as Excel saves it, with the text that its only formula gives."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            part = old.read(name).decode()
            if name.endswith("worksheets/sheet1.xml"):
                formula = re.compile(r"<c ([^>]*)>(<f>[^<]*</f>)<v ?/>|<c ([^>]*)>(<f>[^<]*</f>)<v></v>")
                found = formula.search(part)
                assert found is not None
                where, text = (found[1] or found[3]), (found[2] or found[4])
                part = part.replace(found[0], f'<c {where} t="str">{text}<v>{value}</v>')
            new.writestr(name, part)
    return stream.getvalue()


def test_digits_that_excel_has_lost_are_noted():
    table = [["tweet_id", "worker", "label"], [1234567890123456000, "x", "cat"]]
    notes = explain(workbook(votes=table)).notes
    assert any("ids such as 1234567890123456000 may have lost some" in note for note in notes)


def test_a_broken_workbook_is_one_sentence():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/workbook.xml", "<nothing")
    with pytest.raises(ValueError, match="found a broken Excel workbook"):
        read(stream.getvalue())


def test_without_the_library_the_extra_is_named(monkeypatch):
    content = workbook(votes=TABLE)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ValueError, match=r'needs openpyxl: pip install "crowdpilot\[excel\]"'):
        read(content)
