"""Local copies of data sets: folders that are downloaded, checked and written atomically."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from crowdpilot.datasets.data import Data
from crowdpilot.datasets.download import Progress, fetch
from crowdpilot.datasets.folder import read_folder, write_folder
from crowdpilot.datasets.registry import Counts, Dataset
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.votes import Votes

HOME_VARIABLE = "CROWDPILOT_DATA_HOME"  # the environment variable of the folder of all data sets
CHECKSUM_FILE = "SHA256SUMS"


def home() -> Path:
    """Where data sets are kept: `$CROWDPILOT_DATA_HOME`, or the folder of this system for such things."""
    if chosen := os.environ.get(HOME_VARIABLE):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "crowdpilot" / "datasets"


def local_folder(dataset: Dataset, to: Path | None = None) -> Path | None:
    """The folder of a data set, None if it is not on this machine yet."""
    folder = (to or home()) / dataset.name
    return folder if (folder / CHECKSUM_FILE).is_file() else None


def download_dataset(
    dataset: Dataset, to: Path | None = None, *, force: bool = False, progress: Progress | None = None
) -> Path:
    """Make the folder of a data set, and say where it is; one that is there stays as it is.

    What was downloaded of a file when this is stopped is kept, and gone on from the next time. Of two
    processes that want the same set, one waits for the other.

    Parameters
    ----------
    dataset
        Which one.
    to
        The folder in which its folder is made; `home()` if not given.
    force
        Make it again. Its files must still be those that were downloaded the first time.
    progress
        Called after each piece of a file.
    """
    parent = to or home()
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{parent}: cannot be written ({error.strerror})") from error
    with _exclusive_lock(parent / f".{dataset.name}.lock"):
        if (folder := local_folder(dataset, parent)) and not force:
            return folder
        target = parent / dataset.name
        if target.exists() and not folder and any(target.iterdir() if target.is_dir() else [target]):
            raise ValueError(
                f"{target} exists and is no data set that was downloaded; move it away or use another --to"
            )
        _make(dataset, target, progress)
    return target


def _make(dataset: Dataset, target: Path, progress: Progress | None) -> None:
    downloads = target.parent / f".{dataset.name}.download"
    downloads.mkdir(exist_ok=True)
    known = read_checksums(target / CHECKSUM_FILE)
    files = {
        file.name: fetch(file, downloads, expected=known.get(file.name), progress=progress)
        for file in dataset.files
    }
    try:
        data = dataset.make({name: path for name, (path, _) in files.items()})
        check_counts(dataset, data)
    except ValueError:
        shutil.rmtree(downloads, ignore_errors=True)  # what cannot be used is removed
        raise
    with atomic_path(target) as draft:
        write_folder(data, draft)
        (draft / "README.md").write_text(readme(dataset), "utf-8")
        sums = "".join(f"{digest}  {name}\n" for name, (_, digest) in files.items())
        (draft / CHECKSUM_FILE).write_text(sums, "utf-8")  # of the files as downloaded
        shutil.rmtree(target, ignore_errors=True)  # the new one is complete, and takes its place at once
    shutil.rmtree(downloads, ignore_errors=True)


def load_data(dataset: Dataset) -> Data:
    """All of a data set, which must be on this machine."""
    if dataset.is_bundled:
        return dataset.make({})
    if (folder := local_folder(dataset)) is None:
        raise ValueError(
            f"{dataset.name} is not on this machine yet: run `crowdpilot datasets get {dataset.name}`"
        )
    return read_folder(folder, repeats=dataset.repeats)


def count_data(data: Data) -> Counts:
    """How much there is of a data set; shares of a crowd are no votes of workers."""
    votes = data.votes
    sizes = (0, 0) if has_shares(votes) else (len(votes.workers), len(votes))
    return Counts(len(votes.tasks), *sizes, len(votes.classes), len(data.truth))


def has_shares(votes: Votes) -> bool:
    """Whether these are shares of a crowd, whose workers are not known."""
    return votes.weight is not None and len(votes.workers) <= 1


def check_counts(dataset: Dataset, data: Data) -> None:
    """Raise if there is more or less of the data than the registry says."""
    counts = count_data(data)
    if counts != dataset.counts:
        wrong = next(n for n in Counts._fields if getattr(counts, n) != getattr(dataset.counts, n))
        what = "tasks whose truth is known" if wrong == "truth" else wrong
        raise ValueError(
            f"{dataset.name}: the downloaded files hold {getattr(counts, wrong):,} {what}, "
            f"expected {getattr(dataset.counts, wrong):,}; nothing was kept"
        )


def read_checksums(path: Path) -> Mapping[str, str]:
    """The digest of each file, as `sha256sum` writes them; none if there is no such list."""
    if not path.is_file():
        return {}
    pairs = re.findall(r"^([0-9a-f]{64})  (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {name: digest for digest, name in pairs}


def readme(dataset: Dataset) -> str:
    """The text of README.md in the folder of a data set."""
    c = dataset.counts
    amount = f"{c.votes:,} votes of {c.workers:,} workers" if c.votes else "shares of the votes"
    known = f" The truth of {c.truth:,} tasks is known." if c.truth else ""
    return (
        f"# {dataset.name}\n\n{dataset.description}\n\n"
        f"{c.tasks:,} tasks, {amount}, {c.classes} classes.{known}\n\n"
        f"{dataset.terms}\n\nSource: {dataset.source}\n"
        + "".join(f"- <{file.url}>\n" for file in dataset.files)
    )


@contextmanager
def _exclusive_lock(path: Path) -> Iterator[None]:
    """Hold a lock that one process has at a time; the lock of a process that died is gone with it."""
    with path.open("a+b") as file:
        if sys.platform == "win32":
            import msvcrt

            while True:  # it gives up after ten seconds, and we do not
                with suppress(OSError):
                    msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                    break
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        yield
