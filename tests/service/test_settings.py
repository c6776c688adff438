from __future__ import annotations

import pytest

from crowdpilot.service.settings import Settings, load_settings


def test_a_short_secret_is_refused():
    with pytest.raises(ValueError, match="shorter than 32"):
        Settings(secret="x")


def test_the_secret_is_never_shown():
    assert "s" * 40 not in repr(Settings(secret="s" * 40))


def test_a_path_is_an_sqlite_file_with_the_secret_beside_it(tmp_path):
    found = load_settings(str(tmp_path / "a.db"), "http://127.0.0.1:8000/", environ={})
    assert found.database == f"sqlite:///{tmp_path / 'a.db'}"
    assert found.address == "http://127.0.0.1:8000"
    assert (tmp_path / "crowdpilot.secret").read_text() == found.secret
    assert load_settings(str(tmp_path / "a.db"), "https://x.org", environ={}).secret == found.secret


def test_the_environment_comes_first(tmp_path):
    found = load_settings(str(tmp_path / "a.db"), "https://x.org", environ={"CROWDPILOT_SECRET": "e" * 40})
    assert found.secret == "e" * 40
    assert found.secure
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        load_settings(str(tmp_path / "no" / "a.db"), "http://x.org", environ={})


def test_networks_of_webhooks_are_read_and_a_wrong_one_is_named(tmp_path):
    found = load_settings(
        str(tmp_path / "a.db"), "https://x.org", webhook_networks=["10.0.0.0/8", "fd12::/64"], environ={}
    )
    assert [str(network) for network in found.webhook_networks] == ["10.0.0.0/8", "fd12::/64"]
    with pytest.raises(ValueError, match=r"'10\.0\.0\.1/8' is no network"):
        load_settings(str(tmp_path / "a.db"), "https://x.org", webhook_networks=["10.0.0.1/8"], environ={})
