"""Networks by name, what comes in front of them, and what is checked about them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from scipy.sparse import csr_array
from torch import nn

from crowdpilot.learning import NETWORKS, CrowdClassifier
from crowdpilot.learning.data.frozen_features import embed
from crowdpilot.learning.data.images import Images
from crowdpilot.learning.data.rows import Dense, Sparse
from crowdpilot.learning.layers import Standardize, standardize_layer
from crowdpilot.learning.networks.small_resnet import resnet_small
from crowdpilot.learning.networks.vision import fit_stem, head_of, is_vision, without_head
from crowdpilot.learning.registry import make_network

CPU = torch.device("cpu")
X = torch.as_tensor(np.random.default_rng(0).normal(size=(50, 4)), dtype=torch.float32)
PIXELS = torch.randint(0, 256, (6, 3, 16, 16), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def dense(x: torch.Tensor) -> Dense:
    return Dense(x, CPU)


@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "transformer"])  # which has a folder
def test_a_network_gives_one_number_for_each_class(name: str) -> None:
    rows = Images(PIXELS, CPU) if "resnet" in name else dense(X)
    net = make_network(name, rows, 5)
    assert net(rows.take(torch.arange(6), train=False)).shape == (6, 5)
    assert net(rows.take(torch.arange(1), train=False)).shape == (1, 5)


def test_options_stand_in_brackets() -> None:
    net = make_network("MLP[hidden=7, layers=2, norm=True]", dense(X), 3, standardize=False)
    shapes = [tuple(m.weight.shape) for m in net.modules() if isinstance(m, nn.Linear)]
    assert shapes == [(7, 4), (7, 7), (3, 7)]
    assert sum(isinstance(m, nn.BatchNorm1d) for m in net.modules()) == 2


def test_a_module_is_copied_and_a_function_is_called_with_the_sizes() -> None:
    module = nn.Linear(4, 3)
    net = make_network(module, dense(X), 3, standardize=False)
    assert net is not module
    np.testing.assert_array_equal(net(X).detach(), module(X).detach())
    sizes: list[int] = []
    make_network(lambda f, k: sizes.extend([f, k]) or nn.Linear(f, k), dense(X), 3)
    make_network(lambda f, k: sizes.extend([f, k]) or resnet_small(f, k, width=2), Images(PIXELS, CPU), 2)
    assert sizes == [4, 3, 3, 2]


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Linear(4, 5), r"the network gives 5 numbers for a row of X, expected 3 \(classes\)"),
        (nn.Unflatten(1, (2, 2)), "the network gives 3 dimensions of numbers"),
        (nn.Linear(5, 3), r"the network cannot be applied to a row of X, which is 4 \(mat1"),
        (nn.LSTM(4, 3), "the network cannot be applied"),
        ("resnet_small", "the network cannot be applied to a row of X, which is 4"),
        ("mpl", "no network is called 'mpl'; did you mean mlp?"),
        ("mlp[hiden=2]", "mlp has no option 'hiden'; its options are: hidden, layers, dropout, norm"),
    ],
)
def test_a_network_that_does_not_fit_is_explained_in_one_sentence(network: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        make_network(network, dense(X), 3)
    assert "\n" not in str(caught.value)


def test_rows_of_numbers_and_images_want_different_networks() -> None:
    with pytest.raises(ValueError, match=r"which is 3x16x16 .*for images there is resnet_small"):
        make_network("mlp", Images(PIXELS, CPU), 3)


# A common scale --------------------------------------------------------------------------------


def test_columns_get_mean_zero_and_deviation_one() -> None:
    x = X * torch.tensor([1e6, 1e-6, 1.0, 10.0]) + torch.tensor([1e6, 0.0, -5.0, 1e3])
    found = standardize_layer(dense(x))(x)
    np.testing.assert_allclose(found.mean(dim=0), np.zeros(4), atol=1e-3)
    np.testing.assert_allclose(found.std(dim=0, correction=0), np.ones(4), rtol=1e-3)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e30, -3e-30, 16777217.0])
def test_what_is_the_same_in_all_rows_becomes_zero(value: float) -> None:
    x = torch.cat([X, torch.full((50, 1), value)], dim=1)
    layer = standardize_layer(dense(x))
    np.testing.assert_array_equal(layer(x)[:, 4], np.zeros(50))
    assert torch.isfinite(layer(x + 1)).all()


def test_a_single_row_has_no_deviation() -> None:
    np.testing.assert_array_equal(standardize_layer(dense(X[:1]))(X[:1]), np.zeros((1, 4)))


def test_images_are_scaled_by_channel() -> None:
    rows = Images(PIXELS, CPU)
    x = rows.take(torch.arange(6), train=False)
    found = standardize_layer(rows)(x)
    np.testing.assert_allclose(found.mean(dim=(0, 2, 3)), np.zeros(3), atol=1e-5)
    np.testing.assert_allclose(found.std(dim=(0, 2, 3), correction=0), np.ones(3), rtol=1e-4)


def test_features_of_a_backbone_keep_the_proportions_of_their_columns() -> None:
    x = X * torch.tensor([1.0, 2.0, 3.0, 400.0]) + 5
    found = standardize_layer(Dense(x, CPU, one_scale=True))(x)
    np.testing.assert_allclose(found.mean(dim=0), np.zeros(4), atol=1e-5)
    ratio = found.std(dim=0) / x.std(dim=0)
    np.testing.assert_allclose(ratio, np.full(4, ratio[0]), rtol=1e-4)
    np.testing.assert_allclose((found**2).mean(), 1, rtol=1e-4)
    assert embed(nn.Identity(), dense(X), CPU).one_scale


def test_a_sparse_matrix_keeps_its_zeros_and_the_proportions_of_its_numbers() -> None:
    x = np.array([[300.0, 0], [0, 400], [0, 0]], np.float32)
    found = standardize_layer(Sparse(csr_array(x)))(torch.as_tensor(x))
    np.testing.assert_allclose(found, x / np.sqrt((300**2 + 400**2) / 2), rtol=1e-6)
    empty = standardize_layer(Sparse(csr_array((3, 2), dtype=np.float32)))
    np.testing.assert_array_equal(empty(torch.ones(1, 2)), np.ones((1, 2)))


def test_more_rows_than_are_looked_at_give_about_the_same_scale() -> None:
    x = torch.as_tensor(np.random.default_rng(0).normal(3, 2, (50_000, 1)), dtype=torch.float32)
    layer = standardize_layer(dense(x))
    assert abs(float(layer.mean) - 3) < 0.1
    assert abs(float(layer.scale) - 2) < 0.1


def test_the_scale_is_part_of_the_network_and_can_be_left_out() -> None:
    net = make_network("linear", dense(X), 3)
    assert {"0.mean", "0.scale"} < net.state_dict().keys()
    assert not any(
        isinstance(m, Standardize) for m in make_network("linear", dense(X), 3, standardize=False).modules()
    )


# The small residual network --------------------------------------------------------------------


@pytest.mark.parametrize("size", [8, 15, 32])
def test_the_small_residual_network_takes_images_of_any_size(size: int) -> None:
    net = resnet_small(1, 4, width=4)
    assert net(torch.zeros(2, 1, size, size)).shape == (2, 4)


def test_each_stage_halves_the_image_and_doubles_the_channels() -> None:
    net = resnet_small(3, 2, width=4, blocks=1, stages=3)
    shapes: list[tuple[int, ...]] = []
    for layer in net:
        layer.register_forward_hook(lambda _, __, out: shapes.append(tuple(out.shape[1:])))
    net(torch.zeros(2, 3, 16, 16))
    assert shapes[2:6] == [(4, 16, 16), (4, 16, 16), (8, 8, 8), (16, 4, 4)]


def test_the_small_residual_network_learns_what_may_stand_anywhere() -> None:
    """Where a dot stands says nothing, how wide it is does."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 96)
    x = np.zeros((96, 12, 12, 1), np.uint8)
    for image, t, (i, j) in zip(x, truth, rng.integers(1, 10, (96, 2)), strict=True):
        image[i : i + 1 + t, j : j + 1 + t] = 100 if t else 255
    model = CrowdClassifier("resnet_small[width=8,blocks=1]", "two_stage", epochs=6, lr=0.01, batch_size=16)
    assert model.fit(x[:64], truth[:64]).score(x[64:], truth[64:]) > 0.9


# Networks of torchvision ------------------------------------------------------------------------


class Tiny(nn.Module):
    """Laid out like a residual network of torchvision."""

    def __init__(self, num_classes: int = 1000) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 7, 2, 3, bias=False)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer = nn.Sequential(nn.Conv2d(8, 6, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(2))
        self.fc = nn.Linear(6, num_classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.layer(self.maxpool(self.conv1(x))).mean(dim=(2, 3)))


@pytest.fixture
def torchvision(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torchvision that has one network; the real one is tried where it is installed."""
    models: Any = ModuleType("torchvision.models")
    models.list_models = lambda module: ["resnet18", "googlenet"]
    models.get_model = lambda name, weights, num_classes: Tiny(num_classes)
    package: Any = ModuleType("torchvision")
    package.models = models
    monkeypatch.setitem(sys.modules, "torchvision", package)
    monkeypatch.setitem(sys.modules, "torchvision.models", models)


@pytest.mark.parametrize(
    "name", ["resnet18", "ResNet-50[pretrained=True]", "vgg16_bn", "vit_b_16", "mobilenet_v3_small"]
)
def test_without_torchvision_its_networks_say_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    monkeypatch.setitem(sys.modules, "torchvision.models", None)
    with pytest.raises(ValueError, match=r'needs torchvision: pip install "crowdpilot\[vision\]"'):
        make_network(name, Images(PIXELS, CPU), 3)


def test_torchvision_is_not_loaded_for_our_own_networks() -> None:
    assert not any(is_vision(name) for name in NETWORKS)


@pytest.mark.usefixtures("torchvision")
def test_a_network_of_torchvision_gets_the_classes_and_channels_there_are() -> None:
    for channels in (1, 3):
        rows = Images(PIXELS[:, :channels], CPU)
        net = make_network("ResNet18", rows, 5)
        assert net(rows.take(torch.arange(6), train=False)).shape == (6, 5)
    with pytest.raises(ValueError, match="no network is called 'resnet19'; did you mean resnet18"):
        make_network("resnet19", Images(PIXELS, CPU), 5)
    with pytest.raises(ValueError, match="its options are: pretrained, weights, small"):
        make_network("resnet18[tiny=True]", Images(PIXELS, CPU), 5)


@pytest.mark.usefixtures("torchvision")
def test_for_small_images_the_first_layers_keep_their_size() -> None:
    net = make_network("resnet18[small=True]", Images(PIXELS, CPU), 5, standardize=False)
    conv, pool = net.get_submodule("conv1"), net.get_submodule("maxpool")
    assert pool(conv(torch.zeros(1, 3, 32, 32))).shape == (1, 8, 32, 32)
    assert isinstance(net.get_submodule("layer.2"), nn.MaxPool2d)  # only the first one is left out


@pytest.mark.usefixtures("torchvision")
@pytest.mark.parametrize("suffix", [".safetensors", ".pth"])
def test_weights_come_from_a_file_but_for_the_last_layer(tmp_path: Path, suffix: str) -> None:
    trained, path = Tiny(1000), tmp_path / f"w{suffix}"
    if suffix == ".pth":
        torch.save(trained.state_dict(), path)
    else:
        save_file(trained.state_dict(), path)
    net = make_network(f"resnet18[weights='{path}']", Images(PIXELS, CPU), 5, standardize=False)
    np.testing.assert_array_equal(net.get_submodule("conv1").weight.detach(), trained.conv1.weight.detach())
    assert net.get_submodule("fc").weight.shape == (5, 6)
    blank = make_network(f"resnet18[weights='{path}']", Images(PIXELS, CPU), 5, standardize=False, blank=True)
    assert not torch.equal(blank.get_submodule("conv1").weight, trained.conv1.weight)


@pytest.mark.usefixtures("torchvision")
def test_weights_that_do_not_fit_are_explained_in_one_sentence(tmp_path: Path) -> None:
    good = Tiny().state_dict()
    wrong = {
        "lost": {k: v for k, v in good.items() if k != "conv1.weight"},
        "more": {**good, "extra.weight": torch.zeros(1)},
        "size": {**good, "conv1.weight": torch.zeros(8, 3, 3, 3)},
    }
    for name, state in wrong.items():
        save_file(state, tmp_path / f"{name}.safetensors")
    (tmp_path / "text.pth").write_text("no weights")
    for file in [*(f"{name}.safetensors" for name in wrong), "text.pth", "missing.pth"]:
        with pytest.raises(ValueError, match=file) as caught:
            make_network(f"resnet18[weights='{tmp_path / file}']", Images(PIXELS, CPU), 5)
        assert "\n" not in str(caught.value)


def test_a_network_of_patches_takes_other_channels_but_has_no_form_for_small_images() -> None:
    patches = nn.Sequential(nn.Conv2d(3, 8, 16, 16), nn.Flatten(), nn.Linear(32, 2))
    fit_stem(patches, 1, small=False)
    assert patches(torch.zeros(2, 1, 32, 32)).shape == (2, 2)
    with pytest.raises(ValueError, match="has no form for small ones"):
        fit_stem(patches, 3, small=True)


def test_without_its_head_a_network_gives_features() -> None:
    net = Tiny()
    assert head_of(net) == "fc"
    assert without_head(net)(torch.zeros(2, 3, 32, 32)).shape == (2, 6)


@pytest.mark.parametrize(
    "name", ["resnet18", "vgg11_bn", "efficientnet_b0", "mobilenet_v3_small", "densenet121"]
)
def test_real_networks_of_torchvision_fit_where_it_is_installed(name: str) -> None:
    pytest.importorskip("torchvision")
    rows = Images(torch.zeros(2, 3, 32, 32, dtype=torch.uint8), CPU)
    net = make_network(f"{name}[small=True]", rows, 7)
    assert net(rows.take(torch.arange(2), train=False)).shape == (2, 7)
