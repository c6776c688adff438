"""The best of many settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdpilot import metrics
from crowdpilot.io import from_shares
from crowdpilot.learning import CrowdClassifier, tune

RNG = np.random.default_rng(0)
X, OTHER = RNG.normal(size=(200, 3)), RNG.normal(size=(100, 3))
TRUTH, KNOWN = (X[:, 0] > 0).astype(int), (OTHER[:, 0] > 0).astype(int)
MODEL = CrowdClassifier("linear", "two_stage", epochs=3)


@pytest.mark.parametrize("by", ["log_loss", "accuracy", "macro_f1"])
def test_the_best_combination_is_returned(by: Any) -> None:
    grid = {"lr": [1e-6, 0.1, 0.01], "weight_decay": [0.0, 1.0]}
    rows: list[dict[str, Any]] = []
    best, tried = tune(MODEL, grid, X, TRUTH, (OTHER, KNOWN), by=by, on_result=rows.append)
    assert rows == tried
    assert {(row["lr"], row["weight_decay"]) for row in tried} == {
        (lr, decay) for lr in grid["lr"] for decay in grid["weight_decay"]
    }
    probs = best.predict_proba(OTHER)
    (row,) = (r for r in tried if (r["lr"], r["weight_decay"]) == (best.lr, best.weight_decay))
    assert row["log_loss"] == pytest.approx(metrics.log_loss(KNOWN, probs))
    assert row["macro_f1"] == pytest.approx(metrics.macro_f1(KNOWN, probs.argmax(axis=1)))
    scores = [r[by] for r in tried]
    assert row[by] == (min(scores) if by == "log_loss" else max(scores))


def test_it_trains_as_the_classifier_alone_does() -> None:
    best, _ = tune(MODEL, {"lr": [0.05]}, X, TRUTH, (OTHER, KNOWN))
    alone = CrowdClassifier("linear", "two_stage", epochs=3, lr=0.05).fit(X, TRUTH, validation=(OTHER, KNOWN))
    np.testing.assert_array_equal(best.predict_proba(OTHER), alone.predict_proba(OTHER))


def test_a_backbone_works_once_for_all_settings() -> None:
    seen: list[int] = []

    def backbone(x: Any) -> Any:
        seen.append(len(x))
        return x

    model = CrowdClassifier("linear", "two_stage", epochs=1, backbone=backbone)
    tune(model, {"lr": [0.1, 0.01], "network": ["linear", "mlp"]}, X, TRUTH, (OTHER, KNOWN))
    assert sum(seen) == 300


def test_words_are_learned_from_the_training_texts_for_each_backbone() -> None:
    def texts(x: np.ndarray) -> list[str]:
        return [" ".join(f"w{k}{v > 0}" for k, v in enumerate(row)) for row in x]

    new = texts(OTHER)
    new[0] = "other words"
    model = CrowdClassifier("linear", "two_stage", epochs=10, lr=0.05)
    grid = {"backbone": ["tfidf[ngrams=1]", "tfidf[features=1]"]}
    best, tried = tune(model, grid, texts(X), TRUTH, (new, KNOWN))
    assert best.backbone == "tfidf[ngrams=1]"
    assert best.shape_ == (6,)
    assert best.score(texts(OTHER), KNOWN) == 1
    assert [row["backbone"] for row in tried] == grid["backbone"]


def test_shares_can_be_learned_from_and_tuned_by() -> None:
    shares = np.column_stack([1 - KNOWN, KNOWN]) * 0.8 + 0.1
    best, _ = tune(MODEL, [{"lr": [0.01]}, {"epochs": [5], "lr": [0.1]}],
                   X, from_shares(np.eye(2)[TRUTH]), (OTHER, from_shares(shares)))  # fmt: skip
    assert best.lr == 0.1


def test_each_combination_has_a_checkpoint_of_its_own(tmp_path: Path) -> None:
    model = CrowdClassifier("linear", "two_stage", epochs=2, checkpoint=tmp_path)
    first = tune(model, {"lr": [0.1, 0.01]}, X, TRUTH, (OTHER, KNOWN))
    again = tune(model, {"lr": [0.1, 0.01]}, X, TRUTH, (OTHER, KNOWN))
    assert len(list(tmp_path.iterdir())) == 2
    np.testing.assert_array_equal(first.model.predict_proba(X), again.model.predict_proba(X))


def test_mistakes_are_explained() -> None:
    with pytest.raises(ValueError, match="by is 'ece', expected one of log_loss, accuracy, macro_f1"):
        tune(MODEL, {}, X, TRUTH, (OTHER, KNOWN), by="ece")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the grid names 'rate', which is no setting of CrowdClassifier"):
        tune(MODEL, {"rate": [1]}, X, TRUTH, (OTHER, KNOWN))
