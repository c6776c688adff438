"""Reading of imports: the files at an address, within limits of number, size and time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from crowdpilot.service.jobs.imports.addresses import LOCAL, WEB
from crowdpilot.service.jobs.imports.download import download
from crowdpilot.service.jobs.imports.time_limit import within
from crowdpilot.service.outgoing.connection import Deadline
from crowdpilot.service.settings import Settings
from crowdpilot.service.uploads.files import File, is_ignored, parts_of

MAX_FILES = 10_000
MAX_BYTES = 512 << 20  # of all files together
MAX_ENTRIES_PER_FILE = 4  # of a listing, hidden ones included
DEADLINE_SECONDS = 900.0  # for listing and reading all files of one import
CHUNK_BYTES = 1 << 20
S3 = ("s3", "s3a")
TOO_SLOW = "the address did not answer in time; try again later, or import the files in parts"
CANNOT_READ = "the address cannot be read with the credentials of the service ({why}); check both"

Progress = Callable[[int, int], None]  # files read, and files in all


def read_files(address: str, settings: Settings, progress: Progress = lambda read, total: None) -> list[File]:
    """The file at an address that is allowed, or all files below it; a `ValueError` if there are too many."""
    if urlsplit(address).scheme in WEB:
        name = urlsplit(address).path.rpartition("/")[2] or "items.csv"
        return [File(name, _or_error(lambda: download(address, MAX_BYTES, settings.webhook_networks)))]
    deadline = Deadline(DEADLINE_SECONDS)
    files: list[File] = _or_error(
        lambda: within(deadline.seconds, lambda: _read_all(address, settings, progress, deadline))
    )
    return files


def _or_error(what: Callable[[], Any]) -> Any:
    """The result; whatever goes wrong far away is a `ValueError` of one sentence."""
    try:
        return what()
    except ValueError:
        raise
    except ImportError as error:
        raise ValueError(
            f"the service cannot read such addresses ({error}); its operator can install it"
        ) from error
    except TimeoutError as error:
        raise ValueError(TOO_SLOW) from error
    except FileNotFoundError as error:
        raise ValueError("there is nothing at this address; check it") from error
    except PermissionError as error:
        raise ValueError(CANNOT_READ.format(why="access is denied")) from error
    except Exception as error:  # each file system has errors of its own
        raise ValueError(CANNOT_READ.format(why=type(error).__name__)) from error


def _read_all(address: str, settings: Settings, progress: Progress, deadline: Deadline) -> list[File]:
    import fsspec  # type: ignore[import-untyped]  # it has no types; it is needed by imports only

    scheme = urlsplit(address).scheme
    system, root = fsspec.core.url_to_fs(address, skip_instance_cache=True)
    entries = _list_s3(system, root) if scheme in S3 else _walk(system, root, deadline)
    found = sorted(islice(_visible(entries, root), MAX_FILES + 1))
    if not found:
        raise FileNotFoundError(address)
    if scheme in LOCAL:
        _check_inside([path for path, _ in found], settings.import_from)
    _check_size(found)
    files: list[File] = []
    left = MAX_BYTES
    for n, (path, _) in enumerate(found):
        data = _read(system, path, left, deadline)
        left -= len(data)
        files.append(File(_name(path, root), data))
        progress(n + 1, len(found))
    return files


def _list_s3(system: Any, root: str) -> Iterable[Any]:
    """All objects below a path, page by page, until there are too many."""
    found: dict[str, Any] = system.find(root, detail=True, max_items=MAX_ENTRIES_PER_FILE * MAX_FILES + 1)
    return found.values()


def _walk(system: Any, root: str, deadline: Deadline) -> Iterator[Any]:
    """Entries of files, folder by folder; s3fs would need a request for each folder."""
    for _, _, files in system.walk(root, detail=True):
        deadline.left()
        yield from files.values()


def _visible(entries: Iterable[Any], root: str) -> Iterator[tuple[str, int]]:
    """Paths and sizes of all files that are not hidden; a `ValueError` if too many are."""
    for n, entry in enumerate(entries):
        if n >= MAX_ENTRIES_PER_FILE * MAX_FILES:
            raise _too_many()
        path = str(entry["name"])
        if entry["type"] == "file" and not path.endswith("/") and not is_ignored(parts_of(_name(path, root))):
            yield path, int(entry.get("size") or 0)


def _name(path: str, root: str) -> str:
    """A path below the address, or the last part of the address if that is a file."""
    return path.removeprefix(root.rstrip("/")).lstrip("/") or path.rpartition("/")[2]


def _too_many() -> ValueError:
    return ValueError(f"there are more than {MAX_FILES:,} files at the address; import them in parts")


def _check_size(found: Sequence[tuple[str, int]]) -> None:
    if len(found) > MAX_FILES:
        raise _too_many()
    if sum(size for _, size in found) > MAX_BYTES:
        raise ValueError(f"the files are larger than {MAX_BYTES >> 20} MiB in all; import them in parts")


def _read(system: Any, path: str, left: int, deadline: Deadline) -> bytes:
    """The data of a file, which may be larger than its entry says."""
    data = bytearray()
    with system.open(path, "rb") as source:
        while piece := source.read(CHUNK_BYTES):
            deadline.left()
            data += piece
            if len(data) > left:
                raise ValueError(
                    f"the files are larger than {MAX_BYTES >> 20} MiB in all; import them in parts"
                )
    return bytes(data)


def _check_inside(paths: Sequence[str], allowed: Sequence[str]) -> None:
    """Refuse links of a local folder that lead out of what is allowed."""
    roots = [
        os.path.realpath(urlsplit(prefix).path) for prefix in allowed if urlsplit(prefix).scheme in LOCAL
    ]
    for path in paths:
        real = os.path.realpath(path)
        if not any(real == root or real.startswith(root.rstrip("/") + "/") for root in roots):
            raise ValueError("a file at the address is a link that leads out of its folder; remove it")
