"""Images as rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from crowdpilot.learning import CrowdClassifier
from crowdpilot.learning.data import images
from crowdpilot.learning.data.images import ImageFiles, Images, augmented, decode
from crowdpilot.learning.data.inputs import shape_of, to_rows
from crowdpilot.votes import Votes

CPU = torch.device("cpu")


def noise(n: int, height: int = 16, width: int = 16, channels: int = 3) -> Tensor:
    return torch.from_numpy(
        np.random.default_rng(0).integers(0, 256, (n, channels, height, width)).astype(np.uint8)
    )


def save(path: Path, color: tuple[int, int, int], size: tuple[int, int] = (8, 8)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, color).save(path)
    return path


def test_files_are_scaled_to_one_size_and_keep_their_order(tmp_path: Path) -> None:
    colors = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    paths = [save(tmp_path / f"{n}.png", color, (20, 10 + n)) for n, color in enumerate(colors)]
    for x in (paths, list(map(str, paths)), tmp_path):
        rows = to_rows(x, CPU, size=6)
        assert shape_of(rows) == (3, 6, 6)
        np.testing.assert_array_equal(
            rows.take(torch.tensor([2, 0, 1]), train=False)[:, :, 3, 3], np.eye(3)[[2, 0, 1]]
        )


def test_the_middle_of_an_image_is_kept_undistorted(tmp_path: Path) -> None:
    pixels = np.zeros((10, 30, 3), np.uint8)
    pixels[:, 10:20] = 200
    Image.fromarray(pixels).save(tmp_path / "a.png")
    np.testing.assert_array_equal(decode(tmp_path / "a.png", 10), np.full((10, 10, 3), 200))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK"])
def test_images_of_any_kind_become_red_green_and_blue(tmp_path: Path, mode: str) -> None:
    path = tmp_path / ("a.tif" if mode == "CMYK" else "a.png")
    Image.new("RGB", (4, 4), (255, 255, 255)).convert(mode).save(path)
    np.testing.assert_array_equal(decode(path, 2), np.full((2, 2, 3), 255))


def test_an_image_is_turned_upright_as_its_camera_says(tmp_path: Path) -> None:
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:4] = 255
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down
    Image.fromarray(pixels).save(tmp_path / "a.png", exif=exif)
    found = decode(tmp_path / "a.png", 8)
    assert found[0].max() == 0
    assert found[-1].min() == 255


def test_files_that_do_not_fit_are_read_when_they_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [save(tmp_path / f"{n}.png", (40 * n, 0, 0)) for n in range(5)]
    kept = Images(ImageFiles(paths, 4), CPU)
    monkeypatch.setattr(images, "MAX_DECODED_BYTES", 100)
    read = Images(ImageFiles(paths, 4), CPU)
    assert isinstance(kept.pixels, Tensor)
    assert isinstance(read.pixels, ImageFiles)
    assert len(read) == 5
    rows = torch.tensor([3, 0, 3])
    np.testing.assert_array_equal(read.take(rows, train=True), kept.take(rows, train=True))


def test_a_broken_image_is_named(tmp_path: Path) -> None:
    save(tmp_path / "a.png", (0, 0, 0))
    whole = (tmp_path / "a.png").read_bytes()
    for content in (b"", b"no image", whole[: len(whole) // 2]):
        (tmp_path / "b.png").write_bytes(content)
        with pytest.raises(ValueError, match=r"b.png: cannot be read as an image") as caught:
            to_rows([tmp_path / "a.png", tmp_path / "b.png"], CPU)
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"c.png: cannot be read as an image \(No such file"):
        to_rows([tmp_path / "c.png"], CPU)


def test_a_varied_image_is_the_image_moved_and_perhaps_mirrored() -> None:
    torch.manual_seed(0)
    x = noise(200, 16, 24)
    varied = augmented(x)
    assert varied.shape == x.shape
    assert varied.dtype == torch.uint8
    turned, moves = 0, set()
    for before, after in zip(x, varied, strict=True):
        wide = torch.nn.functional.pad(before[None].float(), (3, 3, 2, 2), mode="reflect")[0]
        views = {
            (down, along, flip): (view.flip(2) if flip else view)
            for down in range(5)
            for along in range(7)
            for flip in (False, True)
            if (view := wide[:, down : down + 16, along : along + 24]) is not None
        }
        found = [where for where, view in views.items() if torch.equal(view, after.float())]
        assert len(found) == 1
        moves.add(found[0][:2])
        turned += found[0][2]
    assert len({down for down, _ in moves}) == 5
    assert len({along for _, along in moves}) == 7
    assert 60 < turned < 140


def test_images_are_varied_while_training_and_only_if_asked() -> None:
    x, rows = noise(20), torch.arange(20)
    plain, varied = Images(x, CPU), Images(x, CPU, augment=True)
    expected = x.float() / 255
    for still in (
        plain.take(rows, train=True),
        plain.take(rows, train=False),
        varied.take(rows, train=False),
    ):
        np.testing.assert_array_equal(still, expected)
    torch.manual_seed(0)
    first = varied.take(rows, train=True)
    assert not torch.equal(first, expected)
    torch.manual_seed(0)
    np.testing.assert_array_equal(varied.take(rows, train=True), first)


def test_a_classifier_learns_from_a_folder_whose_files_name_the_tasks(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 40)
    for n, t in enumerate(truth):
        color = (200, 30, 30) if t else (30, 30, 200)
        save(tmp_path / "train" / "abc"[n % 3] / f"x-{n}.png", color)
    rows = to_rows(tmp_path, CPU, size=8)
    assert isinstance(rows, Images)
    assert rows.names is not None
    assert rows.names.tolist() == list(range(40))
    order = rng.permutation(40)
    votes = Votes.of(order, np.zeros(40, int), truth[order])
    model = CrowdClassifier(
        "resnet_small[width=4,blocks=1]", "two_stage", epochs=4, lr=0.02, batch_size=8, size=8, augment=True
    ).fit(tmp_path, votes)
    assert (model.predict(tmp_path) == truth).mean() > 0.9
    one = save(tmp_path / "other.png", (200, 30, 30))
    assert model.predict([one]).tolist() == [1]
