"""Texts that were labelled on Figure Eight: shares of the votes to learn from, labels by hand to test by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from crowdpilot import io
from crowdpilot.arrays import Floats
from crowdpilot.datasets.data import Data, Part
from crowdpilot.datasets.download import Remote
from crowdpilot.datasets.registry import Counts, Dataset
from crowdpilot.datasets.source_files import UNSTATED, on_github, parse_manifest, read_rows
from crowdpilot.names import to_names

REPOSITORY = "Evgeneus/Label-Smoothing-in-Text-Classification"
FOLDERS = {  # the commit and the folder of files
    "balanced": ("10293c541932ce092d3bb1d3a955ae3dbabd6c3a", "from-figure-eight/balanced-test-data/raw"),
    "natural": ("062eef5c0f604853e61d74a7041ff6bc5bea7492", "from-figure-eight/unbalanced-test-data/raw"),
    "binary": ("d8d34404c897d71158d5fd9721e84b9a768c386c", "binary-balanced-test/raw"),
    "several": ("b0d8ce5413ddba042047c76de20be75fd635f84e", "multi-class-balanced-test/raw"),
    "text": ("d8d34404c897d71158d5fd9721e84b9a768c386c", "multi-class-balanced-test/raw_text"),
}  # fmt: skip
# the path of a file here: data set/part, and in the repository: folder/file
MANIFEST = parse_manifest("""
2e21da9cfbaa6204a7dabd8df193b801d2a6ac816526f4fd8fb6795c54ffc014 850724 fig8_01_gop_sentiment/train balanced/1_raw_train_gop_sentiment_binary.csv
fe26d4fae400b5b83cbc4fef288eddc2256de96ff04422a40a2cc0f7541d841a 78478 fig8_01_gop_sentiment/val natural/1_raw_val_gop_sentiment_binary.csv
- - fig8_01_gop_sentiment/test natural/1_raw_test_gop_sentiment_binary.csv
304353dd4ebd2f5e555ca7414e75d9c398a55d45e267cf85b12a33b9e2f6764a 84946 fig8_01_gop_sentiment/test_balanced balanced/1_raw_test_gop_sentiment_binary.csv
5fa46e28401f341bc25407efb004113e91517e9d005b888775117fe1d2f99758 886522 fig8_02_disaster_relevance/train natural/2_raw_train_disaster_relevance_binary.csv
bd756ea5f9b0454a654f78bfdbe58fefab70c113529b631822773eb2a36d9c5b 87999 fig8_02_disaster_relevance/val balanced/2_raw_val_disaster_relevance_binary.csv
- - fig8_02_disaster_relevance/test natural/2_raw_test_disaster_relevance_binary.csv
098f79c93387e3cc048e448d499daa84aa45652513c293b36faabb9aee09e553 81479 fig8_02_disaster_relevance/test_balanced binary/2_raw_test_disaster_relevance_binary.csv
8798490e0ac9ce44341f0b5fd5bd1b4ee275081adf860eb895a2933480650047 368604 fig8_05_corporate_messaging/train text/5_raw_train_corporate_messaging_mclass.csv
1c099a68ca68de7438cab7897019cf8c39f26aa62be904e3c3f31383b0ad9eaf 16854 fig8_05_corporate_messaging/val several/5_raw_val_corporate_messaging_mclass.csv
- - fig8_05_corporate_messaging/test natural/5_raw_test_corporate_messaging_mclass.csv
7472949215d6fff48bb4ce02d9a8328a51606c6e0fdfd8326d5c6d2baea9a1e2 16337 fig8_05_corporate_messaging/test_balanced balanced/5_raw_test_corporate_messaging_mclass.csv
ab9efc468122fc0200c13a36d09aad5ae03e84dc731ec5b0942c507bc08dd9ca 1709927 fig8_06_gop_rel_only/train several/6_raw_train_gop_rel_only_mclass.csv
3cda36762ff1e61befff138dbc0f772d7a6efd36b44b23e2f8edacc563e82891 78595 fig8_06_gop_rel_only/val several/6_raw_val_gop_rel_only_mclass.csv
9804bbde6302ed3e65ee82212ada22d93938e7903d875d2e9771f756998f0627 49314 fig8_06_gop_rel_only/test_balanced several/6_raw_test_gop_rel_only_mclass.csv
c2101059d33d4725b98cd82e21bd22d423b8c35ffee323afadf68673023e83d0 375275 fig8_08_drug_relation/train several/8_raw_train_drug_relation_mclass.csv
ba820e8c92e5d56b97afc403bcc160081fe326fead4c8208e71ef06ab756c97d 15048 fig8_08_drug_relation/test natural/8_raw_test_drug_relation_mclass.csv
b88263f93773292ad01f663ca15e92d5740d73309850f4c2d864dac49e1b3170 14501 fig8_08_drug_relation/test_balanced several/8_raw_test_drug_relation_mclass.csv
""")  # noqa: E501


def make(files: Mapping[str, Path]) -> Data:
    """From a table for each part: text, perhaps gold_label, crowd_label, and conf0, conf1 and so on.

    One share lost its decimal point (685 for 0.685): a share above one is what the others leave.
    """
    parts = {path.stem: _part(path) for path in files.values()}
    return Data(parts.pop("train"), parts)


def _part(path: Path) -> Part:
    header, *rows = read_rows(path, 4)
    shares = [n for n, name in enumerate(header) if name.startswith("conf")]
    if "text" not in header or len(shares) < 2:
        raise ValueError(f"{path.name}: it begins with {','.join(header)}, expected text, conf0 and conf1")
    tasks = to_names([f"{path.stem}-{n}" for n in range(len(rows))])
    try:
        probs = np.array([[row[n] for n in shares] for row in rows], np.float64)
        gold = [int(row[header.index("gold_label")]) for row in rows] if "gold_label" in header else []
    except (ValueError, IndexError) as error:
        raise ValueError(f"{path.name}: expected numbers for labels and shares ({error})") from error
    votes = io.from_shares(np.where(probs > 1, _left(probs), probs), tasks=tasks.tolist())
    texts = [row[header.index("text")] for row in rows]
    return Part(tasks, votes, dict(zip(tasks.tolist(), gold, strict=False)), texts)


def _left(probs: Floats) -> Floats:
    """What the other shares of a row leave for each."""
    others: Floats = probs.sum(axis=1, keepdims=True) - probs
    return 1 - others


def _files(name: str) -> Iterator[Remote]:
    """The files of a set, saved under the names of their parts."""
    for path, known in MANIFEST.items():
        target, _, origin = path.partition(" ")
        dataset, part = target.split("/")
        folder, file = origin.split("/")
        if dataset == name:
            commit, parent = FOLDERS[folder]
            remote = on_github(REPOSITORY, commit, f"data/{parent}/{file}", *known)
            yield replace(remote, saved_as=f"{part}.csv")


def _dataset(name: str, description: str, tasks: int, classes: int) -> Dataset:
    return Dataset(
        name=name,
        description=f"{description} Shares of the votes, without workers; tests labelled by hand.",
        counts=Counts(tasks, 0, 0, classes),
        kind="texts",
        licence=UNSTATED,
        source=f"Figure Eight, split and relabelled by Krivosheev et al., https://github.com/{REPOSITORY}",
        make=make,
        files=tuple(_files(name)),
    )


DATASETS = (
    _dataset(
        "fig8_01_gop_sentiment", "Is a tweet about a debate of candidates negative or positive?", 6195, 2
    ),
    _dataset("fig8_02_disaster_relevance", "Is a tweet about a disaster?", 7557, 2),
    _dataset(
        "fig8_05_corporate_messaging",
        "Does a company's message inform, talk with people, or ask to act?",
        2615,
        3,
    ),
    _dataset(
        "fig8_06_gop_rel_only",
        "Is a tweet about a debate of candidates negative, positive or neutral?",
        11669,
        3,
    ),
    _dataset(
        "fig8_08_drug_relation", "Is a sentence on a drug personal, impersonal, or a question?", 1866, 3
    ),
)
