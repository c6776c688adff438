from __future__ import annotations

from pathlib import Path

import pytest

from crowdpilot.service.requesters.log_sentences import PLAIN, WITH_DETAIL, other_details, write_sentence
from tests.service.harness.dashboard import DashboardService
from tests.service.harness.service import sqlite_url


@pytest.mark.parametrize("action", [*PLAIN, *WITH_DETAIL])
def test_every_action_is_a_sentence_even_without_details(action: str) -> None:
    words = write_sentence(action, {})
    assert words[0].islower()
    assert "None" not in write_sentence(action, {"items": 2, "worker": 3})


def test_an_unknown_action_stays_as_it_is_with_its_details() -> None:
    assert write_sentence("step 1.", {"a": 1}) == "step 1."
    assert other_details("step 1.", {"a": 1, "b": None}) == {"a": "1"}
    assert other_details("change settings", {"changes": {"name": [1, 2], "batch": [3, 4]}}) == {
        "changes": "name, batch"
    }


def test_the_page_says_who_did_what_and_is_filtered_by_person(tmp_path: Path) -> None:
    service = DashboardService(sqlite_url(tmp_path))
    project = service.project()
    project.add_texts(3)
    project.get("/votes")
    client, home = service.signed_in("admin"), f"/projects/{project.id}/log"
    text = client.get(home).text
    for words in ("added 3 items", "exported the votes as csv", "created the project"):
        assert words in text
    assert "<option>ann</option>" in text
    assert "added 3 items" in client.get(home, params={"actor": "ann"}).text
    nobody = client.get(home, params={"actor": "eve"}).text
    assert "added 3 items" not in nobody
    assert "Nothing matches" in nobody
    service.close()
