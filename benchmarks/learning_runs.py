"""Train once and measure; many trainings at a time, each kept as soon as it is done."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import sys
import warnings
from collections.abc import Iterable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy
import scipy
import sklearn
import torch
from torch import Tensor, nn

import crowdpilot
from benchmarks import learning_sets
from benchmarks.learning_methods import Entry, Settings
from benchmarks.learning_sets import Crowd
from crowdpilot import metrics
from crowdpilot.aggregation import NotConverged
from crowdpilot.learning import NETWORKS, CrowdClassifier
from crowdpilot.option_strings import choose

Scores = dict[str, Any]  # accuracy, ece, macro_f1, seconds and more; or the reason why there are none


@dataclass(frozen=True)
class Run:
    """One training.

    Parameters
    ----------
    title
        The table it belongs to.
    name
        The crowd.
    entry, settings, seed
        What is trained, how, and which seed decides all that is random.
    removed
        The share of the votes that is taken away first.
    label
        If given, the question is whether it is this class or not.
    """

    title: str
    name: str
    entry: Entry
    settings: Settings
    seed: int
    removed: float = 0.0
    label: str | None = None

    def crowd(self, data: Path) -> Crowd:
        """What it is trained on."""
        crowd = learning_sets.read(data, self.name)
        if self.label is not None:
            crowd = learning_sets.one_against_rest(crowd, self.label)
        return learning_sets.thin(crowd, self.removed, self.seed) if self.removed else crowd

    @property
    def about(self) -> str:
        """Changes with everything that decides the result, but for the code."""
        facts = asdict(self)
        if self.entry.calibrate is None:
            del facts["entry"]["calibrate"]  # older than this setting, and the same
        text = json.dumps(facts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class Noise(nn.Module):
    """Adds random numbers to the input while training."""

    def __init__(self, sd: float) -> None:
        super().__init__()
        self.sd = sd

    def forward(self, x: Tensor) -> Tensor:
        return x + self.sd * torch.randn_like(x) if self.training else x


def learn(crowd: Crowd, entry: Entry, settings: Settings, seed: int) -> Scores:
    """Train one classifier and measure it on the test rows."""
    parameters = settings.parameters() | entry.parameters() | {"seed": seed}
    if settings.noise:
        parameters["network"] = partial(_noisy, settings.network, settings.noise)
    model = CrowdClassifier(**parameters)
    x, truth = crowd.test
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model.fit(
            crowd.x, crowd.truth if entry.gold else crowd.votes,
            validation=crowd.validation if settings.validate else None,
        )  # fmt: skip
    seconds = perf_counter() - start
    probs = model.predict_proba(x)
    said = probs.argmax(axis=1)
    return {
        "accuracy": metrics.accuracy(truth, said), "ece": metrics.ece(truth, probs, bins=15),
        "macro_f1": metrics.macro_f1(truth, said), "seconds": round(seconds, 3),
        "epochs": len(model.history_), **_validated(model.history_),
    }  # fmt: skip


def _noisy(network: str, sd: float, features: int, classes: int) -> nn.Module:
    make, options = choose(network, NETWORKS, "network")
    return nn.Sequential(Noise(sd), make(features, classes, **options))


def _validated(history: list[dict[str, float]]) -> Scores:
    """How good the epoch that was kept is on the validation set, if there is one."""
    if not history or "score" not in history[-1]:
        return {}
    best = max(history, key=lambda scores: scores["score"])
    return {"val_accuracy": best["val_accuracy"], "best_epoch": int(best["epoch"])}


def attempt(run: Run, data: Path) -> Scores:
    """The scores of a run on a folder of sets, or the reason why there are none."""
    torch.set_num_threads(1)
    return attempt_on(run.crowd(data), run)


def attempt_on(crowd: Crowd, run: Run) -> Scores:
    """The scores of a run on a crowd that is there, or the reason why there are none."""
    try:
        return learn(crowd, run.entry, run.settings, run.seed)
    except Exception as error:  # one that fails must not end the others
        return {"reason": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}


class Kept:
    """Scores in a file, by table, row and seed.

    Parameters
    ----------
    path
        The JSON file, which need not exist.
    runs
        All that may be in it: what was done with other settings is forgotten.
    """

    def __init__(self, path: Path, runs: Iterable[Run]) -> None:
        self.path = path
        self.scores: dict[str, dict[str, dict[str, Scores]]] = {}
        self.others = json.loads(path.read_text()) if path.exists() else {}
        found = self.others.pop("runs", {})
        for run in runs:
            old = found.get(run.title, {}).get(run.entry.name, {}).get(str(run.seed), {})
            if old and old["about"] == run.about:
                self._put(run, old)

    def has(self, run: Run) -> bool:
        """Whether this very run was done before, and gave scores."""
        old = self.scores.get(run.title, {}).get(run.entry.name, {}).get(str(run.seed))
        return old is not None and "reason" not in old

    def _put(self, run: Run, scores: Scores) -> None:
        self.scores.setdefault(run.title, {}).setdefault(run.entry.name, {})[str(run.seed)] = scores

    def add(self, run: Run, scores: Scores, record: dict[str, Any]) -> None:
        """Keep the scores of a run, and write the file anew; it is never half of one."""
        self._put(run, scores | {"about": run.about})
        draft = self.path.with_suffix(".tmp")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(record | {"runs": self.scores}, indent=1, ensure_ascii=False) + "\n")
        draft.replace(self.path)


def versions() -> dict[str, str]:
    """What it is measured with."""
    return {m.__name__: m.__version__ for m in (crowdpilot, torch, numpy, scipy, sklearn)}


def perform(todo: list[Run], data: Path, kept: Kept, record: dict[str, Any], *, jobs: int = 1) -> None:
    """Do all runs, `jobs` at a time, and tell how it goes on standard error."""
    if jobs == 1:
        for n, run in enumerate(todo, 1):
            finish(run, attempt(run, data), kept, record, f"{n}/{len(todo)}")
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        futures: dict[Future[Scores], Run] = {pool.submit(attempt, run, data): run for run in todo}
        for n, future in enumerate(as_completed(futures), 1):
            finish(futures[future], future.result(), kept, record, f"{n}/{len(todo)}")


def finish(run: Run, scores: Scores, kept: Kept, record: dict[str, Any], position: str) -> None:
    """Keep the scores of a run, and tell them."""
    kept.add(run, scores, record)
    found = scores.get("reason") or (
        f"accuracy {scores['accuracy']:.3f}, ECE {scores['ece']:.3f}, {scores['seconds']:.1f} s"
    )
    print(
        f"[{position}] {run.title}, {run.entry.name}, seed {run.seed}: {found}", file=sys.stderr, flush=True
    )
