from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import crowdpilot as cp
from crowdpilot.datasets import DATASETS, Dataset, find, home, load, open
from crowdpilot.datasets.local_copies import count_data, local_folder

BUNDLED = [name for name, dataset in DATASETS.items() if dataset.is_bundled]
REMOTE = [name for name in DATASETS if name not in BUNDLED]


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No data set has been downloaded."""
    monkeypatch.setenv("CROWDPILOT_DATA_HOME", str(tmp_path))


@pytest.mark.parametrize("dataset", DATASETS.values(), ids=DATASETS)
def test_a_data_set_says_what_it_is_and_on_what_terms(dataset: Dataset) -> None:
    assert find(dataset.name) is dataset
    assert all([dataset.description, dataset.source, dataset.licence, dataset.counts.tasks])
    assert dataset.kind in ("votes", "texts", "features", "images")
    assert "\n" not in dataset.description
    assert dataset.terms.startswith(f"Licence: {dataset.licence}")


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_set_has_the_registered_counts_and_is_always_the_same(name: str) -> None:
    data = open(name)
    assert count_data(data) == DATASETS[name].counts
    np.testing.assert_array_equal(data.votes.label, load(name).label)


@pytest.mark.parametrize("name", REMOTE)
def test_a_remote_set_is_pinned_to_a_commit_and_its_digests_are_whole(name: str) -> None:
    files = DATASETS[name].files
    assert len({file.name for file in files}) == len(files)
    for file in files:
        assert re.match(r"https://raw\.githubusercontent\.com/[\w.-]+/[\w.-]+/[0-9a-f]{40}/[^ ]+$", file.url)
        assert file.sha256 is None or re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.size is None or file.size > 0


@pytest.mark.parametrize("name", REMOTE)
def test_a_set_that_is_not_there_yet_says_how_to_get_it(name: str) -> None:
    with pytest.raises(ValueError, match=rf"not on this machine yet: run `crowdpilot datasets get {name}`"):
        cp.load(name)


def test_terms_that_forbid_something_or_are_not_stated_say_so() -> None:
    assert DATASETS["cifar10h"].terms == "Licence: CC BY-NC-SA 4.0; no commercial use."
    assert "ask the authors" in DATASETS["labelme"].terms
    assert DATASETS["digits"].terms == "Licence: CC BY 4.0."


def test_what_is_known_of_the_checksums_is_told() -> None:
    known = {name: DATASETS[name].checksum for name in ("bluebirds", "labelme", "music")}
    assert known == {"bluebirds": "known", "labelme": "in part", "music": "at first download"}
    assert DATASETS["bluebirds"].size == 32556 + 549
    assert DATASETS["labelme"].size is None


def test_all_ratings_of_the_anaesthetists_count() -> None:
    """Dawid and Skene 1979: the first saw each of 45 patients three times, the others once."""
    votes = load("anesthesia")
    assert votes.classes.tolist() == [1, 2, 3, 4]
    seen = np.bincount(votes.task * 5 + votes.worker).reshape(45, 5)
    np.testing.assert_array_equal(seen, np.broadcast_to([3, 1, 1, 1, 1], (45, 5)))


def test_the_ratings_are_those_of_the_published_table() -> None:
    """Patients 1, 12 and 36 of Table 1 in Dawid and Skene 1979."""
    votes = load("anesthesia")
    rows = {votes.tasks[t]: votes.classes[votes.label[votes.task == t]].tolist() for t in (0, 11, 35)}
    assert rows == {1: [1] * 7, 12: [2, 2, 2, 3, 3, 4, 3], 36: [4, 3, 3, 4, 3, 4, 3]}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("bluebird", "did you mean bluebirds?"),
        ("Digits", "did you mean digits?"),
        ("x", "there are anesthesia,"),
    ],
)
def test_an_unknown_data_set_is_refused(name: str, hint: str) -> None:
    with pytest.raises(ValueError, match=f"no data set {name!r}; .*{re.escape(hint)}"):
        load(name)


@pytest.mark.parametrize("name", ["digits", "texts"])
def test_a_simulated_crowd_errs_now_and_then_and_truth_is_known(name: str) -> None:
    data = open(name)
    truth = np.array([data.truth[task] for task in data.votes.tasks.tolist()])
    right = data.votes.classes[data.votes.label] == truth[data.votes.task]
    assert 0.6 < right.mean() < 0.85
    skill = data.votes.worker_mean(right.astype(float))
    assert skill.max() - skill.min() > 0.3
    assert cp.DawidSkene().fit(data.votes).labels.tolist() != truth.tolist()
    assert set(data.parts["test"].truth.values()) == set(data.votes.classes.tolist())
    assert not set(data.parts["test"].tasks.tolist()) & set(data.tasks.tolist())


def test_the_messages_can_be_learned_but_not_to_perfection() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    data = open("texts")
    test = data.parts["test"]
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    model = LogisticRegression(C=10).fit(words.fit_transform(data.texts), list(data.truth.values()))
    right = np.mean(model.predict(words.transform(test.texts)) == np.array(list(test.truth.values())))
    assert 0.5 < right < 0.97


def test_the_digits_can_be_learned_from_their_pixels() -> None:
    from sklearn.linear_model import LogisticRegression

    data = open("digits")
    test = data.parts["test"]
    assert data.images.shape == (450, 8, 8)
    np.testing.assert_allclose(data.features * 16, data.images.reshape(450, 64))
    model = LogisticRegression(max_iter=1000).fit(data.features, list(data.truth.values()))
    assert np.mean(model.predict(test.features) == np.array(list(test.truth.values()))) > 0.9


def test_what_is_in_memory_is_told_in_one_line() -> None:
    assert repr(open("texts")) == (
        "Data(Votes(720 votes, 180 tasks, 20 workers, 4 classes), truth of 180, texts, test of 60)"
    )


def test_the_package_stays_small() -> None:
    folder = Path(cp.datasets.__file__).parent
    assert sum(path.stat().st_size for path in folder.iterdir() if path.suffix != ".py") < 40_000


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "crowdpilot/datasets"),
        ("linux", None, ".cache/crowdpilot/datasets"),
        ("darwin", None, "Library/Caches/crowdpilot/datasets"),
        ("win32", "LOCALAPPDATA", "crowdpilot/datasets"),
        ("win32", None, "AppData/Local/crowdpilot/datasets"),
    ],
)
def test_data_sets_are_kept_where_the_system_keeps_such_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, variable: str | None, expected: str
) -> None:
    for name in ("CROWDPILOT_DATA_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path))
    assert home() == tmp_path / expected


def test_the_folder_of_choice_goes_before(tmp_path: Path) -> None:
    assert home() == tmp_path
    assert local_folder(DATASETS["bluebirds"]) is None


def test_bundled_sets_need_nothing_from_the_web() -> None:
    code = (
        "import socket; socket.socket.connect = None; import crowdpilot as cp;"
        "print(*[len(cp.load(n)) for n in ('anesthesia', 'digits', 'texts')])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["315", "1800", "720"]
