"""Votes as peerannot keeps them: `answers.json` is {task: {worker: label}}, alone or in a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from crowdpilot.arrays import Codes, Names
from crowdpilot.io.columns import column_of_names, objects, value_text
from crowdpilot.io.format import Format, VotesTable
from crowdpilot.io.source import Source
from crowdpilot.io.tables.json_layouts import records_of
from crowdpilot.io.tables.nested_votes import INVERSE, doubts, nested_votes
from crowdpilot.io.text_writing import JSON, texts, write_text
from crowdpilot.io.votes_tables import check_single
from crowdpilot.votes import Votes

ANSWERS, METADATA = "answers.json", "metadata.json"


def sniff(source: Source) -> bool:
    """Whether it is such a file, or a folder with one; an error if it looks like the other way round."""
    if source.path.is_dir():
        return (source.path / ANSWERS).is_file()
    record = source.record if source.opening == "{" else None
    if not isinstance(record, dict) or not all(isinstance(labels, dict) for labels in record.values()):
        return False
    if records_of(record) is not None:
        return False
    _check_direction(source, record)
    return True


def _check_direction(source: Source, answers: Mapping[str, Mapping[str, Any]]) -> None:
    """Note, or raise, if the workers may be outside; a file of peerannot's own name is as it says."""
    if source.path.name == ANSWERS:
        return
    try:
        notes = doubts(answers, dict.fromkeys(chain.from_iterable(answers.values())))
    except ValueError as error:
        raise source.error(str(error)) from error
    source.notes.extend(notes)


def parse(source: Source) -> VotesTable:
    """The tasks are outside, the workers inside."""
    return parse_nested(source, "peerannot")


def parse_nested(source: Source, format: str) -> VotesTable:
    """The answers, and the classes if there is a file of metadata beside them."""
    file = replace(source, path=source.path / ANSWERS) if source.path.is_dir() else source
    outer, inner = ("worker", "task") if format == INVERSE else ("task", "worker")
    votes = nested_votes(_answers(file, outer, inner), format)
    classes = _classes(file, votes.table["label"].values())
    return replace(votes, classes=classes, numbers_as_text=True, name=str(file.path))


def _answers(source: Source, outer: str, inner: str) -> dict[str, dict[str, Any]]:
    answers = source.document
    if not isinstance(answers, dict):
        raise source.error(f"found a JSON {type(answers).__name__}, expected {{{outer}: {{{inner}: label}}}}")
    wrong = next((name for name, labels in answers.items() if not isinstance(labels, dict)), None)
    if wrong is not None:
        value = json.dumps(answers[wrong])[:40]
        raise source.error(f"found {value} at {outer} {wrong!r}, expected {{{inner}: label}}")
    return answers


def _classes(source: Source, labels: list[Any]) -> list[Any] | None:
    """As metadata.json lists or counts them."""
    path = source.path.with_name(METADATA)
    if source.path.name != ANSWERS or not path.is_file():
        return None
    about = replace(source, path=path).document
    about = about if isinstance(about, dict) else {}
    if isinstance(about.get("classes"), list):
        return list(about["classes"])
    count = about.get("n_classes")
    are_numbers = {type(label) for label in labels if label is not None} == {int}
    return list(range(count)) if isinstance(count, int) and are_numbers else None


def write(votes: Votes, path: Path) -> None:
    """A file if the name ends in .json, else a folder."""
    pair = (votes.task, votes.tasks), (votes.worker, votes.workers)
    write_nested(votes, path, *pair, "peerannot")


def write_nested(
    votes: Votes, path: Path, outer: tuple[Codes, Names], inner: tuple[Codes, Names], format: str
) -> None:
    """The answers, and in a folder the metadata."""
    check_single(votes, format)
    if ".json" in path.suffixes:
        write_text(_pieces(votes, outer, inner), path)
        return
    path.mkdir()
    write_text(_pieces(votes, outer, inner), path / ANSWERS)
    sizes = {"n_classes": votes.classes, "n_workers": votes.workers, "n_task": votes.tasks}
    about = {"name": path.name, **{name: len(all) for name, all in sizes.items()}}
    about["classes"] = votes.classes.tolist()
    write_text([json.dumps(about, ensure_ascii=False, indent=2, default=str) + "\n"], path / METADATA)


def _pieces(votes: Votes, outer: tuple[Codes, Names], inner: tuple[Codes, Names]) -> Iterator[str]:
    """The text of the answers, one outer name in each line."""
    codes, names = outer
    order = np.argsort(codes, kind="stable")
    label = texts(column_of_names(votes.label[order], votes.classes), JSON)
    answers = list(map("{}: {}".format, _keys(inner[1])[inner[0][order]].tolist(), label))
    starts = np.append(0, np.cumsum(np.bincount(codes, minlength=len(names)))).tolist()
    joined = (", ".join(answers[start:end]) for start, end in pairwise(starts))
    keys = _keys(names).tolist()
    yield "{" + ",\n".join(f"{key}: {{{each}}}" for key, each in zip(keys, joined, strict=True)) + "}\n"


def _keys(names: Names) -> Names:
    """Names as the keys of JSON: text, whatever they are."""
    return objects(JSON.quote([value_text(name) for name in names.tolist()]))


FORMAT = Format(
    "folder with answers.json, or that file: {task: {worker: label}}",
    sniff,
    parse,
    write,
    (".json", ""),
    sample='{"a": {"x": "cat"}}',
)
