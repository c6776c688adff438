"""Resumable download of files over HTTP, checked by size and sha256."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.message import Message
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

CHUNK_BYTES = 1 << 16
MAX_BYTES_OF_UNKNOWN_SIZE = 1 << 30  # of a file whose size the registry does not know
MAX_FAILED_TRIES = 5  # in a row, each without a new byte
FIRST_WAIT_SECONDS = 1.0  # before the second try; twice as many before each later one
TIMEOUT_SECONDS = 30.0  # without an answer
RETRIED_STATUS_CODES = frozenset((408, 425, 429, 500, 502, 503, 504))  # errors that may pass

Progress = Callable[[str, int, int | None], None]  # the file, bytes that are there, and in all


@dataclass(frozen=True)
class Remote:
    """A file on the web; what is not known of it is None."""

    url: str
    size: int | None = None
    sha256: str | None = None
    saved_as: str | None = None

    @property
    def name(self) -> str:
        """What the file is called here."""
        return self.saved_as or unquote(urlsplit(self.url).path.rpartition("/")[2])


class _TransientError(Exception):
    """The connection or the server failed in a way that may pass."""


class _StalePartError(Exception):
    """The part that was downloaded earlier does not fit the file of the server."""


def fetch(
    remote: Remote,
    folder: Path,
    *,
    expected: str | None = None,
    progress: Progress | None = None,
    wait: float = FIRST_WAIT_SECONDS,
    timeout: float = TIMEOUT_SECONDS,
) -> tuple[Path, str]:
    """The file in this folder and its sha256; the bytes of an earlier try are not asked for again.

    Parameters
    ----------
    remote
        What to download. Only http and https are followed.
    folder
        Where it is put; what is not yet complete is called `NAME.part`.
    expected
        The sha256 it must have if the registry does not know one, such as that of an earlier download.
    progress
        Called after each piece.
    wait, timeout
        Seconds before another try, and of silence before one is given up.
    """
    target, expected = folder / remote.name, remote.sha256 or expected
    if target.is_file():
        return target, _check(remote, target, expected)
    part = _part(target)
    was_begun = part.is_file()
    _download_missing(remote, part, expected, progress, wait, timeout)
    try:
        digest = _check(remote, part, expected)
    except ValueError:
        if not was_begun:
            raise
        # the part that was there may have been of another file
        _download_missing(remote, part, expected, progress, wait, timeout)
        digest = _check(remote, part, expected)
    part.replace(target)
    _etag_file(target).unlink(missing_ok=True)
    return target, digest


def sha256_of(path: Path) -> str:
    """The sha256 of a file, in 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _part(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _etag_file(target: Path) -> Path:
    """The file with the ETag of what has been downloaded in part."""
    return target.with_name(f"{target.name}.etag")


def _check(remote: Remote, path: Path, expected: str | None) -> str:
    """The digest of a file that is as expected; any other is removed."""
    size, digest = path.stat().st_size, sha256_of(path)
    problem = None
    if remote.size not in (None, size):
        problem = f"has {size:,} bytes, expected {remote.size:,}"
    elif expected not in (None, digest):
        problem = f"has the sha256 {digest}, expected {expected}"
    if problem is None:
        return digest
    path.unlink()
    _etag_file(path.with_name(remote.name)).unlink(missing_ok=True)
    raise ValueError(f"{remote.url} {problem}: it is not the file of the registry, and was removed")


def _download_missing(
    remote: Remote, part: Path, expected: str | None, progress: Progress | None, wait: float, timeout: float
) -> None:
    """Download until nothing is missing; tries that bring new bytes do not count as failed."""
    failed = 0
    while True:
        before = _size(part)
        try:
            _download_rest(remote, part, expected is not None, progress, timeout)
            return
        except _StalePartError:
            part.unlink(missing_ok=True)
            failed += 1
        except _TransientError as error:
            failed = 0 if _size(part) > before else failed + 1
            if failed >= MAX_FAILED_TRIES:
                raise ValueError(
                    f"{remote.url} cannot be downloaded ({error}); the same command goes on where it stopped"
                ) from None
            time.sleep(wait * 2 ** max(0, failed - 1))
        if failed >= MAX_FAILED_TRIES:
            raise ValueError(
                f"{remote.url} cannot be downloaded (the server gives other parts than asked for)"
            )


def _max_size(remote: Remote) -> int:
    return remote.size or MAX_BYTES_OF_UNKNOWN_SIZE


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _download_rest(
    remote: Remote, part: Path, is_known: bool, progress: Progress | None, timeout: float
) -> None:
    """Request the bytes that are missing, and append them to the part that is there."""
    mark = _etag_file(part.with_name(remote.name))
    etag = mark.read_text() if mark.is_file() else ""
    start = _size(part) if is_known or etag else 0  # else nobody could tell that the file has changed
    if start and start == remote.size:
        return
    with _request(remote.url, start, etag, timeout) as answer:
        start, total = _parse_range(answer, start)
        if (total or 0) > _max_size(remote):
            raise ValueError(f"{remote.url} has {total:,} bytes, expected {_max_size(remote):,} at most")
        before, etag = etag, answer.headers.get("ETag", "")
        if start and before and etag not in ("", before):
            raise _StalePartError  # the file has changed, and the server does not heed If-Range
        with part.open("r+b" if start else "wb") as file:
            file.truncate(start)
            file.seek(start)
            mark.write_text("" if etag.startswith("W/") else etag)  # of what the file holds from now on
            _save(answer, file, remote, total, progress)


def _parse_range(answer: Any, start: int) -> tuple[int, int | None]:
    """Where the bytes of the answer begin, and how many the whole file has."""
    length = answer.headers.get("Content-Length", "")
    if answer.status != 206:
        return 0, int(length) if length.isdecimal() else None
    span, _, total = answer.headers.get("Content-Range", "").removeprefix("bytes ").partition("/")
    if span.partition("-")[0] != str(start):
        raise _StalePartError
    return start, int(total) if total.isdecimal() else None


def _save(answer: Any, file: IO[bytes], remote: Remote, total: int | None, progress: Progress | None) -> None:
    while piece := _read(answer):
        file.write(piece)
        if file.tell() > _max_size(remote):
            file.truncate(0)
            raise ValueError(f"{remote.url} has more than {_max_size(remote):,} bytes, and was removed")
        if progress is not None:
            progress(remote.name, file.tell(), remote.size or total)
    if total is not None and file.tell() < total:
        raise _TransientError(f"it broke off after {file.tell():,} of {total:,} bytes")


def _read(answer: Any) -> bytes:
    try:
        return bytes(answer.read(CHUNK_BYTES))
    except (OSError, HTTPException) as error:
        raise _TransientError(str(error) or type(error).__name__) from error


def _request(url: str, start: int, etag: str, timeout: float) -> Any:
    _check_scheme(url)
    headers = {"User-Agent": "crowdpilot"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if etag:
            headers["If-Range"] = etag
    try:
        return _opener().open(Request(url, headers=headers), timeout=timeout)
    except HTTPError as error:
        error.close()
        if error.code == 416:
            raise _StalePartError from None
        if error.code in RETRIED_STATUS_CODES:
            raise _TransientError(f"the server answers {error.code} {error.reason}") from None
        raise ValueError(
            f"{url} cannot be downloaded: the server answers {error.code} {error.reason}"
        ) from None
    except (URLError, OSError, HTTPException) as error:
        raise _TransientError(str(getattr(error, "reason", error)) or type(error).__name__) from error


def _check_scheme(url: str, before: str = "") -> None:
    scheme = urlsplit(url).scheme
    if scheme not in ("http", "https"):
        raise ValueError(f"{before or url} leads to {url}, and only http and https are followed")
    if scheme == "http" and before.startswith("https:"):
        raise ValueError(f"{before} leads to {url}, which is not encrypted, and is not followed")


class _Redirects(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> Request | None:
        fp.close()
        _check_scheme(newurl, req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)  # type: ignore[arg-type]  # a message is what it gets


def _opener() -> OpenerDirector:
    """Opens http and https and nothing else."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler, HTTPHandler, HTTPSHandler, _Redirects, HTTPDefaultErrorHandler, HTTPErrorProcessor,
    ):  # fmt: skip
        opener.add_handler(handler())
    return opener
