from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from crowdpilot import Fusion, read
from crowdpilot.io import write_table

Run = Callable[..., Result]
ACCURACY = r"crowdpilot: about \d+ to \d+ % of these labels are right \(\d+ % expected\)"


def rows(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text), delimiter=delimiter))


def labels(text: str) -> dict[str, str]:
    return {row["task"]: row["label"] for row in rows(text)}


def test_labels_go_to_standard_output(here: Path, cli: Run) -> None:
    result = cli("aggregate", "votes.csv", "-s", "ds")
    assert list(rows(result.stdout)[0]) == ["task", "label", "confidence"]
    assert labels(result.stdout) == {"owl": "bird", "eel": "fish", "emu": "bird"}
    assert re.fullmatch(ACCURACY, result.stderr.splitlines()[0])


def test_auto_is_the_default_and_says_in_one_line_what_it_did(here: Path, cli: Run) -> None:
    result = cli("aggregate", "votes.csv")
    assert labels(result.stdout) == {"owl": "bird", "eel": "fish", "emu": "bird"}
    accuracy, auto = result.stderr.splitlines()
    assert re.fullmatch(ACCURACY, accuracy)
    assert auto.startswith("crowdpilot: auto ")
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
    assert "; 3 rows without a vote" in result.reading


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
    assert result.stderr.splitlines()[0] == "crowdpilot: 1 of 3 workers and 3 votes are left out"


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


LAYOUTS = {
    "p_CLASS": "task,p_bird,p_fish\nemu,.9,.1\nowl,.8,.2\neel,.2,.8\n",
    "CLASS": "item,fish,bird\nemu,.1,.9\nowl,.2,.8\neel,.8,.2\n",
    "a frame with an index": ",bird,fish\nemu,.9,.1\nowl,.8,.2\neel,.2,.8\n",
    "one column for two classes": "id,p_fish\nemu,.1\nowl,.2\neel,.8\n",
    "a row for each class": (
        "task,class,prob\nowl,bird,.8\nowl,fish,.2\neel,fish,.8\neel,bird,.2\nemu,bird,.9\nemu,fish,.1\n"
    ),
    "no names of tasks": "bird,fish\n.8,.2\n.2,.8\n.9,.1\n",
    "more columns": "task,text,p_bird,p_fish,score\nemu,big,.9,.1,3\nowl,wise,.8,.2,1\neel,long,.2,.8,2\n",
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_probabilities_are_read_in_every_layout(layout: str, here: Path, cli: Run) -> None:
    (here / "usual.csv").write_text(LAYOUTS["p_CLASS"])
    (here / "probs.csv").write_text(LAYOUTS[layout])
    usual, found = (cli("aggregate", "votes.csv", "--machine", f"{name}.csv") for name in ("usual", "probs"))
    assert found.exit_code == 0, found.stderr
    assert found.stdout == usual.stdout


@pytest.mark.parametrize("suffix", ["npy", "npz", "parquet", "jsonl"])
def test_probabilities_are_read_from_files_of_every_kind(suffix: str, here: Path, cli: Run) -> None:
    probs, tasks = np.array([[0.8, 0.2], [0.2, 0.8], [0.9, 0.1]]), ["owl", "eel", "emu"]
    columns = {"task": tasks, "p_bird": probs[:, 0], "p_fish": probs[:, 1]}
    write_table(columns, here / "usual.csv")
    if suffix == "npy":
        np.save(here / "probs.npy", probs)
    elif suffix == "npz":
        np.savez(here / "probs.npz", probs=probs[::-1, ::-1], tasks=tasks[::-1], classes=["fish", "bird"])
    else:
        write_table(columns, here / f"probs.{suffix}")
    usual, found = (
        cli("aggregate", "votes.csv", "--machine", name) for name in ("usual.csv", f"probs.{suffix}")
    )
    assert found.exit_code == 0, found.stderr
    assert found.stdout == usual.stdout


def test_tasks_and_classes_without_votes_are_those_of_the_classifier(here: Path, cli: Run) -> None:
    text = "task,p_bird,p_cow,p_fish\nemu,.9,0,.1\nowl,.8,0,.2\neel,.2,0,.8\nbull,.02,.97,.01\n"
    (here / "probs.csv").write_text(text)
    for strategy in ("auto", "crowdlab", "fusion"):
        found = rows(
            cli("aggregate", "votes.csv", "--machine", "probs.csv", "-s", strategy, "--probs").stdout
        )
        assert [row["task"] for row in found] == ["owl", "eel", "emu", "bull"]
        assert found[-1]["label"] == "cow"
        assert [name for name in found[0] if name.startswith("p_")] == ["p_bird", "p_cow", "p_fish"]


def test_fusion_without_a_classifier_says_what_it_needs(here: Path, cli: Run) -> None:
    result = cli("aggregate", "votes.csv", "-s", "fusion")
    assert result.exit_code == 2
    assert "needs the probabilities of a classifier" in result.stderr


def test_crowdlab_can_be_chosen_for_the_classifier(here: Path, cli: Run) -> None:
    (here / "probs.csv").write_text("task,p_bird,p_fish\nemu,0.9,0.1\nowl,0.8,0.2\neel,0.2,0.8\n")
    found = cli("aggregate", "votes.csv", "--machine", "probs.csv", "-s", "crowdlab", "-v")
    assert "by crowdlab" in found.stderr
    assert "by fusion" in cli("aggregate", "votes.csv", "--machine", "probs.csv", "-v").stderr


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("task,p_bird,p_fish\nowl,0.8,0.2\n", (), "no row for 2 of 3 tasks, such as 'eel'"),
        ("task,p_bird,p_fish\nOWL,0.8,0.2\n", (), "no row for 3 of 3 tasks, such as 'owl', but for tasks"),
        ("task,bird,whale\nowl,0.8,0.2\neel,.5,.5\nemu,.5,.5\n", (), "no column p_fish or fish"),
        ("task,p_bird,p_fish\nowl,.8,.2\neel,.5,.5\nemu,,\n", (), "of task 'emu' have no number"),
        ("task,p_bird,p_fish\nowl,.8,.2\nowl,.5,.5\neel,.5,.5\nemu,1,0\n", (), "several rows for task 'owl'"),
        ("task,p_bird,p_fish\nowl,80,20\neel,50,50\nemu,0,100\n", (), "divide them by 100"),
        ("task,p_bird,p_fish\nowl,3.5,-2\neel,.5,.5\nemu,1,2\n", (), "apply softmax first"),
        ("task,p_bird,p_fish\nowl,much,.2\neel,.5,.5\nemu,1,2\n", (), "found 'much' in column 'p_bird'"),
        ("task,label\nowl,bird\neel,fish\nemu,bird\n", (), "are labels, expected a column p_CLASS"),
        ("task,p_bird,p_fish\nowl,8,2\neel,1,1\nemu,2,1\n", (), "divide each row by its sum"),
        ("task,p_bird,p_fish\nowl,.7,.2\neel,.5,.5\nemu,1,0\n", (), "of task 'owl' sum to 0.9, expected 1"),
        ("", ("-s", "ds"), "dawid_skene takes no classifier, expected fusion or crowdlab"),
    ],
)
def test_wrong_probabilities_are_refused(
    text: str, options: tuple[str, ...], message: str, here: Path, cli: Run
) -> None:
    (here / "probs.csv").write_text(text)
    result = cli("aggregate", "votes.csv", "--machine", "probs.csv", *options)
    assert result.exit_code == 2
    assert message in result.stderr


def accuracy_line(result: Result) -> str:
    (line,) = [line for line in result.stderr.splitlines() if "labels are right" in line]
    return line


def low_and_high(line: str) -> tuple[int, int]:
    found = re.search(r"about (\d+) to (\d+) %", line)
    assert found is not None
    return int(found[1]), int(found[2])


def test_the_first_line_says_how_many_labels_are_right_and_what_checks_gain(
    crowd_files: Path, cli: Run
) -> None:
    line = cli("aggregate", "crowd.csv").stderr.splitlines()[0]
    assert re.fullmatch(
        ACCURACY + r"; check \d+ tasks to narrow this range of \d+ points to about \d+"
        r" \(--to-check FILE writes them\)",
        line,
    )


def test_tasks_to_check_are_written_and_come_back_as_gold(crowd_files: Path, cli: Run) -> None:
    before = cli("aggregate", "crowd.csv", "--to-check", "check.csv", "--checks", "30")
    assert "check.csv has 30 tasks to check" in before.stderr
    assert "--to-check FILE" not in before.stderr
    to_check = rows(Path("check.csv").read_text())
    assert [list(row) for row in to_check] == [["task", "truth"]] * 30
    truth = {row["task"]: row["label"] for row in rows(Path("truth.csv").read_text())}
    filled = ["task,truth", *(f"{row['task']},{truth[row['task']]}" for row in to_check)]
    Path("check.csv").write_text("\n".join(filled))
    after = cli("aggregate", "crowd.csv", "--gold", "check.csv")
    found = labels(after.stdout)
    assert all(found[row["task"]] == truth[row["task"]] for row in to_check)
    assert re.search(r"30 gold labels are used: by the votes alone \d+ of them would be right", after.stderr)
    (low, high), (low_after, high_after) = (low_and_high(accuracy_line(r)) for r in (before, after))
    assert high_after - low_after < 0.75 * (high - low)


def test_tasks_that_were_not_checked_yet_are_no_gold(crowd_files: Path, cli: Run) -> None:
    cli("aggregate", "crowd.csv", "--to-check", "check.csv", "--checks", "3")
    first, second, third, *_ = Path("check.csv").read_text().splitlines()[1:]
    Path("check.csv").write_text("\n".join(["task,truth", f"{first.split(',')[0]},bird", second, third]))
    shown = cli("aggregate", "crowd.csv", "--gold", "check.csv").stderr
    assert "1 gold label is used" in shown


def test_without_a_number_as_many_tasks_are_written_as_the_line_says(crowd_files: Path, cli: Run) -> None:
    line = accuracy_line(cli("aggregate", "crowd.csv", "--to-check", "check.jsonl"))
    found = re.search(r"check (\d+) tasks", line)
    assert found is not None
    assert len(Path("check.jsonl").read_text().splitlines()) == int(found[1])


def test_checks_need_a_file(crowd_files: Path, cli: Run) -> None:
    result = cli("aggregate", "crowd.csv", "--checks", "30")
    assert result.exit_code == 2
    assert "--to-check" in result.stderr


def test_json_stays_json_with_warnings_beside_it(here: Path, cli: Run) -> None:
    (here / "one.csv").write_text("task,worker,label\nowl,ann,bird\neel,ann,fish\n")
    result = cli("aggregate", "one.csv", "--json", "--to-check", "check.csv")
    assert [row["task"] for row in json.loads(result.stdout)] == ["owl", "eel"]
    assert "crowdpilot: warning: all votes come from one worker" in result.stderr
    assert result.stderr.splitlines()[0].startswith("crowdpilot: about ")


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("owl,ann,bird\neel,bob,fish\n", "no task has votes of two workers"),
        ("owl,ann,bird\nowl,bob,bird\n", "all votes are for one class"),
    ],
)
def test_what_votes_cannot_tell_is_a_warning_and_a_wide_range(
    text: str, warning: str, here: Path, cli: Run
) -> None:
    (here / "few.csv").write_text(f"task,worker,label\n{text}")
    result = cli("aggregate", "few.csv")
    assert f"crowdpilot: warning: {warning}" in result.stderr
    low, high = low_and_high(accuracy_line(result))
    assert high - low > 30


def test_a_crowd_that_contradicts_its_gold_is_said_to_do_so(crowd_files: Path, cli: Run) -> None:
    truth = rows(Path("truth.csv").read_text())
    kinds = ["bird", "fish", "newt"]
    wrong = [kinds[(kinds.index(row["label"]) + 1 + n % 2) % 3] for n, row in enumerate(truth[:15])]
    table = [f"{row['task']},{label}" for row, label in zip(truth, wrong, strict=False)]
    Path("wrong.csv").write_text("\n".join(["task,truth", *table]))
    shown = cli("aggregate", "crowd.csv", "--gold", "wrong.csv").stderr
    assert "warning: the crowd contradicts its gold labels" in shown


def mean_confidence(result: Result) -> float:
    return float(np.mean([float(row["confidence"]) for row in rows(result.stdout)]))


def test_probabilities_of_a_model_are_its_own_unless_they_are_to_be_honest(
    crowd_files: Path, cli: Run
) -> None:
    own = cli("aggregate", "crowd.csv", "-s", "ds")
    honest = cli("aggregate", "crowd.csv", "-s", "ds", "--calibrated")
    assert labels(own.stdout) == labels(honest.stdout)
    assert mean_confidence(own) > mean_confidence(honest)
    assert honest.stdout == cli("aggregate", "crowd.csv", "-s", "honest[ds]").stdout
    assert accuracy_line(own) == accuracy_line(honest)


def test_auto_can_give_the_probabilities_of_its_models(crowd_files: Path, cli: Run) -> None:
    honest, own = cli("aggregate", "crowd.csv"), cli("aggregate", "crowd.csv", "--model-probs")
    assert cli("aggregate", "crowd.csv", "--calibrated").stdout == honest.stdout
    assert labels(own.stdout) == labels(honest.stdout)
    assert mean_confidence(own) > mean_confidence(honest)


def test_a_model_that_is_too_sure_is_said_to_be(here: Path, cli: Run) -> None:
    cli("simulate", "-o", "many.csv", "--n-task", "300", "--feedback", "3", "--n-classes", "3")
    too_sure = "dawid_skene is 100% sure on average, which is too much; --calibrated gives honest"
    assert too_sure in cli("aggregate", "many.csv", "-s", "ds").stderr
    for choice in ("--calibrated", "--model-probs"):
        assert too_sure not in cli("aggregate", "many.csv", "-s", "ds", choice).stderr


def test_settings_reach_the_model_inside_an_honest_one(here: Path, cli: Run) -> None:
    shown = cli("aggregate", "votes.csv", "-s", "honest[ds]", "--max-iter", "77", "-v").stderr
    assert "honest[dawid_skene[max_iter=77]]" in shown


@pytest.mark.parametrize("option", [["--to-check", "check.csv"], ["--calibrated"]])
def test_what_needs_one_file_is_refused_for_many(option: list[str], here: Path, cli: Run) -> None:
    cli("convert", "votes.csv", "many", "--shards", "2")
    result = cli("aggregate", "many", "-s", "ds", *option)
    assert result.exit_code == 2
    assert f"{option[0]} is for votes in one file" in result.stderr


def test_shares_of_a_whole_crowd_have_no_workers_to_judge(here: Path, cli: Run) -> None:
    (here / "shares.csv").write_text("task,worker,label,weight\nowl,all,bird,0.7\nowl,all,fish,0.3\n")
    result = cli("aggregate", "shares.csv", "-s", "naive_soft", "--repeats", "all")
    assert labels(result.stdout) == {"owl": "bird"}
    assert "labels are right" not in result.stderr
