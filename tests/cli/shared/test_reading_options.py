from __future__ import annotations

from pathlib import Path

import pytest

from crowdpilot.cli.shared.reading_options import ReadingOptions, read_true_labels
from tests.cli.listing import commands

READ_VOTES = (
    "aggregate", "aggregate-deep", "agreement", "convert", "forecast", "identify", "replay", "report",
    "train",
)  # fmt: skip


@pytest.mark.parametrize("command", READ_VOTES)
def test_every_command_that_reads_votes_has_the_same_options(command: str) -> None:
    names = [p.name for p in commands()[command].params]
    start = names.index("classes")
    assert names[start : start + 6] == ["classes", "abstain", "repeats", "format", "columns", "question"]


def test_lists_have_commas_or_are_repeated() -> None:
    reading = ReadingOptions(classes=["a, b", "c"], abstain=["?"], columns=["task=url,worker=rater"])
    assert reading.class_names == ["a", "b", "c"]
    assert reading.columns_by_role == {"task": "url", "worker": "rater"}
    assert reading.for_tables() == {"classes": ["a", "b", "c"], "abstain": ["?"], "repeats": "last"}
    assert ReadingOptions().class_names is None


def test_changed_options_are_those_without_their_default() -> None:
    assert ReadingOptions().changed() == {}
    assert ReadingOptions(repeats="all", format="csv").changed() == {"repeats": "all", "format": "csv"}


def test_votes_are_read_with_true_labels_and_without_excluded_workers(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("gold.csv").write_text("task,label\neel,fish\n")
    Path("out.csv").write_text("worker\ncem\n")
    votes = ReadingOptions(classes=["fish,bird"]).read(
        Path("votes.csv"), gold=read_true_labels(Path("gold.csv"), None), exclude=Path("out.csv")
    )
    assert votes.workers.tolist() == ["ann", "bob"]
    assert votes.classes.tolist() == ["fish", "bird"]
    assert votes.gold is not None
    assert votes.gold.tolist() == [-1, 0, -1]
    assert "1 of 3 workers and 3 votes are left out" in capsys.readouterr().err


def test_many_files_are_parquet(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leave out --format and --question"):
        ReadingOptions(format="csv").shards(tmp_path, gold=None, exclude=None)


def test_replay_counts_one_vote_of_a_worker_on_a_task(here: Path, cli: object) -> None:
    result = cli("replay", "votes.csv", "--repeats", "all")  # type: ignore[operator]  # a fixture
    assert (result.exit_code, "choose last or first" in result.stderr) == (2, True)
