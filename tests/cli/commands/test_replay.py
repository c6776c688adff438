"""`crowdpilot replay`: policies on recorded votes, on criteria and on crowds that are made up."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

from crowdpilot import io
from crowdpilot.aggregation import MajorityVoting
from crowdpilot.cli.shared.reading_options import ReadingOptions
from crowdpilot.cli.shared.scenarios import read_scenario
from crowdpilot.hybrid import Costs

Run = Callable[..., Result]
ALL = "fixed[votes=9]"  # more than there are: all are taken
PRICE = "error=1,crowd=.02"


@pytest.fixture
def found(crowd_files: Path, cli: Run) -> Callable[..., dict[str, Any]]:
    """What the command says as JSON of the votes in crowd.csv."""

    def found(*args: str, source: str = "crowd.csv", costs: str = PRICE) -> dict[str, Any]:
        run = cli("replay", source, "--costs", costs, "--json", *args)
        assert run.exit_code == 0, run.stderr
        answer: dict[str, Any] = json.loads(run.stdout)
        return answer

    return found


def screening(folder: Path) -> dict[str, np.ndarray]:
    """Votes on two criteria in screen.csv, the truth of each in both.csv and of the items in whole.csv."""
    rng = np.random.default_rng(1)
    truth = {name: rng.random(60) < 0.6 for name in ("book", "negative")}
    rows, both = [], []
    for name, holds in truth.items():
        for item in range(60):
            both.append(f"d{item},{name},{'yes' if holds[item] else 'no'}")
            for worker in rng.permutation(9)[:3]:
                right = rng.random() < 0.85
                rows.append(f"d{item},w{worker},{name},{'yes' if holds[item] == right else 'no'}")
    (folder / "screen.csv").write_text("\n".join(["item,worker,asked,label", *rows]))
    (folder / "both.csv").write_text("\n".join(["item,asked,label", *both]))
    inside = truth["book"] & truth["negative"]
    whole = [f"d{n},{'yes' if holds else 'no'}" for n, holds in enumerate(inside)]
    (folder / "whole.csv").write_text("\n".join(["item,label", *whole]))
    return truth


def test_all_votes_taken_lose_what_the_majority_of_all_votes_loses(found: Callable[..., Any]) -> None:
    result = found("--truth", "truth.csv", "--policy", ALL, "--seeds", "2")
    votes, truth = io.read("crowd.csv"), io.read_labels("truth.csv")
    labels = votes.classes[Costs.equal(3).decide(MajorityVoting().fit(votes).probs)]  # a tie is its own
    wrong = np.mean([label != truth[task] for task, label in zip(votes.tasks, labels, strict=True)])
    mean, sd = result["policies"][0]["mean"], result["policies"][0]["sd"]
    assert mean["votes"] == pytest.approx(3)
    assert mean["spent"] == pytest.approx(0.06)
    assert mean["error"] == mean["loss"] == pytest.approx(wrong)
    assert mean["total"] == pytest.approx(0.06 + wrong)
    assert sd["loss"] == pytest.approx(0)
    assert result["known"] == result["items"] == 120


def test_means_are_those_of_the_ends_of_the_runs(found: Callable[..., Any]) -> None:
    result = found("--truth", "truth.csv", "-p", "fixed[votes=1]", "--seeds", "3")
    one = result["policies"][0]
    ends = [run["curve"]["loss"][-1] for run in one["runs"]]
    assert one["mean"]["loss"] == pytest.approx(np.mean(ends))
    assert one["sd"]["loss"] == pytest.approx(np.std(ends, ddof=1))
    assert one["sd"]["loss"] > 0


def test_the_policy_with_the_least_total_is_the_best(crowd_files: Path, cli: Run) -> None:
    table = cli(
        "replay", "crowd.csv", "--truth", "truth.csv", "--costs", "error=1,crowd=.3", "--seeds", "2",
        "-p", "fixed[votes=3]", "-p", "fixed[votes=1]", "-p", "Fixed[votes=1]",
    )  # fmt: skip
    rows = list(csv.DictReader(table.stdout.splitlines()))
    assert [row["policy"] for row in rows] == ["fixed[votes=3]", "fixed[votes=1]"]
    assert [row["best"] for row in rows] == ["", "yes"]
    assert float(rows[0]["total"]) > float(rows[1]["total"])


def test_three_policies_are_compared_by_default(found: Callable[..., Any]) -> None:
    result = found("--seeds", "1", "--max-mean-votes", "0.5")
    assert [one["policy"] for one in result["policies"]] == ["value", "fixed", "posterior_threshold"]


def test_at_most_so_many_votes_are_taken_in_batches(found: Callable[..., Any]) -> None:
    result = found("--seeds", "1", "-p", ALL, "--max-mean-votes", "1", "--batch", "30")
    votes = np.array(result["policies"][0]["runs"][0]["curve"]["votes"]) * 120
    np.testing.assert_allclose(votes, [0, 30, 60, 90, 120])


def test_without_truth_there_is_no_loss_and_no_best(
    crowd_files: Path, cli: Run, found: Callable[..., Any]
) -> None:
    table = cli("replay", "crowd.csv", "--seeds", "1", "-p", ALL, "-o", "curve.csv", "--plot", "it.svg")
    assert "no task has a true label" in table.stderr
    assert table.stdout.splitlines()[0] == "policy,votes,votes_sd,spent,spent_sd,expected,expected_sd,best"
    assert Path("curve.csv").read_text().splitlines()[0] == "policy,seed,votes,spent,expected"
    assert Path("it.svg").stat().st_size > 1000
    result = found("--seeds", "1", "-p", ALL)
    assert result["best"] is None
    assert result["policies"][0]["mean"]["loss"] is None
    assert result["policies"][0]["mean"]["expected"] >= 0


def test_the_truth_may_come_with_the_votes_or_be_known_in_part(
    found: Callable[..., Any], crowd_files: Path
) -> None:
    rows = Path("truth.csv").read_text().splitlines()
    Path("some.csv").write_text("\n".join(rows[:41]))
    truth = dict(row.split(",") for row in rows[1:41])
    lines = Path("crowd.csv").read_text().splitlines()
    with_gold = [f"{line},{truth.get(line.split(',')[0], '')}" for line in lines[1:]]
    Path("gold.csv").write_text("\n".join([f"{lines[0]},gold", *with_gold]))
    apart = found("--seeds", "1", "-p", ALL, "--truth", "some.csv")
    inside = found("--seeds", "1", "-p", ALL, source="gold.csv")
    assert apart["known"] == inside["known"] == 40
    assert apart["policies"] == inside["policies"]


def test_the_file_of_curves_has_every_point(crowd_files: Path, cli: Run) -> None:
    run = cli(
        "replay", "crowd.csv", "--truth", "truth.csv", "--seeds", "2", "-p", "fixed[votes=2]", "-p", ALL,
        "-o", "curve.csv", "--json",
    )  # fmt: skip
    result = json.loads(run.stdout)
    rows = list(csv.DictReader(Path("curve.csv").read_text().splitlines()))
    for one in result["policies"]:
        for made in one["runs"]:
            mine = [row for row in rows if (row["policy"], row["seed"]) == (one["policy"], str(made["seed"]))]
            assert [float(row["loss"]) for row in mine] == pytest.approx(made["curve"]["loss"])
            assert [float(row["spent"]) for row in mine] == pytest.approx(made["curve"]["spent"])


def test_a_machine_that_knows_all_needs_few_votes(found: Callable[..., Any]) -> None:
    truth = io.read_labels("truth.csv")
    rows = [f"{task},{','.join('.98' if k == name else '.01' for k in ('bird', 'fish', 'newt'))}"
            for task, name in reversed(truth.items())]  # fmt: skip
    Path("probs.csv").write_text("\n".join(["task,p_bird,p_fish,p_newt", *rows]))
    common = ("--truth", "truth.csv", "--seeds", "1", "-p", "value")
    alone, helped = found(*common), found(*common, "--machine", "probs.csv", "--fusion", "bayes")
    assert helped["policies"][0]["mean"]["votes"] < alone["policies"][0]["mean"]["votes"]
    assert helped["policies"][0]["mean"]["error"] < 0.05


def test_content_belongs_to_its_task_in_any_order(crowd_files: Path) -> None:
    scenario = read_scenario(Path("crowd.csv"), ReadingOptions(), truth=Path("truth.csv"), x=Path("x.npz"))
    ideal = np.eye(3)[scenario.truth]
    near = np.argmax(scenario.features - scenario.features.mean(axis=0), axis=1)
    assert (near == ideal.argmax(axis=1)).mean() > 0.9
    Path("table.csv").write_text(
        "\n".join(["task,one,two", *(f"{t},{n},{1000 * (n % 7)}" for n, t in enumerate(scenario.items))])
    )
    table = read_scenario(Path("crowd.csv"), ReadingOptions(), x=Path("table.csv"))
    np.testing.assert_allclose(table.features.std(axis=0), 1)  # columns have scales of their own
    assert (np.diff(table.features[:, 0]) > 0).all()


def test_texts_are_learned_from(found: Callable[..., Any]) -> None:
    words = {"bird": "it flies high", "fish": "it swims deep", "newt": "it creeps slowly"}
    texts = [f"{task},{words[kind]} {task}" for task, kind in io.read_labels("truth.csv").items()]
    Path("texts.csv").write_text("\n".join(["task,text", *texts]))
    common = ("--truth", "truth.csv", "--seeds", "1", "-p", "value")
    alone, helped = found(*common), found(*common, "--texts", "texts.csv")
    assert helped["policies"][0]["mean"]["total"] < alone["policies"][0]["mean"]["total"]


def test_an_item_is_in_if_all_criteria_hold(crowd_files: Path, found: Callable[..., Any]) -> None:
    truth = screening(crowd_files)
    scenario = read_scenario(Path("screen.csv"), ReadingOptions(), truth=Path("both.csv"), criteria="asked")
    order = [int(item[1:]) for item in scenario.items]
    assert scenario.criteria == ("book", "negative")
    assert scenario.classes.tolist() == ["no", "yes"]
    assert scenario.truth.tolist() == (truth["book"] & truth["negative"]).astype(int)[order].tolist()
    args = ("--criteria", "asked", "--seeds", "1", "-p", "fixed[votes=3]", "-p", "value")
    parts = found(*args, "--truth", "both.csv", source="screen.csv", costs="fp=1,fn=5,crowd=.02")
    whole = found(*args, "--truth", "whole.csv", source="screen.csv", costs="fp=1,fn=5,crowd=.02")
    assert parts == whole
    assert parts["policies"][0]["mean"]["votes"] == pytest.approx(6)
    assert parts["policies"][0]["mean"]["error"] < 0.3


def test_a_criterion_need_not_have_votes_on_every_item(crowd_files: Path, found: Callable[..., Any]) -> None:
    screening(crowd_files)
    rows = Path("screen.csv").read_text().splitlines()
    Path("part.csv").write_text(
        "\n".join(row for row in rows if not row.startswith(("d1,w", "d2,w")) or "book" in row)
    )
    result = found("--criteria", "asked", "--seeds", "1", "-p", "fixed[votes=3]", source="part.csv")
    assert result["items"] == 60
    assert result["policies"][0]["mean"]["votes"] == pytest.approx((60 * 6 - 2 * 3) / 60)


def test_a_machine_may_know_one_criterion(crowd_files: Path, found: Callable[..., Any]) -> None:
    truth = screening(crowd_files)
    rows = [
        f"d{n},{0.02 if holds else 0.98},{0.98 if holds else 0.02}" for n, holds in enumerate(truth["book"])
    ]
    Path("book.csv").write_text("\n".join(["task,p_no,p_yes", *rows]))
    args = ("--criteria", "asked", "--seeds", "1", "-p", "value", "--truth", "whole.csv")
    alone = found(*args, source="screen.csv")
    helped = found(*args, "--machine", "book=book.csv", source="screen.csv")
    assert helped["policies"][0]["mean"]["votes"] < alone["policies"][0]["mean"]["votes"]


def test_more_votes_of_a_simulated_crowd_lose_less(cli: Run) -> None:
    run = cli(
        "replay", "--simulate", "items=200,skill=.7,spread=0", "--costs", PRICE, "--seeds", "2", "--json",
        "-p", "fixed[votes=1]", "-p", "fixed[votes=9]",
    )  # fmt: skip
    few, many = (one["mean"] for one in json.loads(run.stdout)["policies"])
    assert (few["votes"], many["votes"]) == (1, 9)
    assert few["error"] == pytest.approx(0.3, abs=0.07)
    assert many["error"] == pytest.approx(0.099, abs=0.05)  # of nine coins of .7, fewer than five right


def test_a_bundled_data_set_needs_no_file(cli: Run) -> None:
    run = cli("replay", "anesthesia", "--seeds", "1", "-p", ALL, "--json")
    assert json.loads(run.stdout)["policies"][0]["mean"]["votes"] == 5  # of five doctors, one vote each


def test_a_person_sees_a_table(crowd_files: Path, cli: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "80")
    run = cli(
        "replay", "crowd.csv", "--truth", "truth.csv", "--seeds", "2", "-p", ALL, "-p", "fixed[votes=1]"
    )
    assert "±.0000" in run.stdout
    assert "has the lowest total cost, where a vote costs 0.05" in run.stderr


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((), "give either DATASET"),
        (("crowd.csv", "--simulate", "items=9"), "give either DATASET"),
        (("nothing.csv",), "there is no such file"),
        (("crowd.csv", "-p", "valeu"), "did you mean value?"),
        (("crowd.csv", "-p", "fixed[votes='x']"), "expected a number of 0 or more"),
        (("crowd.csv", "--fusion", "soup"), "no fusion is called 'soup'"),
        (("crowd.csv", "--costs", "fp=1"), "needs two classes"),
        (("crowd.csv", "--costs", "crowd=1,expert=2"), "of one kind"),
        (("crowd.csv", "--seeds", "0"), "--seeds is 0"),
        (("crowd.csv", "--batch", "0"), "--batch is 0"),
        (("crowd.csv", "--max-mean-votes", "0"), "--max-mean-votes is 0"),
        (("crowd.csv", "--truth", "test.csv"), "names none of the 120 tasks"),
        (("crowd.csv", "--machine", "truth.csv"), "expected a column p_CLASS"),
        (("crowd.csv", "--x", "test.npz"), "has nothing of 120 of 120 tasks"),
        (("crowd.csv", "--criteria", "asked"), "there is no column 'asked'"),
        (("crowd.csv", "--plot", "it.gif"), "the suffix .gif is not known"),
        (("crowd.csv", "--output", "it.doc"), "the suffix .doc is not known"),
        (("--simulate", "people=3"), "has no option 'people'"),
        (("--simulate", "skill=1.5"), "--simulate cannot be used: skill is 1.5"),
        (("--simulate", "items=0"), "items is 0, expected a whole number"),
        (("--simulate", "spread=.6"), "too large for a mean accuracy"),
        (("--simulate", "items=9", "--truth", "truth.csv"), "--truth needs DATASET"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    crowd_files: Path, cli: Run, args: tuple[str, ...], problem: str
) -> None:
    before = sorted(crowd_files.iterdir())
    run = cli("replay", *args, *(() if "--output" in args else ("-o", "curve.csv")))
    assert run.exit_code == 2
    assert problem in run.stderr
    assert run.stderr.count("\n") == 1
    assert run.stdout == ""
    assert sorted(crowd_files.iterdir()) == before


def test_votes_that_cannot_be_drawn_are_refused(crowd_files: Path, cli: Run) -> None:
    Path("heavy.csv").write_text("task,worker,label,weight\na,x,no,2\na,y,yes,1\n")
    Path("one.csv").write_text("task,worker,label\na,x,no\nb,y,no\n")
    Path("three.csv").write_text("item,worker,asked,label\na,x,q,1\na,y,q,2\na,z,q,3\n")
    assert "votes with weights" in cli("replay", "heavy.csv").stderr
    assert "one class only" in cli("replay", "one.csv").stderr
    assert "3 classes, but a criterion" in cli("replay", "three.csv", "--criteria", "asked").stderr
