"""Keys of classes: nobody presses a key that means something else than it shows."""

from __future__ import annotations

import pytest

from crowdpilot.cli.shared.labelling.class_keys import class_keys


@pytest.mark.parametrize(
    ("classes", "keys"),
    [
        (["no", "yes"], ["1", "2"]),
        (["0", "1"], ["0", "1"]),
        (["A", "B", "C"], ["a", "b", "c"]),
        (["S", "M", "L"], ["1", "2", "3"]),  # s is skip
        ([f"class {n}x" for n in range(11)], [*"123456789ab"]),
        (["10", "20"], ["10", "20"]),  # to be typed, with Enter
    ],
)
def test_every_class_has_a_key_of_its_own(classes: list[str], keys: list[str]) -> None:
    chosen = class_keys(classes)
    assert list(chosen.keys) == keys
    assert [chosen.find(key) for key in keys] == list(range(len(classes)))
    assert [chosen.find(name) for name in classes if len(name) > 1] == list(
        range(len([name for name in classes if len(name) > 1]))
    )
    assert chosen.single == all(len(key) == 1 for key in keys)


def test_first_letters_are_keys_too_where_they_differ() -> None:
    assert [class_keys(["no", "yes"]).find(key) for key in "nyNY"] == [0, 1, 0, 1]
    assert class_keys(["bird", "bat"]).find("b") is None
    assert class_keys(["sun", "moon"]).find("m") is None  # s is skip, so that no letter is a key


def test_commands_are_never_classes() -> None:
    assert [class_keys(["u", "q", "s"]).find(key) for key in "uqs"] == [None, None, None]


def test_many_classes_are_typed() -> None:
    keys = class_keys([f"species{n}" for n in range(200)])
    assert not keys.single
    assert keys.find("Species17") == 17
