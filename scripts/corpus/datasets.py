"""Files that Hugging Face `datasets` writes; run by the interpreter of its own environment."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from datasets import ClassLabel, Dataset, DatasetDict, Features, Value

from scripts.corpus.folder import RUN, Vote, write_folder
from scripts.corpus.scenario import ANNOTATORS, SENTIMENT_VOTES, SENTIMENTS, TEXTS

FEATURES = Features(
    {
        "text": Value("string"),
        "item": Value("string"),
        "rater": Value("string"),
        "rating": ClassLabel(names=list(SENTIMENTS)),
    }
)


def make() -> None:
    """Write all folders."""
    votes = Dataset.from_list(list(records()), features=FEATURES)
    rows = [(record["item"], record["rater"], record["rating"]) for record in records()]
    with TemporaryDirectory() as folder:
        write_saved(votes.shuffle(seed=1), rows, Path(folder))
        write_splits(votes, rows, Path(folder))
        path = Path(folder) / "votes.parquet"
        votes.to_parquet(path)
        write_folder("datasets-parquet", {path.name: path.read_bytes()}, rows, about())


def records() -> Iterator[dict[str, Any]]:
    """The votes of the scenario, with a name for each text."""
    for n, (text, row) in enumerate(zip(TEXTS, SENTIMENT_VOTES, strict=True)):
        for name, label in zip(ANNOTATORS, row, strict=True):
            if label is not None:
                yield {"text": text, "item": f"t{n}", "rater": name, "rating": label}


def about(**more: Any) -> dict[str, Any]:
    """What is said of a file."""
    return {"program": "datasets", "version": version("datasets"), "made": RUN, **more}


def write_saved(votes: Dataset, rows: list[Vote], folder: Path) -> None:
    """A shuffled data set as a folder, in two parts, and one of the parts of another alone."""
    path = folder / "saved"
    votes.save_to_disk(path, num_shards=2)
    write_folder("datasets-saved", files_in(path), rows, about())
    whole = folder / "whole"
    votes.save_to_disk(whole)
    (part,) = whole.glob("*.arrow")
    write_folder("datasets-arrow-file", {"votes.arrow": part.read_bytes()}, rows, about())


def write_splits(votes: Dataset, rows: list[Vote], folder: Path) -> None:
    """A folder of one split, and one of two, of which nobody has said which is meant."""
    DatasetDict(train=votes).save_to_disk(folder / "one")
    write_folder("datasets-one-split", files_in(folder / "one"), rows, about())
    two = DatasetDict(train=votes, test=votes.select(range(4)))
    two.save_to_disk(folder / "two")
    refused = "there are the splits 'test', 'train'; name the folder of one"
    write_folder("datasets-two-splits", files_in(folder / "two"), [], about(refused=refused))


def files_in(folder: Path) -> dict[str, bytes]:
    """The files of a folder, with its name before theirs."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder.parent)): path.read_bytes() for path in paths}


if __name__ == "__main__":
    make()
