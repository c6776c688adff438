"""A backbone that is learned from the training texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from sklearn.feature_extraction.text import TfidfVectorizer

from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.data.inputs import to_rows
from crowdpilot.learning.data.rows import Sparse
from crowdpilot.learning.encoders.tfidf import Tfidf

TEXTS = ["a good film", "a bad film, bad!", "Größe zählt", "good good food", "the film was bad"]


def reviews(tasks: int = 120, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Texts of which some words tell the class."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, tasks)
    words = np.array([f"w{n}" for n in range(40)])
    chosen = rng.integers(0, 20, (tasks, 8)) + 15 * truth[:, None]
    return [" ".join(words[row]) for row in chosen], truth


def test_numbers_are_those_of_scikit_learn() -> None:
    found = Tfidf(features=6, min_df=2, ngrams=2, sublinear=True).fit(TEXTS)(TEXTS)
    same = TfidfVectorizer(max_features=6, min_df=2, ngram_range=(1, 2), sublinear_tf=True)
    np.testing.assert_allclose(found.toarray(), same.fit_transform(TEXTS).toarray(), rtol=1e-6)


@pytest.mark.parametrize("settings", [Tfidf(), Tfidf(features=None, min_df=1, ngrams=3, sublinear=False)])
def test_what_was_learned_comes_back_from_its_state(settings: Tfidf) -> None:
    learned = settings.fit(TEXTS)
    again = settings.restore(learned.state_dict())
    new = [*TEXTS, "", "unknown words", "Größe bad good"]
    assert again.words == learned.words
    np.testing.assert_array_equal(again(new).toarray(), learned(new).toarray())


def test_a_classifier_learns_words_from_the_training_texts_alone(tmp_path: Path) -> None:
    texts, truth = reviews()
    new, other = reviews(seed=1)
    backbone = "tfidf[features=25,min_df=1]"
    model = CrowdClassifier("linear", "two_stage", backbone=backbone, epochs=30, lr=0.05, device="cpu")
    model.fit(texts, truth, validation=(new, other))
    assert model.shape_ == (25,)
    assert model.score(new, other) > 0.9
    assert model.set_params(backbone="tfidf[ngrams=1]").fit(texts, truth).shape_ != (25,)
    model.save(tmp_path / "m")
    again = CrowdClassifier.load(tmp_path / "m", device="cpu")
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    with safe_open(tmp_path / "m", "pt") as file:
        assert {"backbone/words", "backbone/idf"} <= set(file.keys())


def test_rows_stay_sparse_and_can_be_made_once_for_many_fits() -> None:
    texts, truth = reviews()
    rows = to_rows(texts, torch.device("cpu"), backbone="tfidf")
    assert isinstance(rows, Sparse)
    one = CrowdClassifier("linear", "two_stage", backbone="tfidf", epochs=3).fit(rows, truth)
    other = CrowdClassifier("linear", "two_stage", backbone="tfidf", epochs=3).fit(texts, truth)
    np.testing.assert_array_equal(one.predict_proba(texts), other.predict_proba(texts))


@pytest.mark.parametrize(
    ("backbone", "message"),
    [
        ("tfidf[min_df=50]", "no word occurs in 50 or more of the 5 texts; give a smaller min_df to tfidf"),
        ("tfidf[features=0]", "features of tfidf is 0, expected a whole number from 1"),
        ("tfidf[ngrams=(1,2)]", r"ngrams of tfidf is \(1, 2\), expected a whole number from 1"),
        ("tfidf[min_df=0]", "min_df of tfidf is 0, expected a number of texts or a share"),
        ("tfidf[size=3]", "tfidf has no option 'size'; its options are: features, min_df, ngrams"),
    ],
)
def test_settings_that_make_no_sense_are_explained(backbone: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        to_rows(TEXTS, torch.device("cpu"), backbone=backbone)


@pytest.mark.parametrize("X", [np.eye(3), torch.zeros(2, 3, 4, 4, dtype=torch.uint8)])
def test_it_is_for_texts_only(X: Any) -> None:
    with pytest.raises(ValueError, match="tfidf is for texts, and X is not a list of texts"):
        to_rows(X, torch.device("cpu"), backbone="tfidf")
