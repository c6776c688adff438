"""A data scientist with a CSV of votes, who uses pandas, polars, notebooks and scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.front_door.files import write_votes
from tests.front_door.task import Newcomer, Task

START = """\
import numpy as np
import pandas as pd
import crowdpilot as cp
df = pd.read_csv("votes.csv")"""

LABELS = {"owl": "bird", "eel": "fish", "emu": "bird"}


def labels_of(frame: Any) -> dict[str, str]:
    """The label of each task in a frame of pandas or polars."""
    return dict(zip(frame["task"], frame["label"], strict=True))


TASKS = [
    Task("labels of a frame", "cp.aggregate(df).labels", lambda got: list(got) == list(LABELS.values())),
    Task(
        "labels of a file as a frame",
        'cp.aggregate("votes.csv").to_pandas()',
        lambda got: list(got.columns[:3]) == ["task", "label", "confidence"] and labels_of(got) == LABELS,
    ),
    Task(
        "what the result is",
        "print(cp.aggregate(df))\nstr(cp.aggregate(df))",
        lambda got: "3 tasks" in got and len(got) < 300,
    ),
    Task(
        "the result in a notebook",
        "cp.aggregate(df)._repr_html_()",
        lambda got: "<table" in got and "owl" in got,
    ),
    Task(
        "probabilities of the classes",
        'cp.aggregate(df).to_pandas(probs=True).set_index("task")[["p_bird", "p_fish"]].sum(axis=1)',
        lambda got: (got - 1).abs().max() < 1e-9 and list(got.index) == list(LABELS),
    ),
    Task(
        "labels beside the votes",
        'df.merge(cp.aggregate(df).to_pandas(), on="task", suffixes=("_said", ""))',
        lambda got: len(got) == 9 and labels_of(got) == LABELS,
    ),
    Task(
        "tasks that are not sure",
        "out = cp.aggregate(df).to_pandas()\nout[out.confidence < 0.95].task.tolist()",
        lambda got: "owl" in got,
    ),
    Task(
        "a table of workers",
        "cp.diagnose(df).workers",
        lambda got: list(got["worker"]) == ["ann", "bob", "cem"] and got["skill"][0] > got["skill"][2],
    ),
    Task("labels in a file", 'cp.aggregate(df).to_csv("labels.csv")', refused=r"tasks\.to_csv\(path\)"),
    Task(
        "the same with polars",
        'import polars as pl\ncp.aggregate(pl.read_csv("votes.csv")).to_polars()',
        lambda got: labels_of(got) == LABELS,
    ),
    Task(
        "a file saved with its index",
        'df.to_csv("saved.csv")\ncp.aggregate("saved.csv").labels',
        lambda got: list(got) == list(LABELS.values()),
    ),
    Task(
        "one column for each worker",
        """\
wide = df.pivot(index="task", columns="worker", values="label")
dict(zip(wide.index, cp.aggregate(wide).labels))""",
        lambda got: got == LABELS,
    ),
    Task(
        "columns with names of one's own",
        'df.columns = ["a", "b", "c"]\ncp.aggregate(df)',
        refused=r"'a', 'b', 'c'.*columns=",
    ),
    Task(
        "true labels of some tasks",
        'cp.aggregate(df, gold={"emu": "fish"}).to_pandas().label.tolist()',
        lambda got: got == ["bird", "fish", "fish"],
    ),
    Task(
        "a name of a strategy that is not quite right",
        'cp.aggregate(df, "dawid_sken")',
        refused=r"dawid_skene",
    ),
    Task(
        "a report",
        'cp.report(df, "report.html")',
        lambda _: "ann" in read("report.html"),
    ),
    Task(
        "cross-validation on votes",
        """\
from sklearn.model_selection import cross_val_score
votes, truth = cp.simulate(tasks=60, workers=5, classes=2, votes_per_task=3)
X = np.eye(2)[truth]
cross_val_score(cp.CrowdClassifier(epochs=5), X, votes, cv=3)""",
        lambda got: got.shape == (3,) and (got > 0.5).all(),
    ),
]


def read(path: str) -> str:
    """The text of a file."""
    return Path(path).read_text()


DATA_SCIENTIST = Newcomer("data scientist", write_votes, START, TASKS)
