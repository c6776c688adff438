"""Sheets of Excel workbooks as CSV, so that all formats of text are found in them."""

from __future__ import annotations

import csv
import datetime
import io
import re
from typing import Any
from zipfile import ZipFile

from crowdpilot.io.numbers_and_times import number_text
from crowdpilot.option_strings import did_you_mean
from crowdpilot.optional_packages import load

PADDED_NUMBER = re.compile(r"0+")  # the format of numbers such as 007
CLOCK = re.compile(r"[hs]", re.IGNORECASE)  # in the format of dates with a time
FORMULA_CELL = re.compile(rb"<c\b([^>]*)>\s*<f\b[^>]*?(?:/>|>[^<]*</f>)\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>")
MIN_ROUNDED = 1e15  # from which on a number of a workbook has lost digits
Rows = list[list[str]]
Cells = list[tuple[Any, ...]]  # of openpyxl, by row


def sheet_as_csv(stream: Any, sheet: str | None) -> tuple[bytes, list[str]]:
    """The table in a sheet of a workbook, and what may be wrong; None is the only sheet with a table."""
    workbook = _open(stream)
    try:
        name = _choose(workbook, sheet)
        _check_formulas(stream, workbook[name])
        cells = _cells(workbook[name])
    finally:
        workbook.close()
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(_table(cells))
    return text.getvalue().encode(), _notes(cells)


def _notes(cells: Cells) -> list[str]:
    numbers = (cell.value for row in cells for cell in row if isinstance(cell.value, (int, float)))
    long = next((number for number in numbers if abs(number) >= MIN_ROUNDED), None)
    if long is None:
        return []
    return [
        f"Excel keeps 15 digits of a number, so ids such as {long:.0f} may have lost some, and different "
        "ones may be one; export them as CSV, or keep them as text"
    ]


def _open(stream: Any) -> Any:
    openpyxl = load("openpyxl", "an Excel workbook")
    try:
        return openpyxl.load_workbook(stream, read_only=True, data_only=True)
    except Exception as error:  # whatever a broken workbook makes of the library
        raise ValueError("found a broken Excel workbook, expected a whole one") from error


def _choose(workbook: Any, sheet: str | None) -> str:
    names = [each.title for each in workbook.worksheets]
    if sheet is not None:
        if sheet not in names:
            raise ValueError(f"there is no sheet {sheet!r}{did_you_mean(sheet, names)}")
        return sheet
    shown = [each for each in workbook.worksheets if each.sheet_state == "visible"]
    tables = [each.title for each in shown if _is_table(each)]
    if len(tables) > 1:
        raise ValueError(
            f"there are tables in {len(tables)} sheets, name one with sheet= (--sheet): {', '.join(tables)}"
        )
    if not tables:
        raise ValueError(
            "there is no sheet with a table, expected votes below a row such as task, worker, label"
        )
    return str(tables[0])


def _is_table(sheet: Any) -> bool:
    """Whether two rows have at least two values each."""
    sheet.reset_dimensions()  # what the file says of its size may be wrong
    wide = (row for row in sheet.iter_rows(values_only=True) if sum(value is not None for value in row) > 1)
    return next(wide, None) is not None and next(wide, None) is not None


def _check_formulas(stream: Any, sheet: Any) -> None:
    """Raise if a formula has no value, as programs write it that do not compute."""
    stream.seek(0)
    with ZipFile(stream) as archive:
        content = archive.read(sheet._worksheet_path)
    for cell in FORMULA_CELL.finditer(content):
        if b't="str"' not in cell[1]:  # else its value is an empty text
            where = re.search(rb'\br="(\w+)"', cell[1])
            at = where[1].decode() if where else "?"
            raise ValueError(
                f"the formula in cell {at} of sheet {sheet.title!r} has no value; "
                "open the workbook in a spreadsheet program and save it, or save it as CSV"
            )


def _cells(sheet: Any) -> Cells:
    sheet.reset_dimensions()
    return list(sheet.iter_rows())


def _table(cells: Cells) -> Rows:
    """All rows as text, without columns in which nothing stands; empty rows below a title stay empty."""
    rows = [[_text(cell) for cell in row] for row in cells]
    rows = _without_title(rows)
    width = max(map(len, rows), default=0)
    rows = [[*row, *[""] * (width - len(row))] for row in rows]
    used = [n for n in range(width) if any(row[n] for row in rows)]
    return [[row[n] for n in used] if any(row) else [] for row in rows]


def _without_title(rows: Rows) -> Rows:
    """Rows above the table, of at most one value each, are empty, so that rows keep their number."""
    first = next((n for n, row in enumerate(rows) if sum(map(bool, row)) > 1), 0)
    return [[] if n < first else row for n, row in enumerate(rows)]


def _text(cell: Any) -> str:
    """A value as Excel shows it; errors such as #N/A are no values."""
    value = cell.value
    if value is None or cell.data_type == "e":
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, (int, float)):
        return _number(value, str(cell.number_format))
    if isinstance(value, datetime.datetime):
        has_clock = CLOCK.search(str(cell.number_format)) or value.time() != datetime.time()
        return value.isoformat(" ") if has_clock else value.date().isoformat()
    if isinstance(value, datetime.timedelta):
        return number_text(value.total_seconds())
    return str(value)


def _number(value: float, format: str) -> str:
    text = str(int(value)) if value == int(value) else number_text(value)
    return text.zfill(len(format)) if PADDED_NUMBER.fullmatch(format) and text.isdigit() else text
