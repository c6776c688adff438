"""Dawid and Skene's model on one GPU: `python -m benchmarks.scale_gpu --votes 100000000 --output FILE`.

Rounds over votes that are on the device, from a file to labels, through `fit`, in chunks from the memory
of the host; and how well each model agrees with the cores. It needs torch, pyarrow and the light part of
crowdpilot alone.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor

from crowdpilot.aggregation import (
    EBCC,
    EM,
    GLAD,
    IBCC,
    MACE,
    Aggregator,
    DawidSkene,
    FastDawidSkene,
    HybridDawidSkene,
    NaiveSoft,
    OneCoin,
)
from crowdpilot.aggregation.em.backend import EMModel, LoadedVotes, sum_stats
from crowdpilot.aggregation.em.default_backend import available_cores
from crowdpilot.aggregation.em.in_memory_backend import InMemoryVotes
from crowdpilot.arrays import Floats
from crowdpilot.scale import Torch
from crowdpilot.scale.gpu.device_votes import DeviceVotes
from crowdpilot.scale.gpu.tensor_votes import columns_to_tensor_votes
from crowdpilot.scale.gpu.torch_backend import Precision
from crowdpilot.votes import Votes

COLUMNS = "task", "worker", "label"
K = 10
VOTES_PER_TASK = 5
ITERATIONS = 20
CHUNK_VOTES = 2**25  # votes on the device at a time, where they stay on the host
PEAK_BYTES_PER_SECOND = 4.8e12  # of the memory of an H200, by its datasheet
MAX_VOTES_OF_FIT = (
    200_000_000  # votes that `fit` is tried with: it needs probabilities of all tasks on the host
)
SECTOR_BYTES = 32  # memory is read and written in sectors
MODEL = DawidSkene(max_iter=ITERATIONS, tol=-math.inf, accelerate=False)
FIXED_ITERATIONS: dict[str, Any] = {"max_iter": ITERATIONS, "tol": -math.inf}
COMPARED_MODELS = [
    NaiveSoft(), OneCoin(**FIXED_ITERATIONS), MODEL, replace(MODEL, variational=True),
    replace(MODEL, prior="uniform", smoothing=0.5), DawidSkene(), FastDawidSkene(), HybridDawidSkene(),
    IBCC(**FIXED_ITERATIONS), EBCC(M=3, **FIXED_ITERATIONS),
    GLAD(**FIXED_ITERATIONS), MACE(restarts=2, **FIXED_ITERATIONS),
]  # fmt: skip


def columns(votes: int, workers: int) -> tuple[Tensor, Tensor, Tensor]:
    """Task, worker and label of votes on the device: workers are right in 50 to 95 of 100 cases."""
    rng = torch.Generator("cuda").manual_seed(0)
    task = torch.arange(votes // VOTES_PER_TASK, device="cuda", dtype=torch.int32).repeat_interleave(
        VOTES_PER_TASK
    )
    draw = {"device": "cuda", "generator": rng}
    worker = torch.randint(workers, (len(task),), dtype=torch.int32, **draw)
    skill = 0.5 + 0.45 * torch.rand(workers, **draw)
    label = (task % K).to(torch.int32)  # the truth
    for part in torch.arange(len(task), device="cuda").split(2**26):
        wrong = torch.rand(len(part), **draw) > skill[worker[part]]
        label[part] += wrong * torch.randint(1, K, (len(part),), dtype=torch.int32, **draw)
    return task, worker, label.remainder_(K)


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    torch.cuda.synchronize()
    start = perf_counter()
    done = work()
    torch.cuda.synchronize()
    return perf_counter() - start, done


def fit(loaded: DeviceVotes, sizes: Any, model: DawidSkene = MODEL) -> Any:
    return model.best_restart(loaded, model.pseudo_counts(sizes))


def time_iterations(codes: tuple[Tensor, ...], repeat: int = 3) -> dict[str, Any]:
    """Seconds of all rounds, from the first counts to the last parameters, and of their parts."""
    before = torch.cuda.memory_allocated()
    sorting_seconds, tensor_votes = timed(lambda: columns_to_tensor_votes(*codes))
    votes: Any = tensor_votes
    loaded = Torch("cuda").load_tensors(MODEL, votes)
    model = replace(MODEL, max_iter=2)
    fit(loaded, votes, model)  # kernels are compiled
    torch.cuda.reset_peak_memory_stats()
    runs = [timed(lambda: fit(loaded, votes))[0] for _ in range(repeat)]
    peak = torch.cuda.max_memory_allocated() - before
    pseudo_counts = loaded.to_backend(MODEL.pseudo_counts(votes))
    begin, own = timed(lambda: loaded.initial_counts(MODEL, 0))
    phases = {"m_step": 0.0, "iterate": 0.0, "log_prior": 0.0}
    for _ in range(ITERATIONS):
        stats = sum_stats([own, pseudo_counts])
        seconds, params = timed(partial(MODEL.m_step, stats, None))
        phases["m_step"] += seconds
        seconds, (own, _) = timed(partial(loaded.iterate, MODEL, params))
        phases["iterate"] += seconds
        seconds, _ = timed(partial(MODEL.log_prior, pseudo_counts, params))
        phases["log_prior"] += seconds
    single = sorted(timed(partial(loaded.iterate, MODEL, params))[0] for _ in range(5))[2]
    return {
        "laying": sorting_seconds,
        "seconds": sorted(runs)[repeat // 2], "runs": runs, "begin": begin, "phases": phases,
        "round": single, "peak_bytes": peak, **traffic(votes, single),
    }  # fmt: skip


def traffic(votes: Any, seconds: float) -> dict[str, float]:
    """What must move in a round, and what does: a row of the table is read and one of counts changed."""
    table = len(votes.workers) * K * K * 4  # in single precision
    least = len(votes) * 4 + len(votes.tasks) * 4 + 2 * table
    row = math.ceil(K * 4 / SECTOR_BYTES) * SECTOR_BYTES
    touched = len(votes) * (4 + row + 2 * row) + len(votes.tasks) * 4
    return {
        "least_bytes": least, "least_share": least / seconds / PEAK_BYTES_PER_SECOND,
        "touched_bytes": touched, "touched_share": touched / seconds / PEAK_BYTES_PER_SECOND,
    }  # fmt: skip


def load(path: Path) -> list[Tensor]:
    """The columns of a Parquet file, or of three files of numpy, on the device."""
    import pyarrow.parquet as pq

    if path.suffix == ".parquet":
        table = pq.read_table(path, columns=list(COLUMNS))
        parts = [[c.to_numpy(zero_copy_only=True) for c in column.chunks] for column in table.columns]
    else:
        parts = [[np.load(path / f"{name}.npy", mmap_mode="r")] for name in COLUMNS]
    return [send(column) for column in parts]


def send(parts: list[Any]) -> Tensor:
    """Pieces of a column, one after the other on the device."""
    target = torch.empty(sum(map(len, parts)), dtype=torch.int32, device="cuda")
    at = 0
    for part in parts:
        target[at : at + len(part)].copy_(torch.from_numpy(part), non_blocking=True)
        at += len(part)
    return target


def time_from_file(codes: tuple[Tensor, ...], path: Path) -> dict[str, Any]:
    """Seconds from files to the label of every task, the files being in the page cache."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = dict(zip(COLUMNS, (c.cpu().numpy() for c in codes), strict=True))
    if path.suffix == ".parquet":
        pq.write_table(pa.table(arrays), path, compression="none", use_dictionary=False, row_group_size=2**22)
    else:
        path.mkdir()
        for name, array in arrays.items():
            np.save(path / name, array)
    del arrays
    backend = Torch("cuda")
    backend.label(MODEL, *load(path))
    reading, loaded = timed(lambda: load(path))
    labelling, labels = timed(partial(backend.label, MODEL, *loaded))
    truth = np.arange(len(labels), dtype=np.int32) % K
    size = sum(file.stat().st_size for file in [path, *path.glob("*.npy")] if file.is_file())
    return {
        "bytes": size, "reading": reading, "labelling": labelling, "seconds": reading + labelling,
        "accuracy": float((labels == truth).mean()),
    }  # fmt: skip


def time_fit(codes: tuple[Tensor, ...], chunk: int | None) -> dict[str, Any]:
    """Seconds of `fit` from votes in the memory of the host to probabilities there."""
    task, worker, label = (column.cpu().numpy() for column in codes)
    names = (np.arange(int(c.max()) + 1) for c in (task, worker, label))
    votes = Votes(task, worker, label, *names)
    seconds, result = timed(lambda: MODEL.fit(votes, backend=Torch("cuda", chunk=chunk)))
    return {"chunk": chunk, "seconds": seconds, "trace": result.trace[-1]}


def time_streamed(codes: tuple[Tensor, ...], chunk: int) -> dict[str, Any]:
    """Seconds of all rounds if the votes come from the host in every round."""
    votes: Any = columns_to_tensor_votes(*codes).to(torch.device("cpu"))
    torch.cuda.synchronize()
    loaded = Torch("cuda", chunk=chunk).load_tensors(MODEL, votes)
    fit(loaded, votes, replace(MODEL, max_iter=2))
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    seconds, done = timed(lambda: fit(loaded, votes))
    return {
        "chunk": chunk, "seconds": seconds, "trace": done.trace[-1],
        "peak_bytes": torch.cuda.max_memory_allocated(),
    }  # fmt: skip


def agreement(codes: tuple[Tensor, ...]) -> list[dict[str, Any]]:
    """How far each model is from the cores, with gold for some tasks and weights for some votes."""
    task, worker, label = (column.cpu().numpy() for column in codes)
    names = [np.arange(int(c.max()) + 1) for c in (task, worker, label)]
    rng = np.random.default_rng(0)
    gold = np.where(rng.random(len(names[0])) < 0.01, np.arange(len(names[0])) % K, -1)
    plain = Votes(task, worker, label, *names)
    annotated = replace(plain, gold=gold, weight=rng.choice([0.5, 1.0, 2.0], len(task)))
    rows = []
    for model in COMPARED_MODELS:
        for votes in (plain, annotated) if model is MODEL else (plain,):
            rows += compare(model, votes)
    return rows


class Exact:
    """The cores, in double precision."""

    def load(self, model: EMModel, votes: Votes, probs: Floats) -> LoadedVotes:
        return InMemoryVotes(votes, probs, available_cores())


def compare(model: Aggregator, votes: Votes) -> list[dict[str, Any]]:
    seconds, usual = timed(partial(model.fit, votes))
    exact = model.fit(votes, backend=Exact()) if isinstance(model, EM) else usual
    rows = []
    for precision in get_args(Precision):
        took, got = timed(partial(model.fit, votes, backend=Torch("cuda", precision=precision)))
        gap = np.abs(got.probs - exact.probs)
        row = {
            "model": str(model), "told": votes.gold is not None, "precision": precision,
            "farthest": float(gap.max()), "mean": float(gap.mean()),
            "cores_farthest": float(np.abs(usual.probs - exact.probs).max()),
            "beyond_1e-4": float((gap.max(axis=1) > 1e-4).mean()),
            "same_labels": float((got.codes == exact.codes).mean()),
            "rounds": [len(exact.trace), len(got.trace)], "cores_seconds": seconds, "gpu_seconds": took,
        }  # fmt: skip
        print(row, flush=True)
        rows.append(row)
    return rows


def measure(votes: int, workers: int, parts: set[str]) -> dict[str, Any]:
    codes = columns(votes, workers)
    record: dict[str, Any] = {
        "votes": votes,
        "tasks": votes // VOTES_PER_TASK,
        "workers": workers,
        "classes": K,
    }
    if "rounds" in parts:
        record["rounds"] = time_iterations(codes)
    torch.cuda.empty_cache()
    if "shuffled" in parts:
        order = torch.randperm(len(codes[0]), device="cuda")
        mixed = [column[order] for column in codes]
        del order
        record["laying_shuffled"] = timed(lambda: columns_to_tensor_votes(*mixed))[0]
        del mixed
        torch.cuda.empty_cache()
    for name in ("parquet", "npy"):
        if name in parts:
            with tempfile.TemporaryDirectory() as folder:
                record[name] = time_from_file(codes, Path(folder, f"votes.{name}"))
    if "streamed" in parts:
        record["streamed"] = time_streamed(codes, CHUNK_VOTES)
    if "fit" in parts and votes <= MAX_VOTES_OF_FIT:
        record["fit"] = [time_fit(codes, None), time_fit(codes, CHUNK_VOTES)]
    print(json.dumps(record), flush=True)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, nargs="+", default=[100_000_000])
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[100_000], help="one number for each of votes"
    )
    parser.add_argument(
        "--parts", nargs="+", default=["rounds", "shuffled", "parquet", "npy", "streamed", "fit"]
    )
    parser.add_argument("--agreement", type=int, default=1_000_000, help="votes, 0 for none")
    parser.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # rounds end before they settle, and columns of files cannot be written
    record: dict[str, Any] = {
        "device": torch.cuda.get_device_name(), "torch": torch.__version__,
        "python": platform.python_version(), "rounds": ITERATIONS, "model": str(MODEL),
        "peak_bytes_per_second": PEAK_BYTES_PER_SECOND, "sizes": [], "agreement": [],
    }  # fmt: skip
    for votes, workers in zip(args.votes, args.workers, strict=True):
        record["sizes"].append(measure(votes, workers, set(args.parts)))
        torch.cuda.empty_cache()
        args.output.write_text(json.dumps(record, indent=1) + "\n")
    if args.agreement:
        record["agreement"] = agreement(columns(args.agreement, args.agreement // 500))
    args.output.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
