"""Imports from a real S3 server on this machine (that of moto), with the credentials of the service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
import s3fs
from moto.server import ThreadedMotoServer

from crowdpilot.service.jobs.imports import reading
from tests.service.harness.service import GIF, PNG, Service, sqlite_url
from tests.service.harness.waiting import free_port

pytestmark = pytest.mark.thorough
BUCKET = "birds"


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of an S3 server that the service reads from by its environment."""
    port = free_port()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    server.start()
    address = f"http://127.0.0.1:{port}"
    settings = {"AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    for name, value in {**settings, "AWS_DEFAULT_REGION": "us-east-1"}.items():
        monkeypatch.setenv(name, value)
    client = boto3.client("s3", endpoint_url=address)
    client.create_bucket(Bucket=BUCKET)
    yield client
    server.stop()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(sqlite_url(tmp_path), import_from=(f"s3://{BUCKET}/items/",))
    yield made
    made.close()


def imported(service: Service, project: Any, address: str) -> dict[str, Any]:
    answer = project.post("/import", json={"address": address})
    assert answer.status_code == 202, answer.text
    service.do_jobs()
    end: dict[str, Any] = project.get("/import").json()
    return end


def test_a_folder_and_a_table_in_s3_are_imported(service: Service, s3: Any) -> None:
    for key, data in {
        "items/bad/1.png": PNG,
        "items/good/2.gif": GIF,
        "items/.keep": b"",
        "secret/x.txt": b"x",
    }.items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=data)
    project = service.project()
    end = imported(service, project, f"s3://{BUCKET}/items/")
    assert (end["items"], end["why"]) == (2, "")
    assert {name: row["gold"] for name, row in project.decisions().items()} == {
        "1.png": "bad",
        "2.gif": "good",
    }
    s3.put_object(Bucket=BUCKET, Key="items/table.csv", Body=b"name,text\na,Good.\nb,Bad.\n")
    assert imported(service, project, f"s3://{BUCKET}/items/table.csv")["items"] == 2
    assert len(project.decisions()) == 4


def test_a_folder_of_many_objects_is_read_page_by_page_until_there_are_too_many(
    service: Service, s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(1100):  # a listing of S3 has a thousand
        s3.put_object(Bucket=BUCKET, Key=f"items/many/{n}.txt", Body=f"Text {n}.".encode())
    project = service.project()
    assert imported(service, project, f"s3://{BUCKET}/items/many/")["items"] == 1100
    calls: list[str] = []
    call = s3fs.S3FileSystem._call_s3

    def noted(self: Any, method: str, *args: Any, **more: Any) -> Any:
        calls.append(method)
        return call(self, method, *args, **more)

    monkeypatch.setattr(s3fs.S3FileSystem, "_call_s3", noted)
    monkeypatch.setattr(reading, "MAX_FILES", 10)
    assert "more than 10 files" in imported(service, project, f"s3://{BUCKET}/items/many/")["why"]
    assert calls.count("list_objects_v2") == 1


def test_what_is_missing_or_forbidden_is_said_in_one_sentence(
    service: Service, s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = service.project()
    assert "nothing at this address" in imported(service, project, f"s3://{BUCKET}/items/none/")["why"]
    for other in (f"s3://{BUCKET}/secret/", f"s3://{BUCKET}/items/../secret/", "s3://other/items/"):
        assert project.post("/import", json={"address": other}).status_code == 403
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    assert "cannot be read" in imported(service, project, f"s3://{BUCKET}/items/")["why"]
    assert project.decisions() == {}
