"""Names of files that every system takes, each of which occurs once."""

from __future__ import annotations

import time

from crowdpilot.service.exports.file_names import Names


def test_many_items_called_alike_get_their_names_in_linear_time() -> None:
    names, begun = Names(), time.perf_counter()
    taken = [names.take("a/", "x", ".png") for _ in range(20_000)]
    assert time.perf_counter() - begun < 5
    assert taken[:2] + taken[-1:] == ["a/x.png", "a/x (2).png", "a/x (20000).png"]


def test_a_number_that_an_item_has_in_its_own_name_is_skipped() -> None:
    names = Names()
    taken = [names.take("", name, ".png") for name in ("x (2)", "x", "X (3)", "x", "x", "x (2)")]
    assert taken == ["x (2).png", "x.png", "X (3).png", "x (4).png", "x (5).png", "x (2) (2).png"]


def test_numbers_begin_anew_in_each_folder_and_for_each_suffix() -> None:
    names = Names()
    taken = [names.take(folder, "x", suffix) for folder in ("a/", "b/") for suffix in (".png", ".gif") * 2]
    assert taken == [
        "a/x.png", "a/x.gif", "a/x (2).png", "a/x (2).gif", "b/x.png", "b/x.gif", "b/x (2).png",
        "b/x (2).gif",
    ]  # fmt: skip
