"""Reading of imports: the files at an address, within limits of number and size."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from crowdpilot.service.jobs.imports.addresses import LOCAL, WEB
from crowdpilot.service.jobs.imports.download import download
from crowdpilot.service.settings import Settings
from crowdpilot.service.uploads.files import File, is_ignored, parts_of

MAX_FILES = 10_000
MAX_BYTES = 512 << 20  # of all files together
CHUNK_BYTES = 1 << 20
CANNOT_READ = "the address cannot be read with the credentials of the service ({why}); check both"

Progress = Callable[[int, int], None]  # files read, and files in all


def read_files(address: str, settings: Settings, progress: Progress = lambda read, total: None) -> list[File]:
    """The file at an address that is allowed, or all files below it; a `ValueError` if there are too many."""
    if urlsplit(address).scheme in WEB:
        name = urlsplit(address).path.rpartition("/")[2] or "items.csv"
        return [File(name, _or_error(lambda: download(address, MAX_BYTES, settings.webhook_networks)))]
    files: list[File] = _or_error(lambda: _read_all(address, settings, progress))
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
    except FileNotFoundError as error:
        raise ValueError("there is nothing at this address; check it") from error
    except PermissionError as error:
        raise ValueError(CANNOT_READ.format(why="access is denied")) from error
    except Exception as error:  # each file system has errors of its own
        raise ValueError(CANNOT_READ.format(why=type(error).__name__)) from error


def _read_all(address: str, settings: Settings, progress: Progress) -> list[File]:
    import fsspec  # type: ignore[import-untyped]  # it has no types; it is needed by imports only

    system, root = fsspec.core.url_to_fs(address, skip_instance_cache=True)
    found = sorted(_list(system, root))
    if not found:
        raise FileNotFoundError(address)
    if urlsplit(address).scheme in LOCAL:
        _check_inside([path for path, _ in found], settings.import_from)
    _check_size(found)
    base = root.rstrip("/")
    files: list[File] = []
    left = MAX_BYTES
    for n, (path, _) in enumerate(found):
        name = path.removeprefix(base).lstrip("/") or path.rpartition("/")[2]
        data = _read(system, path, left)
        left -= len(data)
        files.append(File(name, data))
        progress(n + 1, len(found))
    return files


def _list(system: Any, root: str) -> Iterator[tuple[str, int]]:
    """Paths and sizes of all files below a path that are not hidden, or of the file that it is."""
    base = root.rstrip("/")
    entries = system.find(root, detail=True)
    for n, (path, entry) in enumerate(entries.items()):
        if n > 2 * MAX_FILES:
            break  # of which many are perhaps hidden; the check of the number follows
        name = path.removeprefix(base).lstrip("/") or path.rpartition("/")[2]
        if entry.get("type") == "file" and not path.endswith("/") and not is_ignored(parts_of(name)):
            yield path, int(entry.get("size") or 0)


def _check_size(found: Sequence[tuple[str, int]]) -> None:
    if len(found) > MAX_FILES:
        raise ValueError(f"there are more than {MAX_FILES:,} files at the address; import them in parts")
    if sum(size for _, size in found) > MAX_BYTES:
        raise ValueError(f"the files are larger than {MAX_BYTES >> 20} MiB in all; import them in parts")


def _read(system: Any, path: str, left: int) -> bytes:
    """The data of a file, which may be larger than its entry says."""
    data = bytearray()
    with system.open(path, "rb") as source:
        while piece := source.read(CHUNK_BYTES):
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
