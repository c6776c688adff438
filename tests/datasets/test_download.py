from __future__ import annotations

import hashlib
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdpilot.datasets.download import MAX_BYTES_OF_UNKNOWN_SIZE, MAX_FAILED_TRIES, Remote, fetch, sha256_of

CONTENT = np.random.default_rng(0).bytes(300_000)
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def get(web: Any, folder: Path, *, known: bool = True, **options: Any) -> Path:
    web.files.setdefault("/a.bin", CONTENT)
    remote = Remote(f"{web.url}/a.bin", len(CONTENT) if known else None, DIGEST if known else None)
    return fetch(remote, folder, wait=0.01, timeout=5, **options)[0]


def test_a_file_arrives_whole_and_its_digest_is_told(web: Any, tmp_path: Path) -> None:
    web.files["/a.bin"] = CONTENT
    path, digest = fetch(Remote(f"{web.url}/a.bin"), tmp_path)
    assert path.read_bytes() == CONTENT
    assert digest == DIGEST == sha256_of(path)
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_a_file_that_is_there_is_checked_and_not_asked_for(web: Any, tmp_path: Path) -> None:
    get(web, tmp_path)
    get(web, tmp_path)
    assert len(web.asked) == 1


def test_after_a_break_only_the_missing_bytes_are_asked_for(web: Any, tmp_path: Path) -> None:
    web.etags["/a.bin"], web.break_after = '"one"', [100_000, 50_000]
    assert get(web, tmp_path).read_bytes() == CONTENT
    assert web.asked == [("/a.bin", None), ("/a.bin", "bytes=100000-"), ("/a.bin", "bytes=150000-")]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    breaks=st.lists(st.integers(1, 120_000), max_size=6),
    etag=st.sampled_from(["", '"one"', 'W/"weak"']),
    ranges=st.booleans(),
    known=st.booleans(),
)
def test_wherever_a_download_breaks_off_it_ends_with_the_same_bytes(
    web: Any, tmp_path: Path, breaks: list[int], etag: str, ranges: bool, known: bool
) -> None:
    for path in tmp_path.iterdir():
        path.unlink()
    web.break_after, web.ranges, web.etags = list(breaks), ranges, {"/a.bin": etag}
    for _ in breaks:
        with suppress(ValueError):  # too often in a row without a byte more; the next call goes on
            get(web, tmp_path, known=known)
    assert get(web, tmp_path, known=known).read_bytes() == CONTENT
    assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]


def test_tries_that_bring_something_are_not_counted(web: Any, tmp_path: Path) -> None:
    web.break_after = [20_000] * (2 * MAX_FAILED_TRIES)
    assert get(web, tmp_path).read_bytes() == CONTENT
    assert len(web.asked) == 2 * MAX_FAILED_TRIES + 1


def test_a_server_that_always_fails_is_given_up_and_what_came_is_kept(web: Any, tmp_path: Path) -> None:
    web.break_after = [1000] + [0] * MAX_FAILED_TRIES
    with pytest.raises(
        ValueError, match=r"broke off after 1,000 of 300,000 bytes\); the same command goes on"
    ):
        get(web, tmp_path)
    assert (tmp_path / "a.bin.part").read_bytes() == CONTENT[:1000]
    web.asked.clear()
    assert get(web, tmp_path).read_bytes() == CONTENT
    assert web.asked == [("/a.bin", "bytes=1000-")]


def test_a_server_without_ranges_sends_all_again(web: Any, tmp_path: Path) -> None:
    web.ranges, web.break_after = False, [100_000]
    assert get(web, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("known", [True, False])
def test_a_file_that_changed_in_between_begins_again(web: Any, tmp_path: Path, known: bool) -> None:
    web.etags["/a.bin"], web.files["/a.bin"] = '"old"', CONTENT[::-1]
    web.break_after = [100_000] + [0] * MAX_FAILED_TRIES
    with pytest.raises(ValueError, match="broke off"):
        get(web, tmp_path, known=known)
    web.etags["/a.bin"], web.files["/a.bin"] = '"new"', CONTENT
    web.break_after, web.asked = [], []
    assert get(web, tmp_path, known=known).read_bytes() == CONTENT
    assert web.asked == [("/a.bin", "bytes=100000-")]


def test_a_change_is_seen_even_if_the_server_does_not_heed_if_range(web: Any, tmp_path: Path) -> None:
    (tmp_path / "a.bin.part").write_bytes(CONTENT[::-1][:1000])
    (tmp_path / "a.bin.etag").write_text('"old"')
    web.etags["/a.bin"], web.heeds = '"new"', False
    assert get(web, tmp_path, known=False).read_bytes() == CONTENT
    assert [r for _, r in web.asked] == ["bytes=1000-", None]


def test_without_digest_and_etag_nothing_old_is_trusted(web: Any, tmp_path: Path) -> None:
    (tmp_path / "a.bin.part").write_bytes(b"of another file")
    assert get(web, tmp_path, known=False).read_bytes() == CONTENT
    assert web.asked == [("/a.bin", None)]


def test_a_wrong_beginning_is_found_by_the_digest_and_replaced(web: Any, tmp_path: Path) -> None:
    (tmp_path / "a.bin.part").write_bytes(b"of another file")
    assert get(web, tmp_path).read_bytes() == CONTENT
    assert [r for _, r in web.asked] == ["bytes=15-", None]


def test_a_part_that_is_too_long_begins_again(web: Any, tmp_path: Path) -> None:
    (tmp_path / "a.bin.part").write_bytes(CONTENT + b"more")
    assert get(web, tmp_path).read_bytes() == CONTENT


def test_bytes_from_another_place_than_asked_for_are_not_taken(web: Any, tmp_path: Path) -> None:
    (tmp_path / "a.bin.part").write_bytes(CONTENT[:1000])
    web.shift = 5
    assert get(web, tmp_path).read_bytes() == CONTENT
    assert [r for _, r in web.asked] == ["bytes=1000-", None]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (CONTENT[::-1], "has the sha256 [0-9a-f]{64}, expected"),
        (CONTENT[:-1], "has 299,999 bytes, expected 300,000"),
        (CONTENT + b"!", "has 300,001 bytes, expected 300,000 at most"),
    ],
)
def test_a_file_that_is_not_the_known_one_is_not_kept(
    web: Any, tmp_path: Path, content: bytes, problem: str
) -> None:
    web.files["/a.bin"] = content
    with pytest.raises(ValueError, match=problem):
        get(web, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_digest_of_the_first_download_holds_for_the_next(web: Any, tmp_path: Path) -> None:
    web.files["/a.bin"] = b"another"
    with pytest.raises(ValueError, match="not the file of the registry"):
        get(web, tmp_path, known=False, expected=DIGEST)


def test_a_file_that_is_not_there_is_an_error_at_once(web: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="answers 404"):
        fetch(Remote(f"{web.url}/none"), tmp_path, wait=0.01)
    assert len(web.asked) == 1


def test_a_server_that_is_busy_is_asked_again(web: Any, tmp_path: Path) -> None:
    web.status = [503, 429]
    assert get(web, tmp_path).read_bytes() == CONTENT
    assert len(web.asked) == 3


def test_silence_is_not_waited_for_without_end(web: Any, tmp_path: Path) -> None:
    web.files["/a.bin"], web.gate = CONTENT, threading.Event()
    remote = Remote(f"{web.url}/a.bin", len(CONTENT), DIGEST)
    with pytest.raises(ValueError, match="timed out"):
        fetch(remote, tmp_path, wait=0.0, timeout=0.1)
    part = (tmp_path / "a.bin.part").read_bytes()
    assert part == CONTENT[: len(part)]


def test_nobody_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"cannot be downloaded .*refused"):
        fetch(Remote("http://127.0.0.1:9/a.bin"), tmp_path, wait=0.0)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/a"])
def test_only_http_is_followed(web: Any, tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match="only http and https"):
        fetch(Remote(url), tmp_path)
    web.redirect["/a.bin"] = url
    with pytest.raises(ValueError, match=r"only http and https|not allowed"):
        fetch(Remote(f"{web.url}/a.bin"), tmp_path, wait=0.0)
    assert list(tmp_path.iterdir()) == []


def test_a_redirect_to_http_is_followed(web: Any, tmp_path: Path) -> None:
    web.redirect["/b.bin"], web.files["/a.bin"] = "/a.bin", CONTENT
    path, _ = fetch(Remote(f"{web.url}/b.bin"), tmp_path)
    assert path.name == "b.bin"
    assert path.read_bytes() == CONTENT


def test_progress_ends_with_all_bytes(web: Any, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    get(web, tmp_path, known=False, progress=lambda *piece: seen.append(piece))
    assert seen[-1] == ("a.bin", len(CONTENT), len(CONTENT))
    assert [there for _, there, _ in seen] == sorted(there for _, there, _ in seen)


def test_a_stream_without_end_is_cut(web: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_BYTES_OF_UNKNOWN_SIZE >= 10**9
    monkeypatch.setattr("crowdpilot.datasets.download.MAX_BYTES_OF_UNKNOWN_SIZE", 1000)
    with pytest.raises(ValueError, match="expected 1,000 at most"):
        get(web, tmp_path, known=False)


def test_more_bytes_than_known_are_not_kept_when_no_length_is_told(web: Any, tmp_path: Path) -> None:
    web.files["/a.bin"], web.endless = CONTENT * 2, True
    with pytest.raises(ValueError, match="has more than 300,000 bytes"):
        get(web, tmp_path)
    assert (tmp_path / "a.bin.part").stat().st_size == 0
    web.files["/a.bin"] = CONTENT
    assert get(web, tmp_path).read_bytes() == CONTENT


def test_a_name_is_that_of_the_address_unless_another_is_given() -> None:
    assert Remote("https://a.org/x/s4_Dog%20data.csv?raw=1").name == "s4_Dog data.csv"
    assert Remote("https://a.org/x/1.csv", saved_as="train.csv").name == "train.csv"
