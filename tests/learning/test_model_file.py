"""A trained classifier in one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from scipy.sparse import csr_array
from torch import nn

from crowdpilot.aggregation import MODELS
from crowdpilot.learning import METHODS, CrowdClassifier
from crowdpilot.learning.data.inputs import shape_of, to_rows
from crowdpilot.learning.model_file import SavedModel, load_model, save_model
from crowdpilot.learning.training.checkpoint import Checkpoint
from crowdpilot.votes import Votes
from tests.crowds import votes_and_features

CPU = torch.device("cpu")
FITTED = [name for name in MODELS if name != "crowdlab"]  # which needs a classifier


def named_classes(classes: Any = ("cat", "dog", "owl")) -> tuple[np.ndarray, Votes]:
    """Features and votes whose classes and workers have these names, with gold for two tasks."""
    K = len(classes)
    X, votes, truth = votes_and_features(60, [0.87] * 4, K, 4, seed=0, centres=100 * np.eye(K), noise=30)
    names = np.asarray(classes) if isinstance(classes[0], (int, bool)) else np.asarray(classes, object)
    workers = np.array([7, 8, 9, "x"])[votes.worker]
    votes = Votes.of(votes.task, workers, names[votes.label], classes=list(classes))
    return X, votes.with_gold({0: classes[truth[0]], 5: classes[truth[5]]})


def trained(
    method: Any = "crowdlayer", network: Any = "mlp[hidden=8]", classes: Any = ("cat", "dog", "owl")
) -> tuple[SavedModel, np.ndarray]:
    X, votes = named_classes(classes)
    made = CrowdClassifier(network, method, epochs=3, lr=0.01).fit(X, votes)
    shape = shape_of(to_rows(X, CPU))
    settings = made.get_params(deep=False)
    return SavedModel(settings, made.method_, shape, made.classes_, votes.workers, made.history_), X


def logits(model: SavedModel, X: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return model.method(torch.as_tensor(X, dtype=torch.float32)).numpy()


@pytest.mark.parametrize("method", METHODS)
def test_a_loaded_method_predicts_what_the_saved_one_did(tmp_path: Path, method: str) -> None:
    model, X = trained(method)
    save_model(tmp_path / "m.safetensors", model)
    again = load_model(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(logits(again, X), logits(model, X))
    was, now = model.method.state_dict(), again.method.state_dict()
    assert was.keys() == now.keys()
    about = set(was) - set(model.method.task_buffers)  # posteriors of training tasks are not saved
    assert all(torch.equal(was[name], now[name]) for name in about)
    assert not again.method.training


@pytest.mark.parametrize("labels", FITTED)
def test_no_aggregator_needs_the_votes_again(tmp_path: Path, labels: str) -> None:
    model, X = trained(f"two_stage[labels='{labels}']")
    save_model(tmp_path / "m", model)
    np.testing.assert_array_equal(logits(load_model(tmp_path / "m"), X), logits(model, X))


@pytest.mark.parametrize("method", ["crowdlayer", "conal", "two_stage[labels='dawid_skene']"])
def test_what_is_known_of_workers_is_kept(tmp_path: Path, method: str) -> None:
    model, X = trained(method)
    save_model(tmp_path / "m", model)
    again = load_model(tmp_path / "m")
    assert again.workers.tolist() == model.workers.tolist()
    x = torch.as_tensor(X, dtype=torch.float32)
    with torch.no_grad():
        np.testing.assert_array_equal(again.method.predict_votes(x), model.method.predict_votes(x))
        np.testing.assert_array_equal(again.method.confusion(), model.method.confusion())


@pytest.mark.parametrize(
    "classes", [("cat", "dog", "owl"), (3, 1, 2), (False, True), ("1", "2", "10"), ("é", "a,b", "")]
)
def test_class_names_keep_their_order_and_type(tmp_path: Path, classes: tuple[object, ...]) -> None:
    model, _ = trained(classes=classes)
    save_model(tmp_path / "m", model)
    found = load_model(tmp_path / "m").classes
    assert found.dtype == model.classes.dtype
    assert [(type(name), name) for name in found.tolist()] == [(type(name), name) for name in classes]


def test_settings_and_history_are_kept(tmp_path: Path) -> None:
    model, _ = trained()
    settings = {**model.settings, "lr": np.float64(0.25), "seed": np.int64(3), "checkpoint": Path("a/b")}
    history = [{**model.history[0], "score": -np.inf}, *model.history[1:]]
    save_model(
        tmp_path / "m",
        SavedModel(settings, model.method, model.shape, model.classes, model.workers, history),
    )
    again = load_model(tmp_path / "m")
    assert again.settings == {**settings, "checkpoint": "a/b"}
    assert again.history == history
    assert again.shape == (3,)
    CrowdClassifier(**again.settings)


def test_a_network_passed_as_a_module_must_be_passed_again(tmp_path: Path) -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))
    model, X = trained(network=net)
    save_model(tmp_path / "m", model)
    with pytest.raises(ValueError, match=r"the network was not given by a name.*load\(path, network=...\)"):
        load_model(tmp_path / "m")
    blank = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3))
    np.testing.assert_array_equal(logits(load_model(tmp_path / "m", network=blank), X), logits(model, X))
    with pytest.raises(ValueError, match="do not fit its network and method"):
        load_model(tmp_path / "m", network=nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 3)))


def test_a_method_passed_as_a_function_must_be_passed_again(tmp_path: Path) -> None:
    def make(net: nn.Module, votes: Votes) -> Any:
        return METHODS["crowdlayer"](net, votes)

    model, X = trained(make)
    save_model(tmp_path / "m", model)
    with pytest.raises(ValueError, match="the method was not given by a name"):
        load_model(tmp_path / "m")
    np.testing.assert_array_equal(logits(load_model(tmp_path / "m", method=make), X), logits(model, X))


def test_what_cannot_be_saved_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    model, _ = trained()
    path = tmp_path / "m"
    save_model(path, model)
    before = path.read_bytes()
    odd = SavedModel({"lr": object()}, model.method, model.shape, model.classes, model.workers, model.history)
    with pytest.raises(ValueError, match=r"the setting lr is .* cannot be saved"):
        save_model(path, odd)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("content", [b"", b"no such thing", b"\x80\x04pickle" * 50])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(ValueError, match="cannot be read as a saved classifier") as caught:
        load_model(tmp_path / "m")
    assert "\n" not in str(caught.value)


def test_a_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    model, _ = trained()
    save_model(tmp_path / "m", model)
    whole = (tmp_path / "m").read_bytes()
    for length in (4, 100, len(whole) // 2, len(whole) - 1):
        (tmp_path / "m").write_bytes(whole[:length])
        with pytest.raises(ValueError, match="cannot be read as a saved classifier"):
            load_model(tmp_path / "m")


def test_tensors_and_checkpoints_are_no_classifiers(tmp_path: Path) -> None:
    save_file({"x": torch.zeros(2)}, tmp_path / "m")
    with pytest.raises(ValueError, match="no classifier that Crowdpilot has saved"):
        load_model(tmp_path / "m")
    model, _ = trained()
    Checkpoint(tmp_path / "c", {}).save({"method": model.method}, model.history, None)
    with pytest.raises(ValueError, match="no classifier that Crowdpilot has saved"):
        load_model(tmp_path / "c")


def test_a_file_of_a_newer_version_and_no_file_are_refused(tmp_path: Path) -> None:
    description = {"format": "crowdpilot-classifier", "version": 99}
    save_file({"x": torch.zeros(2)}, tmp_path / "m", metadata={"crowdpilot": json.dumps(description)})
    with pytest.raises(
        ValueError, match=r"version 99 of the format, but this Crowdpilot reads versions up to 1"
    ):
        load_model(tmp_path / "m")
    with pytest.raises(ValueError, match="cannot be read as a saved classifier"):
        load_model(tmp_path / "missing")


def test_a_file_whose_tensors_do_not_fit_its_settings_is_refused(tmp_path: Path) -> None:
    model, _ = trained()
    save_model(tmp_path / "m", model)
    with safe_open(tmp_path / "m", "pt") as file:
        about = file.metadata()
    tensors = load_file(tmp_path / "m")
    tensors.pop("worker_matrix")
    save_file({**tensors, "other.part": torch.zeros(1)}, tmp_path / "m", metadata=about)
    with pytest.raises(ValueError, match="do not fit its network and method"):
        load_model(tmp_path / "m")


def of_kind(kind: str) -> tuple[Any, dict[str, Any]]:
    """60 rows of some kind of X, and the settings that suit it."""
    X, _ = named_classes()
    if kind == "texts":
        return [" ".join(f"w{k}" for k in np.flatnonzero(row > 50)) for row in X], {"network": "linear"}
    if kind == "sparse":
        return csr_array(np.where(X > 50, X, 0)), {"network": "linear"}
    if kind == "images":
        pixels = np.clip(X[:, None, None] + 50, 0, 255).astype(np.uint8).repeat(8, axis=1).repeat(8, axis=2)
        return pixels, {"network": "resnet_small[width=8,blocks=1]", "augment": True, "batch_size": 16}
    return X, {"network": "mlp[hidden=8,norm=True]"}


@pytest.mark.parametrize("kind", ["numbers", "texts", "sparse", "images"])
def test_a_loaded_classifier_predicts_what_the_saved_one_did(tmp_path: Path, kind: str) -> None:
    x, settings = of_kind(kind)
    _, votes = named_classes()
    model = CrowdClassifier(method="crowdlayer", epochs=3, lr=0.01, **settings).fit(x, votes)
    model.save(tmp_path / "m.safetensors")
    again = CrowdClassifier.load(tmp_path / "m.safetensors", device="cpu")
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    with pytest.raises(ValueError, match=r"a row of X is 2, but|X has 2 features, but CrowdClassifier"):
        again.predict(np.ones((3, 2)))


def test_a_backbone_passed_as_a_function_must_be_passed_again(tmp_path: Path) -> None:
    X, votes = named_classes()

    def backbone(x: torch.Tensor) -> torch.Tensor:
        return x.abs().log1p()

    model = CrowdClassifier("linear", "crowdlayer", backbone=backbone, epochs=2).fit(X, votes)
    model.save(tmp_path / "m")
    with pytest.raises(ValueError, match="the backbone was not given by a name"):
        CrowdClassifier.load(tmp_path / "m")
    again = CrowdClassifier.load(tmp_path / "m", backbone=backbone, device="cpu")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
