"""Archives of items with labels: class folders, and the layout that `datasets` of Hugging Face loads."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from crowdpilot.service.exports.file_names import Names, safe_name
from crowdpilot.service.exports.zip_stream import zip_stream
from tests.service.harness.media import wav
from tests.service.harness.service import GIF, PNG, Project, Service, sqlite_url

HF_PYTHON = os.environ.get("CROWDPILOT_DATASETS_PYTHON", "")  # of an environment with the package datasets
LOAD = """
import json, sys, datasets
loaded = datasets.load_dataset(sys.argv[1], split="train")
label = loaded.features["label"]
image = [list(image.size) for image in loaded["image"]] if "image" in loaded.features else []
print(json.dumps({"names": label.names, "labels": [label.int2str(n) for n in loaded["label"]],
                  "ids": list(loaded["id"]), "image": image, "columns": sorted(loaded.features)}))
"""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(sqlite_url(tmp_path))
    yield made
    made.close()


@pytest.fixture
def pictures(service: Service) -> Project:
    """Three pictures with votes, two of them called alike, and an item at an address."""
    project = service.project(classes=["bad", "../good: 1"])
    sent = [("file", (name, data, "image/png")) for name, data in
            {"a/1.png": PNG, "b/1.png": GIF, "CON.png": PNG[:-12] + PNG[-12:]}.items()]  # fmt: skip
    assert project.post("/items", files=sent).status_code == 201
    project.add({"name": "far", "image": "https://example.org/far.png"})
    names = ("a/1.png", "b/1.png", "CON.png", "far")
    for worker in ("ann", "bob", "eve"):
        project.add_votes(*((name, worker, ["bad", "../good: 1"][n % 2]) for n, name in enumerate(names)))
    return project


@pytest.fixture
def mixed(pictures: Project) -> Project:
    """The same with a sound and a text."""
    sent = [("file", ("caw.wav", wav(), "audio/wav"))]
    assert pictures.post("/items", files=sent).status_code == 201
    pictures.add({"name": "words", "text": "Some words."})
    return pictures


def opened(answer: Any) -> zipfile.ZipFile:
    assert answer.status_code == 200, answer.text
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert archive.testzip() is None
    return archive


def test_items_lie_in_folders_of_their_labels_under_safe_names(pictures: Project) -> None:
    archive = opened(pictures.get("/dataset?format=class-folders"))
    assert sorted(archive.namelist()) == [
        "_good_ 1/b_1.png.gif", "bad/_CON.png", "bad/a_1.png", "items.csv",
    ]  # fmt: skip
    assert archive.read("bad/a_1.png") == PNG
    rows = list(csv.DictReader(io.StringIO(archive.read("items.csv").decode())))
    assert [row["file"] for row in rows] == ["bad/a_1.png", "_good_ 1/b_1.png.gif", "bad/_CON.png", ""]
    assert rows[0]["majority"] == rows[0]["label"] == "bad"
    assert (rows[0]["votes"], rows[0]["decided_by"]) == ("3", "votes")


def test_texts_are_files_too_and_uncertain_items_can_be_left_out(service: Service) -> None:
    project = service.project()
    project.add_texts(4)
    for worker in ("ann", "bob", "eve"):
        project.add_votes(("i0", worker, "bad"), ("i1", worker, "good"))
    everything = opened(project.get("/dataset")).namelist()
    assert {"bad/i0.txt", "good/i1.txt"} <= {*everything}
    assert len(everything) == 5
    certain = opened(project.get("/dataset?confidence=0.8")).namelist()
    assert sorted(certain) == ["bad/i0.txt", "good/i1.txt", "items.csv"]
    assert project.get("/dataset?confidence=2").status_code == 422
    assert project.get("/dataset?format=rar").status_code == 422


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "a/b", "a\\b", "..", ".", "", "a\x00b", "x" * 500, "C:\\x", "nul.png", "\u202eexe"],
)
def test_no_name_leads_anywhere(name: str) -> None:
    made = safe_name(name)
    assert made not in ("", ".", "..")
    assert not {*made} & {*'/\\:*?"<>|\x00\u202e'}
    assert len(made) <= 121


def test_names_that_are_alike_are_kept_apart() -> None:
    names = Names()
    taken = [names.take("a/", name, ".png") for name in ("x.png", "X.png", "x", "x (2)", "y")]
    assert taken == ["a/x.png", "a/X (2).png", "a/x (3).png", "a/x (2) (2).png", "a/y.png"]


def test_an_archive_is_made_one_entry_at_a_time() -> None:
    """What is asked for is what is read: no entry before its turn."""
    asked = []

    def entries() -> Iterator[tuple[str, bytes]]:
        for n in range(3):
            asked.append(n)
            yield f"{n}.png", bytes(1000)

    pieces = zip_stream(entries())
    next(pieces)
    assert asked == [0]
    assert zipfile.ZipFile(io.BytesIO(b"".join(zip_stream(entries())))).namelist() == [
        "0.png",
        "1.png",
        "2.png",
    ]


def test_the_card_names_the_classes_and_hostile_names_stay_texts(pictures: Project) -> None:
    archive = opened(pictures.get("/dataset?format=hugging-face"))
    card = archive.read("README.md").decode()
    assert "class_label" in card
    assert "'1': \"../good: 1\"" in card
    table = pq.read_table(io.BytesIO(archive.read("data/train/metadata.parquet")))
    assert {*table["file_name"].to_pylist()} == {"a_1.png", "b_1.png.gif", "_CON.png"}
    assert "`datasets` 3.5.0 and later" in card


def test_items_without_such_a_file_are_data_sets_of_their_own(mixed: Project) -> None:
    archive = opened(mixed.get("/dataset?format=hugging-face"))
    folders = {name.partition("/")[0] for name in archive.namelist()}
    assert folders == {"README.md", "data", "audio", "without_files"}
    card = archive.read("README.md").decode()
    assert "3 items, labelled by people" in card
    assert "- `audio`: 1 item" in card
    assert "- `without_files`: 2 items" in card
    sounds = pq.read_table(io.BytesIO(archive.read("audio/data/train/metadata.parquet")))
    assert archive.read(f"audio/data/train/{sounds['file_name'][0]}") == wav()
    rest = pq.read_table(io.BytesIO(archive.read("without_files/data/train-00000-of-00001.parquet")))
    assert rest["id"].to_pylist() == ["far", "words"]
    assert rest["image_address"].to_pylist() == ["https://example.org/far.png", ""]
    assert rest["text"].to_pylist() == ["", "Some words."]
    ids = {row for name in archive.namelist() if name.endswith(".parquet")
           for row in pq.read_table(io.BytesIO(archive.read(name)))["id"].to_pylist()}  # fmt: skip
    assert ids == set(mixed.decisions())


def test_texts_are_parquet_with_features(service: Service) -> None:
    project = service.project(name='A "quoted"\n---\nname: x')
    project.add_texts(3)
    project.add_votes(("i0", "ann", "bad"))
    archive = opened(project.get("/dataset?format=hugging-face"))
    table = pq.read_table(io.BytesIO(archive.read("data/train-00000-of-00001.parquet")))
    features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert features["label"] == {"names": ["bad", "good"], "_type": "ClassLabel"}
    assert table["id"].to_pylist() == ["i0", "i1", "i2"]
    assert archive.read("README.md").decode().count("\n---\n") == 1


@pytest.mark.thorough
@pytest.mark.skipif(
    not HF_PYTHON, reason="CROWDPILOT_DATASETS_PYTHON names no Python that has the package datasets"
)
def test_the_package_datasets_loads_texts_and_pictures(
    mixed: Project, service: Service, tmp_path: Path
) -> None:
    texts = service.project(name="Texts: # 1")
    texts.add_texts(3)
    for worker in ("ann", "bob", "eve"):
        texts.add_votes(("i0", worker, "bad"), ("i1", worker, "good"), ("i2", worker, "good"))
    for name, project in {"texts": texts, "pictures": mixed}.items():
        opened(project.get("/dataset?format=hugging-face")).extractall(tmp_path / name)
    found = {}
    for name in ("texts", "pictures", "pictures/audio", "pictures/without_files"):
        run = subprocess.run(
            [HF_PYTHON, "-c", LOAD, str(tmp_path / name)], capture_output=True, text=True, timeout=120,
            env={"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "PATH": os.environ["PATH"]},
        )  # fmt: skip
        if name.endswith("audio") and "please install 'torchcodec'" in run.stderr:
            continue  # which sounds need since version 4
        assert run.returncode == 0, run.stderr
        found[name] = json.loads(run.stdout.splitlines()[-1])
    assert found["texts"]["labels"] == ["bad", "good", "good"]
    assert found["pictures"]["names"] == ["bad", "../good: 1"]
    assert dict(zip(found["pictures"]["ids"], found["pictures"]["labels"], strict=True)) == {
        "a/1.png": "bad", "b/1.png": "../good: 1", "CON.png": "bad",
    }  # fmt: skip
    assert found["pictures"]["image"] == [[1, 1]] * 3
    if "pictures/audio" in found:
        assert found["pictures/audio"]["ids"] == ["caw.wav"]
        assert "audio" in found["pictures/audio"]["columns"]
    assert found["pictures/without_files"]["ids"] == ["far", "words"]
    assert all(part["names"] == ["bad", "../good: 1"] for name, part in found.items() if name != "texts")


def test_archives_of_other_projects_are_not_found(service: Service) -> None:
    other = Project(service, "0" * 12, "")
    for path in ("/dataset", "/dataset?format=hugging-face", "/comments"):
        assert other.get(path).status_code == 404
