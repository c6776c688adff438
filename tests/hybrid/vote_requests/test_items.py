"""Items from lists, files and frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from crowdpilot.hybrid.vote_requests.items import find_items


@pytest.mark.parametrize("items", [["a", "b"], ("a", "b"), pd.Series(["a", "b"]), pd.Index(["a", "b"])])
def test_names_are_taken_as_they_are(items: Any) -> None:
    assert find_items(items).names.tolist() == ["a", "b"]


@pytest.mark.parametrize("name", ["items.csv", "items.parquet", "items.jsonl", "items.xlsx"])
def test_a_file_has_names_and_content(tmp_path: Path, name: str) -> None:
    frame = pd.DataFrame({"text": ["an owl", "an eel"], "id": ["a", "b"]})
    write = {".csv": frame.to_csv, ".parquet": frame.to_parquet, ".xlsx": frame.to_excel}
    file = tmp_path / name
    if file.suffix == ".jsonl":
        frame.to_json(file, orient="records", lines=True)
    else:
        write[file.suffix](file, index=False)
    found = find_items(file)
    assert found.names.tolist() == ["a", "b"]
    assert found.content == {"text": ["an owl", "an eel"]}


def test_the_column_with_the_names_of_the_votes_wins() -> None:
    table = {"id": ["1", "2"], "file": ["owl.jpg", "eel.jpg"]}
    assert find_items(table).names.tolist() == ["1", "2"]
    assert find_items(table, {"owl.jpg"}).names.tolist() == ["owl.jpg", "eel.jpg"]


def test_the_first_of_one_name_per_line_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("owl\neel\nemu\n")
    (tmp_path / "items.txt").write_text("owl\neel\nemu\n")
    assert find_items(tmp_path / "items.txt").names.tolist() == ["owl", "eel", "emu"]
    assert find_items(tmp_path / "items.csv", {"owl"}).names.tolist() == ["owl", "eel", "emu"]
    assert find_items(tmp_path / "items.csv", {"eel"}).names.tolist() == ["eel", "emu"]
    (tmp_path / "names.txt").write_text("img_1.jpg\nimg_2.jpg\n\nimg_3.jpg")
    assert find_items(tmp_path / "names.txt").names.tolist() == [f"img_{n}.jpg" for n in (1, 2, 3)]
    (tmp_path / "names.txt").write_text("Item ID\n1\n2\n")
    assert find_items(tmp_path / "names.txt").names.tolist() == ["1", "2"]
    with pytest.raises(ValueError, match="the first line is 'owl', which may be an item; write 'task' above"):
        find_items(tmp_path / "items.csv")


def test_answers_are_no_content() -> None:
    table = {"id": ["a"], "text": ["an owl"], "label": ["bird"], "truth": ["bird"]}
    assert list(find_items(table).content) == ["text"]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        (["a", "b", "a"], "item 'a' twice"),
        ([], "no item"),
        (["a", ""], "item 2 has no name"),
        ({"x": [1, 2], "y": [3, 4]}, "call that of the names 'task'"),
    ],
)
def test_anything_else_is_one_clear_sentence(items: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find_items(items)
