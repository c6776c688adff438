"""Which trainings each study consists of, and how its report looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.learning_methods import SETTINGS, Entry, Settings, bases, choose, entries, own, self_trained
from benchmarks.learning_runs import Run
from benchmarks.learning_tables import Table, cross, reasons, render_set

REMOVED = (0.2, 0.4, 0.6, 0.8)
IMBALANCED = (
    ("labelme", "1"), ("labelme", "3"), ("labelme", "6"), ("labelme", "7"), ("music", "7"), ("music", "9"),
)  # fmt: skip
ABLATED = (
    "gold", "two_stage ds soft", "crowdlayer", "crowdlayer + dasc", "conal", "waum + conal",
    "anno_reg", "anno_reg + dasc", "wdn", "wdn + dasc",
)  # fmt: skip

PRUNED = (0.01, 0.05, 0.1, 0.2, 0.3)  # shares of the tasks
MARGINS = ("margin='yang'", "margin='pleiss'", "margin='pleiss',epochs=15")

Tables = dict[str, Table]


@dataclass(frozen=True)
class Study:
    """What is asked.

    Parameters
    ----------
    file
        The name of its report.
    about
        What it is, in words.
    sets
        The crowds it is made on, if nobody says others.
    settings
        The usual settings of a crowd.
    runs
        All trainings of one crowd and one seed.
    render
        The tables of its report, given all results and the rows of each crowd.
    """

    file: str
    about: str
    sets: tuple[str, ...]
    settings: Callable[[str], Settings]
    runs: Callable[[str, int], Iterator[Run]]
    render: Callable[[Tables, dict[str, list[Entry]]], str]


def _table(name: str, seed: int) -> Iterator[Run]:
    settings = SETTINGS[name]
    for entry in entries(settings):
        yield Run(name, name, entry, settings, seed)


def _sparsity(name: str, seed: int) -> Iterator[Run]:
    settings = SETTINGS[name]
    for removed in REMOVED:
        for entry in _self_training(settings):
            title = f"{name} without {removed:.0%}"
            yield Run(title, name, entry, settings, seed, removed=removed)


def _imbalance(name: str, seed: int) -> Iterator[Run]:
    settings = _imbalanced(name)
    for crowd, label in IMBALANCED:
        if crowd == name:
            for entry in _self_training(settings):
                yield Run(f"{name} {label}", name, entry, settings, seed, label=label)


def _imbalanced(name: str) -> Settings:
    return replace(SETTINGS["imbalanced"], standardize=SETTINGS[name].standardize)


def _self_training(settings: Settings) -> list[Entry]:
    """Each base with each choice of pseudo-votes, and our own methods."""
    plain = [Entry(name, name) for name in (*bases(), *own())]
    return [*plain, *self_trained(settings, bases())]


def _ablation(name: str, seed: int) -> Iterator[Run]:
    usual = SETTINGS[name]
    rows = [e for e in entries(usual) if e.name in (*ABLATED, *own())]
    for title, settings in variations(usual).items():
        for entry in rows:
            yield Run(f"{name}: {title}", name, entry, settings, seed)


def _pruning(name: str, seed: int) -> Iterator[Run]:
    usual = SETTINGS[name]
    asked = {"best epoch": usual, "epoch 50": replace(usual, epochs=50, validate=False)}
    scores = [f"waum[alpha={alpha},{margin}]" for margin in MARGINS for alpha in PRUNED]
    for title, settings in asked.items():
        for method in ("conal", "crowdlayer"):
            yield Run(f"{name}: {method}, {title}", name, Entry("all tasks", method), settings, seed)
            for score in scores:
                yield Run(
                    f"{name}: {method}, {title}", name, Entry(score, method, prune=score), settings, seed
                )


def _together(name: str, seed: int) -> Iterator[Run]:
    settings = replace(SETTINGS[name], batch_size=512)  # the best of the ablation on the validation set
    for method in ("anno_reg", "crowdlayer"):
        added = f"dasc[add={settings.added(method)},rounds={settings.rounds}]"
        rows = [
            Entry(method, method),
            Entry(f"{method} + dasc", method, self_training=added),
            *(
                Entry(f"{method} + dasc + {map}", method, self_training=added, calibrate=map)
                for map in ("temperature", "temperature by one_vote")
            ),
        ]
        for entry in rows:
            yield Run(f"{name}: batches of 512", name, entry, settings, seed)


def variations(usual: Settings) -> dict[str, Settings]:
    """The usual settings, and each of them changed alone."""
    changes: dict[str, dict[str, Any]] = {
        "as usual": {},
        "512 hidden units": {"network": "mlp[hidden=512]"},
        "no hidden units": {"network": "linear"},
        "no dropout": {"network": "mlp[hidden=128,dropout=0.0]"},
        "last epoch": {"validate": False},
        "15 epochs, the last one": {"epochs": 15, "validate": False},
        "batches of 512": {"batch_size": 512},
        "as in the DASC paper": {"batch_size": 512, "epochs": 25, "validate": False},
        "columns of one scale": {"standardize": True},
        "steps of 0.005": {"lr": 5e-3},
        "no weight decay": {"weight_decay": 0.0},
        "noise of 0.5 added to features": {"noise": 0.5},
    }
    return {title: replace(usual, **change) for title, change in changes.items()}


def _render_table(tables: Tables, rows: dict[str, list[Entry]]) -> str:
    return "".join(f"\n## {name}\n{render_set(name, tables[name], rows[name])}" for name in tables)


def _render_cross(tables: Tables, rows: dict[str, list[Entry]]) -> str:
    return _by_set(tables, rows, flip=False)


def _render_flipped(tables: Tables, rows: dict[str, list[Entry]]) -> str:
    return _by_set(tables, rows, flip=True)


def _by_set(tables: Tables, rows: dict[str, list[Entry]], *, flip: bool) -> str:
    text = ""
    for name, entries_ in rows.items():
        own_tables = {
            title: t for title, t in tables.items() if title.partition(":")[0].split(" ")[0] == name
        }
        names = list(dict.fromkeys(entry.name for entry in entries_))
        for measure, heading in (("accuracy", "accuracy %"), ("ece", "ECE %")):
            text += f"\n## {name}: {heading}\n\n{cross(own_tables, names, measure=measure, flip=flip)}"
        text += "".join(reasons(title, table) for title, table in own_tables.items())
    return text


def chosen(study: Study, name: str, seed: int, methods: str) -> list[Run]:
    """The runs of a study whose rows are wanted."""
    runs = list(study.runs(name, seed))
    wanted = {entry.name for entry in choose([run.entry for run in runs], methods)}
    return [run for run in runs if run.entry.name in wanted]


USUAL = SETTINGS.__getitem__
STUDIES = {
    "table": Study(
        "learning",
        "Every method on every crowd. The same network and epochs for all rows of a crowd.",
        ("labelme", "labelme_effnet", "music"), USUAL, _table, _render_table,
    ),
    "sparsity": Study(
        "learning_sparsity",
        "A share of the votes is removed at random, another for each seed; tasks may be left with none.",
        ("labelme", "music"), USUAL, _sparsity, _render_cross,
    ),
    "imbalance": Study(
        "learning_imbalance",
        "One class against the rest, in votes and truth; the test has as many rows of either, so that "
        "accuracy is balanced accuracy. A column is a class of a crowd.",
        ("labelme", "music"), _imbalanced, _imbalance, _render_cross,
    ),
    "pruning": Study(
        "learning_pruning",
        "Ambiguous tasks are left out, by margins of either kind. A column says which epoch is kept: the "
        "best on the validation set, or the last of 50.",
        ("labelme",), USUAL, _pruning, _render_cross,
    ),
    "together": Study(
        "learning_together",
        "Self-training and a map that is fitted on votes, together, in batches of 512: by the validation set "
        "the best of the ablation.",
        ("labelme",), USUAL, _together, _render_cross,
    ),
    "ablation": Study(
        "learning_ablation",
        "The usual settings with one of them changed. Settings are never chosen by these figures, which are "
        "of the test.",
        ("labelme",), USUAL, _ablation, _render_flipped,
    ),
}  # fmt: skip
