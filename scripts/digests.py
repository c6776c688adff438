"""Write a digest of every numerical result of the package: `python -m scripts.digests -o FILE`.

Two trees that give the same file compute the same results. Keys are plain strings that do not depend on
the names of the code, and floating-point numbers are rounded before they are hashed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from crowdpilot import calibration, io, metrics
from crowdpilot.aggregation import (
    MODELS,
    Aggregate,
    Aggregator,
    Crowdlab,
    DawidSkene,
    Stream,
    WeightedMajority,
    parse_strategy,
)
from crowdpilot.aggregation.online.models import ONLINE_MODELS
from crowdpilot.confusion_matrices import count_labels, votes_log_likelihood
from crowdpilot.datasets import load
from crowdpilot.datasets import open as open_data
from crowdpilot.diagnosis import (
    IDENTIFICATIONS,
    MEASURES,
    LeaveOneOut,
    cohen_kappa,
    detect_collusion,
    detect_drift,
    diagnose,
    entropy,
    leave_one_out_posteriors,
    measure_agreement,
    more_votes,
    skill_interval,
    spam_distance,
    spam_probability,
    spam_score,
)
from crowdpilot.scale import Shards, Torch, aggregate_files, write_shards
from crowdpilot.simulation import (
    STRATEGIES,
    Crowd,
    DiscreteDifficulty,
    HammerSpammer,
    IndependentConfusion,
    OneCoin,
    Simulation,
    StudentTeacher,
    make_crowd,
    one_coin,
    save,
)
from crowdpilot.votes import Votes
from scripts.digests_campaigns import campaign_results, learning_results

Results = Iterator[tuple[str, Any]]  # a key and the result that it names

# Registry names of the code, and the terms that are used for them in the keys.
STABLE = {
    "crowd_confusion": "crowd",
    "why": "reason",
    "peers": "peer_agreement",
    "review": "review_rank",
    "common_mistakes": "shared_confusion",
}
WORDING = ("flags", "reason")  # columns of prose: only which rows have the same text is compared

# Settings of models other than the default ones.
SETTINGS = {
    "dawid_skene_accelerated": "dawid_skene[accelerate=True]",
    "dawid_skene_clusters_3": "dawid_skene_clust[L=3]",
    "dawid_skene_uniform_prior": "dawid_skene[prior='uniform',smoothing=0.5]",
    "dawid_skene_variational": "dawid_skene[variational=True]",
    "glad_short": "glad[max_iter=5]",
    "one_coin_uniform_prior": "one_coin[prior='uniform']",
}
ON_TORCH = [
    "dawid_skene",
    "fast_dawid_skene",
    "hybrid_dawid_skene",
    "ibcc",
    "ebcc",
    "one_coin",
    "glad",
    "mace",
    "naive_soft",
]
WITH_ALL_COLUMNS = ("csv", "tsv", "parquet", "jsonl")  # formats that hold weights, times and gold
MANY_VOTES = ["majority_voting", "naive_soft", "one_coin", "dawid_skene", "fast_dawid_skene", "ibcc", "glad"]
ON_FILES = ["majority_voting", "naive_soft", "one_coin", "dawid_skene", "glad", "mace"]


# Digests -------------------------------------------------------------------------------------


def rounded(values: Any) -> NDArray[Any]:
    """Floats with nine decimals, or ten significant digits if they are large, without a negative zero."""
    x = np.asarray(values, np.float64)
    size = np.where(np.isfinite(x), np.maximum(np.abs(x), 1), 1)
    scale = 10.0 ** (9 - np.floor(np.log10(size)))
    x = np.where(np.isfinite(x), np.rint(x * scale) / scale, x) + 0.0
    return np.where(np.isnan(x), np.nan, x)


def parts(value: Any) -> Iterator[bytes]:
    """The bytes of a result, piece by piece.

    Of mappings and records the values count and not the names, and single strings inside them, which are
    names as well, are ignored. The values of a mapping are compared in any order.
    """
    if value is None or isinstance(value, str):
        yield b"-"
    elif isinstance(value, bytes):
        yield value
    elif isinstance(value, Mapping):
        yield "".join(sorted(map(digest, value.values()))).encode()
    elif hasattr(value, "tocsr"):
        matrix = value.tocsr()
        matrix.sort_indices()
        yield from parts([matrix.shape, matrix.indptr, matrix.indices, matrix.data])
    elif is_dataclass(value):
        yield from parts([getattr(value, field.name) for field in fields(value)])
    elif isinstance(value, list | tuple):
        yield f"{len(value)}:".encode()
        yield from (piece for item in value for piece in parts(item))
    else:
        yield from array_parts(np.asarray(value))


def array_parts(array: NDArray[Any]) -> Iterator[bytes]:
    """The bytes of an array: its shape, then text, whole numbers or rounded floats."""
    yield f"{array.shape}".encode()
    if array.dtype.kind in "biu":
        yield array.astype(np.int64).tobytes()
    elif array.dtype.kind == "f":
        yield rounded(array).tobytes()
    elif array.ndim and array.dtype.kind in "OUM":
        yield "\n".join(map(str, array.ravel().tolist())).encode()
    else:
        raise TypeError(f"there is no digest of {array!r}")


def digest(value: Any) -> str:
    """SHA-256 of a result, as hexadecimal text."""
    hashed = hashlib.sha256()
    for piece in parts(value):
        hashed.update(piece + b";")
    return hashed.hexdigest()


def stable(name: str) -> str:
    """The name by which the keys call an entry of a registry."""
    return STABLE.get(name, name.replace("-", "_"))


def pattern(texts: Any) -> NDArray[Any]:
    """Which texts are equal, as numbers in the order of their first appearance."""
    known: dict[str, int] = {}
    return np.array([known.setdefault(str(text), len(known)) for text in texts])


def columns(table: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a table by their stable names, without prose."""
    named = {stable(name): column for name, column in table.items()}
    return {name: pattern(column) if name in WORDING else column for name, column in named.items()}


# Data ----------------------------------------------------------------------------------------


def with_gold(votes: Votes, truth: Any, every: int = 6) -> Votes:
    """The same votes with the true class of every sixth task."""
    known = range(0, len(votes.tasks), every)
    return votes.with_gold({votes.tasks[n]: votes.classes[truth[n]] for n in known})


def simulated() -> dict[str, Votes]:
    """Small simulated crowds, each difficult in another way."""
    three = IndependentConfusion(tasks=120, workers=15, classes=3, votes_per_task=6, seed=2).run()
    weight = np.random.default_rng(0).choice([0.5, 1.0, 2.0, 3.0], len(three.votes))
    missing = DiscreteDifficulty(
        tasks=100, workers=30, classes=4, votes_per_task=4, imbalance_votes=True, abstain=0.6, seed=4
    )
    return {
        "binary": HammerSpammer(tasks=80, workers=12, classes=2, votes_per_task=5, ratio=0.3, seed=1)
        .run()
        .votes,
        "three_classes": three.votes,
        "ten_classes": StudentTeacher(tasks=150, workers=20, classes=10, votes_per_task=5, seed=3)
        .run()
        .votes,
        "missing_votes": missing.run().votes,
        "gold": with_gold(three.votes, three.truth),
        "weights": replace(three.votes, weight=weight),
    }


def many_classes(tasks: int = 12_000, classes: int = 6_000) -> Votes:
    """Votes for so many classes that probabilities are sparse."""
    rng = np.random.default_rng(5)
    truth, task = rng.integers(classes, size=tasks), np.repeat(np.arange(tasks), 3)
    near = (truth[task] + rng.integers(1, 4, len(task))) % classes
    label = np.where(rng.random(len(task)) < 0.7, truth[task], near)
    return Votes.of(task, rng.integers(20, size=len(task)), label, classes=range(classes))


def suspicious() -> Simulation:
    """A crowd with spammers, colluding and drifting workers, times and durations."""
    skill = np.random.default_rng(1).uniform(0.6, 0.95, 30)
    skill[:3] = 0.25
    return OneCoin(
        skill=tuple(skill), workers=30, tasks=200, classes=4, votes_per_task=10,
        colluding=0.1, group_size=3, drifting=0.1, seconds=20.0, seed=3,
    ).run()  # fmt: skip


def predictions(K: int, tasks: int = 300) -> tuple[NDArray[Any], NDArray[Any]]:
    """Probabilities of an overconfident classifier and the true classes."""
    rng = np.random.default_rng(K)
    probs = rng.dirichlet(np.full(K, 0.8), tasks)
    truth = (probs.cumsum(axis=1) > rng.random((tasks, 1))).argmax(axis=1)
    sharp = probs**2.5 + 1e-6
    return sharp / sharp.sum(axis=1, keepdims=True), truth


# Aggregation ---------------------------------------------------------------------------------


def voting() -> Results:
    """Votes from columns, with repeats and abstentions, and their sums."""
    rng = np.random.default_rng(10)
    task, worker, label = (rng.integers(n, size=300) for n in (40, 9, 4))
    for repeats in ("first", "last", "all"):
        votes = Votes.of(task, worker, label, abstain=[3], repeats=repeats, weight=rng.integers(1, 4, 300))
        sums = [votes.tally(), votes.cell_sum(), votes.worker_sum(), votes.task_sum()]
        yield f"votes/{repeats}", votes
        yield f"votes/{repeats}/sums", sums
        yield f"votes/{repeats}/merged", votes.merged
        yield f"votes/{repeats}/one_hot", [votes.onehot, votes.ballots]


def make_model(kind: type[Aggregator], votes: Votes) -> Aggregator:
    """A model with default settings, and the further input that some need."""
    if kind is Crowdlab:
        rng = np.random.default_rng(6)
        return Crowdlab(probs=[rng.dirichlet(0.5 + row) for row in votes.tally()])
    if kind is WeightedMajority:
        return WeightedMajority({name: 1 + n % 3 for n, name in enumerate(votes.workers.tolist())})
    return kind()


def fitted(key: str, model: Aggregator, votes: Votes, **earlier: Any) -> Results:
    """All that a model says of some votes, or that it refuses them."""
    try:
        result = model.fit(votes, **earlier)
    except ValueError:
        yield f"{key}/refused", True
        return
    yield from aggregated(key, result)


def aggregated(key: str, result: Aggregate) -> Results:
    """All parts of a result."""
    yield f"{key}/labels", result.labels
    yield f"{key}/probs", result.posterior
    yield f"{key}/confidence", result.confidence
    yield f"{key}/skill", result.skill
    yield f"{key}/trace", result.trace
    yield f"{key}/params", result.params


def aggregation() -> Results:
    """Every model on every crowd, with earlier results, other settings and on other engines."""
    crowds = {name: load(name) for name in ("anesthesia", "digits", "texts")} | simulated()
    for name, kind in MODELS.items():
        for crowd, votes in crowds.items():
            yield from fitted(f"aggregation/{stable(name)}/{crowd}", make_model(kind, votes), votes)
        yield from continued(f"aggregation/{stable(name)}", kind, crowds["gold"])
    for key, text in SETTINGS.items():
        yield from fitted(f"aggregation/settings/{key}", parse_strategy(text), crowds["three_classes"])
    for name in ON_TORCH:
        backend = Torch("cpu", precision="double")
        yield from fitted(
            f"aggregation/torch/{stable(name)}", MODELS[name](), crowds["gold"], backend=backend
        )
    sparse = many_classes()
    for name in ("majority_voting", "one_coin", "common_mistakes", "dawid_skene", "auto"):
        yield from fitted(f"aggregation/many_classes/{stable(name)}", MODELS[name](), sparse)


def continued(key: str, kind: type[Aggregator], votes: Votes) -> Results:
    """A model that begins at an earlier result, and one that knows the workers from other tasks."""
    halves = [votes.take(votes.task % 2 == n) for n in (0, 1)]
    model = make_model(kind, votes)
    if kind.warm_start:
        yield from fitted(f"{key}/start", model, votes, start=model.fit(halves[0]))
    if kind.uses_history:
        yield from fitted(f"{key}/history", model, halves[1], history=model.fit(halves[0]))


def aggregation_of_many_votes() -> Results:
    """Models on so many votes that compiled passes and acceleration are used; only a summary of each."""
    votes = IndependentConfusion(tasks=100_000, workers=50, classes=3, votes_per_task=5, seed=1).run().votes
    for name in MANY_VOTES:
        result = MODELS[name]().fit(votes)
        key = f"aggregation/many_votes/{stable(name)}"
        yield f"{key}/labels", result.labels
        yield f"{key}/skill", result.skill.round(6)
        yield f"{key}/probs", result.probs.mean(axis=0).round(6)


def aggregation_of_files() -> Results:
    """Models whose votes are in several files."""
    votes = simulated()["three_classes"]
    with TemporaryDirectory() as folder:
        write_shards([votes], Path(folder) / "votes", 3)
        shards = Shards(str(Path(folder) / "votes"))
        for name in ON_FILES:
            found = aggregate_files(MODELS[name](), shards, output=Path(folder) / name, probs=True)
            key = f"aggregation/files/{stable(name)}"
            yield f"{key}/workers", [found.workers, found.votes_per_worker, found.skill, found.trace]
            yield f"{key}/labels", [file.read_bytes() for file in found.label_files]


def streams() -> Results:
    """Online models, with votes that are added, corrected and deleted, gold, and fading."""
    votes = simulated()["three_classes"]
    for name, kind in ONLINE_MODELS.items():
        for speed, half_life in (("steady", np.inf), ("fading", 15.0)):
            stream = Stream(make_model(kind, votes), votes.classes.tolist(), half_life=half_life)
            yield from streamed(f"stream/{stable(name)}/{speed}", stream, votes)


def streamed(key: str, stream: Stream, votes: Votes) -> Results:
    """The answers of a stream at several moments."""
    names: list[list[Any]] = [
        c.tolist() for c in (votes.tasks[votes.task], votes.workers[votes.worker], votes.classes[votes.label])
    ]
    rows, K = list(zip(*names, strict=True)), votes.classes.tolist()
    for task, worker, label in rows[:40]:
        stream.add(task, worker, label)
    stream.add_many(*(column[40:400] for column in names), weights=np.tile([1.0, 0.5, 2.0], 120))
    yield from aggregated(f"{key}/added", stream.result())
    for n in range(0, 60, 4):
        stream.correct(rows[n][0], rows[n][1], K[n % 3])
        stream.delete(rows[n + 1][0], rows[n + 1][1])
    stream.reveal({rows[n][0]: K[n % 3] for n in range(100, 130, 10)})
    yield from aggregated(f"{key}/corrected", stream.result())
    copy = Stream.from_dict(json.loads(json.dumps(stream.to_dict())))
    copy.add_votes(votes.take(np.arange(400, len(votes))))
    yield from aggregated(f"{key}/restored", copy.result())
    yield from aggregated(f"{key}/refitted", copy.refit())
    yield f"{key}/single", [[copy.probs(n) for n in range(9)], [copy.skill(n) for n in range(9)]]


# Calibration ---------------------------------------------------------------------------------


def calibration_maps() -> Results:
    """Every map by true and by soft labels, and by votes."""
    for K in (2, 3):
        probs, truth = predictions(K)
        soft, weight = 0.8 * np.eye(K)[truth] + 0.2 / K, np.linspace(0.5, 2, len(truth))
        known = np.where(np.arange(len(truth)) % 3 == 0, -1, truth)
        for name, kind in calibration.MAPS.items():
            key = f"calibration/{stable(name)}/{K}_classes"
            found = kind().fit(probs, known)
            yield f"{key}/true_labels", found(probs)
            yield f"{key}/restored", calibration.load_map(json.loads(json.dumps(found.to_dict())))(probs)
            yield f"{key}/soft_labels", kind().fit(probs, soft, weight=weight)(probs)
        best = calibration.best_map(probs, truth, seed=1)
        yield f"calibration/best_map/{K}_classes", best.fit(probs, truth)(probs)
        trials = calibration.compare_maps(probs, truth, folds=4, seed=1)
        yield f"calibration/try_maps/{K}_classes", [trial[1:] for trial in trials]
    yield from calibration_by_votes()


def calibration_by_votes() -> Results:
    """Maps and fusions that are fitted to votes."""
    probs, truth = predictions(3)
    rng = np.random.default_rng(7)
    task, worker = np.repeat(np.arange(300), 3), np.tile(np.arange(12), 75)
    label = np.where(rng.random(900) < 0.7, truth[task], rng.integers(3, size=900))
    votes = Votes.of(task, worker, label, classes=range(3))
    result = DawidSkene().fit(votes)
    confusion = result.params["confusion"]
    for name, kind in calibration.MAPS.items():
        for one in (False, True):
            found = calibration.fit_on_votes(kind(), probs, votes, confusion, one_vote_per_task=one, seed=1)
            yield f"calibration/{stable(name)}/votes/{'one_each' if one else 'all'}", found(probs)
    yield "calibration/one_vote_each", calibration.sample_one_vote_per_task(votes, seed=2)
    log_likelihood, prior = votes_log_likelihood(votes, np.log(confusion + 1e-9)), [0.5, 0.3, 0.2]
    fusions = {
        "bayes": calibration.FusionWeights(),
        "tempered": calibration.FusionWeights(0.7, 0.4),
        "true_labels": calibration.fit_fusion(probs, log_likelihood, truth, prior=prior),
        "votes": calibration.fit_fusion_on_votes(probs, votes, result.probs, prior=prior),
    }
    for name, fusion in fusions.items():
        yield f"calibration/fusion/{name}", [fusion, fusion(probs, log_likelihood, prior)]
    yield "calibration/label_counts", count_labels(votes, result.probs)


# Diagnosis and metrics -----------------------------------------------------------------------


def diagnosis() -> Results:
    """Tables of workers and tasks, agreement, and every score by name."""
    crowd = suspicious()
    votes = with_gold(crowd.votes, crowd.truth)
    traps = votes.tasks[:60:6].tolist()
    yield from diagnosed("simulated", votes, model=DawidSkene(), traps=traps, scores={"own": crowd.truth / 2})
    yield from diagnosed("anesthesia", load("anesthesia"))
    yield from diagnosed("digits", load("digits"))
    for name, identification in IDENTIFICATIONS.items():
        found = identification.run(votes, DawidSkene())
        yield f"diagnosis/identify/{stable(name)}", columns(found)
        yield f"diagnosis/identify/{stable(name)}/worst_first", columns(identification.worst_first(found))
    for name in MEASURES:
        yield f"diagnosis/agreement/{stable(name)}", measure_agreement(votes, measures=[name], samples=100)
    yield "diagnosis/cohen_kappa", cohen_kappa(votes, min_shared=5, samples=100)
    result = DawidSkene().fit(votes)
    yield from leave_one_out(leave_one_out_posteriors(result))
    yield "diagnosis/skill_interval", skill_interval(result, 0.8)
    yield "diagnosis/more_votes", more_votes(result, 0.9)


def diagnosed(crowd: str, votes: Votes, **options: Any) -> Results:
    """All tables of a diagnosis."""
    key, found = f"diagnosis/{crowd}", diagnose(votes, samples=50, **options)
    for kind, table in (("workers", found.workers), ("tasks", found.tasks)):
        for name, column in columns(table).items():
            yield f"{key}/{kind}/{name}", column
    for name in (
        "confusion",
        "crowd_confusion",
        "agreement",
        "pairs",
        "windows",
        "changed",
        "flagged",
        "flags",
    ):
        yield f"{key}/{stable(name)}", getattr(found, name)
    if found.without_suspects is not None:
        yield from aggregated(f"{key}/without_suspects", found.without_suspects)


def leave_one_out(loo: LeaveOneOut) -> Results:
    """Leave-one-out posteriors, and the scores of workers that rest on them."""
    yield "diagnosis/evidence", [loo.prior, loo.crowd_confusion, loo.confusion, loo.posterior]
    yield "diagnosis/spam_distance", spam_distance(loo.confusion)
    yield "diagnosis/spam_score", spam_score(loo.confusion)
    yield "diagnosis/spam_probability", spam_probability(loo, seed=1)
    yield "diagnosis/collusion", detect_collusion(loo, 0.1)
    yield "diagnosis/drift", detect_drift(loo)
    probs = predictions(4)[0]
    yield "diagnosis/entropy", entropy(probs)


def measures() -> Results:
    """Every metric, with weights and intervals."""
    probs, truth = predictions(3)
    labels, weight = probs.argmax(axis=1), np.linspace(0.2, 2, len(truth))
    people = np.random.default_rng(8).multinomial(20, probs) / 20
    by_kind = [
        (metrics.LABEL_METRICS, truth, labels),
        (metrics.PROBABILITY_METRICS | metrics.SHOWN_METRICS | metrics.CALIBRATION_METRICS, truth, probs),
        (metrics.SOFT_LABEL_METRICS, people, probs),
    ]
    for kind, true, said in by_kind:
        for name, metric in kind.items():
            key = f"metrics/{stable(name)}"
            yield f"{key}/value", metric(true, said)
            yield f"{key}/weighted", metric(true, said, weight=weight)
            yield f"{key}/interval", metrics.interval(metric, true, said, samples=50, seed=1)
    yield "metrics/per_class", metrics.per_class(truth, labels, weight=weight)
    yield "metrics/brier_parts", metrics.brier_parts(truth, probs)
    yield "metrics/risk_coverage", metrics.risk_coverage(truth, probs)
    yield "metrics/risk_at", metrics.risk_at(truth, probs, coverage=0.7)
    yield "metrics/expected_cost", metrics.expected_cost(truth, probs, [[0, 1, 2], [3, 0, 1], [5, 4, 0]])
    yield "metrics/smooth_curve", metrics.smooth_curve(truth, probs)
    yield "metrics/entropy_ce/absolute", metrics.entropy_ce(people, probs, absolute=True)


# Simulation, data and files ------------------------------------------------------------------


def simulation() -> Results:
    """Every simulated crowd, plain and with all options, and the folder that holds it."""
    size: dict[str, Any] = {"tasks": 60, "workers": 20, "classes": 4, "votes_per_task": 5, "seed": 9}
    harder = size | {
        "max_votes_per_worker": 40, "imbalance_votes": True, "prior": (0.5, 0.3, 0.15, 0.05), "tail": 0.7,
        "drifting": 0.2, "colluding": 0.3, "group_size": 3, "abstain": 0.1, "seconds": 15.0,
    }  # fmt: skip
    for name in STRATEGIES:
        yield from drawn(f"simulation/{stable(name)}/plain", make_crowd(name, size))
        yield from drawn(f"simulation/{stable(name)}/all_options", make_crowd(name, harder))
    yield from drawn("simulation/one_coin/all_options", OneCoin(skill=(0.8, 0.6) * 10, **harder))
    found = one_coin(50, [0.9, 0.8, 0.6], classes=3, votes_per_task=2, prior=(0.5, 0.3, 0.2), seed=1)
    yield "simulation/one_coin/short_form", [found.votes, found.truth]


def drawn(key: str, crowd: Crowd) -> Results:
    """A simulation, one shard of it where there may be several, and its folder."""
    found = crowd.run()
    yield f"{key}/votes", found.votes
    yield f"{key}/truth", found.truth
    yield f"{key}/workers", [found.confusion, found.difficulty, found.teacher, found.group, found.drifting]
    if crowd.max_votes_per_worker is None:
        yield f"{key}/shard", list(crowd.shard(1, 3))
    with TemporaryDirectory() as folder:
        save(found, Path(folder) / "saved")
        yield from written(f"{key}/saved", Path(folder) / "saved")


def written(key: str, path: Path) -> Results:
    """The bytes of a file, or of all files in a folder."""
    files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
    for file in files:
        yield f"{key}/{'bytes' if file == path else file.relative_to(path)}", file.read_bytes()


def data() -> Results:
    """The data sets that come with the package."""
    for name in ("anesthesia", "digits", "texts"):
        found = open_data(name)
        yield f"data/{name}/votes", found.votes
        yield (
            f"data/{name}/truth",
            [np.array(list(found.truth), object), np.array(list(found.truth.values()))],
        )
        yield f"data/{name}/content", [found.features, None if found.texts is None else np.array(found.texts)]


def written_and_read(key: str, votes: Votes, path: Path, format: str) -> Results:
    """The bytes of votes in a format, and the votes that are read from them."""
    io.write(votes, path, format=format)
    yield from written(key, path)
    yield f"{key}/read", io.read(path, format=format)


def files() -> Results:
    """Votes written and read again in every format, and the sample of every format that is only read."""
    plain = simulated()["missing_votes"]
    crowd = suspicious()
    full = replace(with_gold(crowd.votes, crowd.truth), weight=np.tile([1.0, 2.0], len(crowd.votes) // 2))
    with TemporaryDirectory() as folder:
        for name, format in io.FORMATS.items():
            key, path = f"io/{stable(name)}", Path(folder) / name
            if format.write is not None:
                yield from written_and_read(f"{key}/plain", plain, path, name)
            if name in WITH_ALL_COLUMNS:
                yield from written_and_read(f"{key}/all_columns", full, path, name)
            if format.sample:
                (sample := Path(folder) / f"{name}_sample").write_text(format.sample)
                yield f"{key}/sample", io.read(sample, format=name)
        table = {"task": ["a", "b"], "label": ["cat", None], "score": [0.5, 1.0]}
        for suffix in io.TABLES:
            io.write_table(table, path := Path(folder) / f"table{suffix}")
            yield from written(f"io/table/{suffix[1:]}", path)
            yield f"io/table/{suffix[1:]}/labels", np.array(list(io.read_labels(path).items()))
    yield "io/from_shares", io.from_shares(predictions(3)[0][:20].round(3))


# All together --------------------------------------------------------------------------------

SECTIONS = (
    voting,
    aggregation,
    aggregation_of_many_votes,
    aggregation_of_files,
    streams,
    calibration_maps,
    diagnosis,
    measures,
    simulation,
    data,
    files,
    campaign_results,
    learning_results,
)


def all_digests() -> dict[str, str]:
    """The digest of every result; the time of each section is told on standard error."""
    found: dict[str, str] = {}
    for section in SECTIONS:
        began, before = time.perf_counter(), len(found)
        for key, value in section():
            if key in found:
                raise ValueError(f"the key {key} occurs twice")
            found[key] = digest(value)
        seconds = time.perf_counter() - began
        print(f"{section.__name__}: {len(found) - before} digests, {seconds:.1f} s", file=sys.stderr)
    return found


def main() -> None:
    """Write the digests to a file, or print them."""
    parser = argparse.ArgumentParser(description="Digests of every numerical result, as JSON.")
    parser.add_argument("-o", "--output", type=Path, help="the file; standard output if not given")
    output = parser.parse_args().output
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = json.dumps(all_digests(), indent=1, sort_keys=True) + "\n"
    if output is None:
        print(text, end="")
    else:
        output.write_text(text)


if __name__ == "__main__":
    main()
