"""Every file of the corpus is read as the votes that are in it, or refused with the sentence it deserves."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

import crowdpilot
from crowdpilot.votes import Votes
from scripts.corpus.overview import README, table

CORPUS = Path(__file__).parent / "corpus"
FOLDERS = sorted(path.parent for path in CORPUS.glob("*/about.json"))


def about(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "about.json").read_text("utf-8")))


def has(key: str) -> pytest.MarkDecorator:
    chosen = [folder for folder in FOLDERS if key in about(folder)]
    return pytest.mark.parametrize("folder", chosen, ids=[folder.name for folder in chosen])


def read(folder: Path, options: dict[str, Any]) -> Votes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was left out is said in warnings
        return crowdpilot.read(folder / about(folder)["file"], **options)


def triples(votes: Votes) -> set[tuple[str, str, str]]:
    codes = zip(votes.task, votes.worker, votes.label, strict=True)
    return {(str(votes.tasks[t]), str(votes.workers[w]), str(votes.classes[c])) for t, w, c in codes}


def written(folder: Path) -> list[tuple[str, str, str]]:
    rows = json.loads((folder / "votes.json").read_text("utf-8"))
    return [(str(task), str(worker), str(label)) for task, worker, label in rows]


@pytest.mark.parametrize("folder", FOLDERS, ids=[folder.name for folder in FOLDERS])
def test_a_file_is_read_as_the_votes_that_are_in_it(folder: Path) -> None:
    if (sentence := about(folder).get("refused")) is not None:
        with pytest.raises(ValueError, match=sentence):
            read(folder, {})
        return
    votes = read(folder, about(folder).get("options", {}))
    assert triples(votes) == set(written(folder))
    assert len(votes) == len(written(folder))


@has("refused_without_options")
def test_what_has_two_readings_is_refused_until_an_option_settles_it(folder: Path) -> None:
    with pytest.raises(ValueError, match=about(folder)["refused_without_options"]) as error:
        read(folder, {})
    assert "\n" not in str(error.value)


@has("gold")
def test_true_labels_that_a_file_knows_are_read(folder: Path) -> None:
    votes = read(folder, about(folder).get("options", {}))
    assert votes.gold is not None
    gold = {str(votes.tasks[n]): str(votes.classes[k]) for n, k in enumerate(votes.gold) if k >= 0}
    assert gold == about(folder)["gold"]


def test_the_readme_counts_what_is_there() -> None:
    assert README.read_text("utf-8") == table()  # `python -m scripts.corpus.overview` writes it


def test_the_corpus_tells_nothing_of_a_machine() -> None:
    for path in CORPUS.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not [word for word in (b"/tmp/", b"/home/", b"127.0.0.1", b"localhost") if word in content]
