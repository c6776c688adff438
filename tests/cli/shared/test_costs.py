"""Costs from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdpilot.cli.shared.costs import parse_costs


def test_two_classes_have_false_positives_and_false_negatives() -> None:
    costs = parse_costs("fp=1, fn=5,crowd=0.1,expert=2,classifier=.01,budget=100", 2)
    assert costs.errors.tolist() == [[0, 1], [5, 0]]
    assert costs.prices == {"crowd": 0.1, "expert": 2}
    assert (costs.classifier, costs.budget) == (0.01, 100)
    assert parse_costs("fn=5", 2).errors.tolist() == [[0, 1], [5, 0]]


def test_any_number_of_classes_has_one_price_or_a_matrix(tmp_path: Path) -> None:
    assert parse_costs("error=2", 3).errors.tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    assert parse_costs("", 3).errors.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    for text in ("a,b\n0,1\n3,0\n", "true,a,b\na,0,1\nb,3,0\n"):
        (tmp_path / "costs.csv").write_text(text)
        assert parse_costs(f"matrix={tmp_path / 'costs.csv'}", 2).errors.tolist() == [[0, 1], [3, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fp", "--costs has 'fp', expected NAME=NUMBER"),
        ("fp=", "--costs has 'fp'"),
        ("fp=x", "--costs has fp=x"),
        ("fp=-1", "a number of 0 or more"),
        ("crowd=nan", "a number of 0 or more"),
        ("fp=1,fp=2", "fp twice"),
        ("fp=1,error=2", "both error and fp"),
    ],
)
def test_anything_else_is_one_clear_sentence(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_costs(text, 2)


def test_what_does_not_fit_the_classes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="fn, which needs two classes, and there are 3"):
        parse_costs("fn=5", 3)
    (tmp_path / "costs.csv").write_text("a,b\n0,1\n3,x\n")
    for file_classes in (2, 3):
        with pytest.raises(ValueError, match="is no matrix of costs"):
            parse_costs(f"matrix={tmp_path / 'costs.csv'}", file_classes)
    (tmp_path / "costs.csv").write_text("a,b\n0,1\n3,0\n")
    with pytest.raises(ValueError, match="both matrix and fp"):
        parse_costs(f"fp=1,matrix={tmp_path / 'costs.csv'}", 2)
