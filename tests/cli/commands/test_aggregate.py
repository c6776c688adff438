from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from crowdpilot import Fusion, read

Run = Callable[..., Result]


def rows(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text), delimiter=delimiter))


def labels(text: str) -> dict[str, str]:
    return {row["task"]: row["label"] for row in rows(text)}


def test_labels_go_to_standard_output(here: Path, cli: Run) -> None:
    result = cli("aggregate", "votes.csv", "-s", "ds")
    assert list(rows(result.stdout)[0]) == ["task", "label", "confidence"]
    assert labels(result.stdout) == {"owl": "bird", "eel": "fish", "emu": "bird"}
    assert result.stderr == ""


def test_auto_is_the_default_and_says_in_one_line_what_it_did(here: Path, cli: Run) -> None:
    result = cli("aggregate", "votes.csv")
    assert labels(result.stdout) == {"owl": "bird", "eel": "fish", "emu": "bird"}
    assert result.stderr.startswith("crowdpilot: auto ")
    assert result.stderr.count("\n") == 1
    assert cli("aggregate", "votes.csv", "-s", "auto").stdout == result.stdout


def test_verbose_shows_the_scores_of_all_candidates(here: Path, cli: Run) -> None:
    shown = cli("aggregate", "votes.csv", "-v").stderr
    assert "9 votes, 3 tasks, 3 workers, 2 classes" in shown
    assert "one_coin" in shown
    assert "score" in shown


def test_verbose_prints_the_model_and_its_iterations(here: Path, cli: Run) -> None:
    assert (
        "by dawid_skene[max_iter=50], " in cli("aggregate", "votes.csv", "-s", "ds[max_iter=50]", "-v").stderr
    )


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.jsonl", "out.parquet", "out"])
def test_the_suffix_decides_the_format(name: str, here: Path, cli: Run) -> None:
    assert cli("aggregate", "votes.csv", "-s", "mv", "-o", name).stdout == ""
    found = {
        "out.csv": lambda: rows((here / name).read_text()),
        "out": lambda: rows((here / name).read_text()),
        "out.tsv": lambda: rows((here / name).read_text(), "\t"),
        "out.jsonl": lambda: list(map(json.loads, (here / name).read_text().splitlines())),
        "out.parquet": lambda: pq.read_table(here / name).to_pylist(),
    }[name]()
    assert {row["task"]: row["label"] for row in found} == {"owl": "bird", "eel": "fish", "emu": "bird"}
    assert [int(row["votes"]) for row in found] == [3, 3, 3]


def test_npy_holds_the_probabilities(here: Path, cli: Run) -> None:
    cli("aggregate", "votes.csv", "-s", "naive_soft", "-o", "out.npy")
    np.testing.assert_allclose(np.load("out.npy"), np.array([[2, 1], [1, 2], [3, 0]]) / 3)


def test_probs_adds_a_column_for_each_class(here: Path, cli: Run) -> None:
    (owl, *_) = rows(cli("aggregate", "votes.csv", "-s", "naive_soft", "--probs").stdout)
    assert list(owl) == ["task", "label", "confidence", "p_bird", "p_fish"]
    assert float(owl["p_fish"]) == pytest.approx(1 / 3)


def test_workers_get_a_table_of_their_own(here: Path, cli: Run) -> None:
    result = cli("aggregate", "votes.csv", "-s", "mv", "--workers", "workers.csv")
    skill = {row["worker"]: float(row["skill"]) for row in rows((here / "workers.csv").read_text())}
    assert skill == {"ann": 1, "bob": 1, "cem": pytest.approx(1 / 3)}
    assert "task" in result.stdout


def test_gold_is_kept(here: Path, cli: Run) -> None:
    (here / "gold.csv").write_text("task,truth\nemu,fish\n")
    assert labels(cli("aggregate", "votes.csv", "-s", "ds", "--gold", "gold.csv").stdout)["emu"] == "fish"


@pytest.mark.parametrize(
    "args", [["--classes", "fish,bird,cat"], ["--classes", "fish,bird", "--classes", "cat"]]
)
def test_classes_have_the_order_that_was_asked_for(args: list[str], here: Path, cli: Run) -> None:
    (row, *_) = rows(cli("aggregate", "votes.csv", "-s", "mv", "--probs", *args).stdout)
    assert list(row)[3:] == ["p_fish", "p_bird", "p_cat"]


def test_abstentions_are_no_votes_and_are_counted(here: Path, cli: Run) -> None:
    result = cli("aggregate", "votes.csv", "-s", "mv", "--abstain", "fish")
    assert set(labels(result.stdout).values()) == {"bird"}
    assert "3 rows hold no vote" in result.stderr


@pytest.mark.parametrize(("repeats", "label"), [("last", "fish"), ("first", "bird")])
def test_repeats_count_as_asked(repeats: str, label: str, here: Path, cli: Run) -> None:
    (here / "again.csv").write_text("task,worker,label\nowl,ann,bird\nowl,ann,fish\n")
    shown = cli("aggregate", "again.csv", "-s", "mv", "--repeats", repeats, "--classes", "bird,fish").stdout
    assert labels(shown) == {"owl": label}


def test_columns_can_be_named(here: Path, cli: Run) -> None:
    (here / "odd.csv").write_text("url,who,kind\nowl,ann,bird\n")
    shown = cli(
        "aggregate", "odd.csv", "-s", "mv", "--columns", "task=url,worker=who", "--columns", "label=kind"
    )
    assert labels(shown.stdout) == {"owl": "bird"}


def test_the_format_can_be_forced(here: Path, cli: Run) -> None:
    (here / "wide.csv").write_text("item,worker,label\n1,a,b\n2,a,b\n")
    assert labels(cli("aggregate", "wide.csv", "-s", "mv", "--format", "csv").stdout) == {"1": "b", "2": "b"}
    assert set(labels(cli("aggregate", "wide.csv", "-s", "mv", "--format", "wide").stdout).values()) <= {
        "a",
        "b",
    }


def test_a_question_can_be_chosen(here: Path, cli: Run) -> None:
    def task(number: int, kind: str, colour: str) -> dict[str, object]:
        result = [
            {"from_name": name, "type": "choices", "value": {"choices": [choice]}}
            for name, choice in (("kind", kind), ("colour", colour))
        ]
        return {"id": number, "annotations": [{"completed_by": 1, "result": result}], "data": {}}

    (here / "export.json").write_text(json.dumps([task(1, "bird", "red"), task(2, "fish", "blue")]))
    shown = cli("aggregate", "export.json", "-s", "mv", "--question", "colour").stdout
    assert labels(shown) == {"1": "red", "2": "blue"}


def test_settings_reach_the_model(here: Path, cli: Run) -> None:
    shown = cli("aggregate", "votes.csv", "-s", "ds", "--max-iter", "77", "--tol", "0.5", "-v").stderr
    assert "dawid_skene[max_iter=77,tol=0.5]" in shown
    shown = cli("aggregate", "votes.csv", "-s", "mv", "--seed", "5", "-v").stderr
    assert "majority_voting[seed=5]" in shown


def test_workers_can_be_left_out(here: Path, cli: Run) -> None:
    (here / "out.csv").write_text("worker\ncem\n")
    result = cli("aggregate", "votes.csv", "-s", "mv", "--exclude", "out.csv")
    assert {float(row["confidence"]) for row in rows(result.stdout)} == {1.0}
    assert result.stderr == "crowdpilot: 1 of 3 workers and 3 votes are left out\n"


def test_gold_of_a_file_adds_to_that_of_the_votes(here: Path, cli: Run) -> None:
    (here / "some.csv").write_text("task,worker,label,gold\nowl,ann,bird,fish\neel,ann,fish,\n")
    (here / "gold.csv").write_text("task,label\neel,bird\n")
    result = cli("aggregate", "some.csv", "-s", "mv", "--gold", "gold.csv")
    assert labels(result.stdout) == {"owl": "fish", "eel": "bird"}


def test_a_classifier_decides_with_the_votes(here: Path, cli: Run) -> None:
    (here / "one.csv").write_text("task,worker,label\nowl,ann,bird\neel,bob,fish\nemu,ann,fish\n")
    (here / "probs.csv").write_text("task,p_bird,p_fish\nemu,0.9,0.1\nowl,0.8,0.2\neel,0.2,0.8\n")
    found = rows(cli("aggregate", "one.csv", "--machine", "probs.csv", "--probs").stdout)
    sure = {row["task"]: float(row["confidence"]) for row in found}
    assert [row["label"] for row in found][:2] == ["bird", "fish"]
    assert sure["emu"] < sure["owl"] < 1
    votes = read(here / "one.csv")
    expected = Fusion().fit(votes, {"owl": [0.8, 0.2], "eel": [0.2, 0.8], "emu": [0.9, 0.1]}).probs
    np.testing.assert_allclose([float(row["p_bird"]) for row in found], expected[:, 0], atol=1e-6)


def test_crowdlab_can_be_chosen_for_the_classifier(here: Path, cli: Run) -> None:
    (here / "probs.csv").write_text("task,p_bird,p_fish\nemu,0.9,0.1\nowl,0.8,0.2\neel,0.2,0.8\n")
    found = cli("aggregate", "votes.csv", "--machine", "probs.csv", "-s", "crowdlab", "-v")
    assert "by crowdlab" in found.stderr
    assert "by fusion" in cli("aggregate", "votes.csv", "--machine", "probs.csv", "-v").stderr


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("task,p_bird,p_fish\nowl,0.8,0.2\n", (), "no probabilities for 2 of 3 tasks"),
        ("task,p_bird\nowl,0.8\n", (), "no column p_fish"),
        ("task,label\nowl,bird\neel,fish\nemu,bird\n", (), "has labels, expected a column p_CLASS"),
        ("task,p_bird,p_fish\nowl,8,2\neel,1,1\nemu,2,1\n", (), "sum to 1"),
        ("", ("-s", "ds"), "--machine is for fusion or crowdlab"),
    ],
)
def test_wrong_probabilities_are_refused(
    text: str, options: tuple[str, ...], message: str, here: Path, cli: Run
) -> None:
    (here / "probs.csv").write_text(text)
    result = cli("aggregate", "votes.csv", "--machine", "probs.csv", *options)
    assert result.exit_code == 2
    assert message in result.stderr
