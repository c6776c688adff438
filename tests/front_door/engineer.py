"""An engineer with a classifier's probabilities, a budget and a service to wire."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from tests.front_door.files import write_reviews
from tests.front_door.task import Newcomer, Output, Task

START = """\
import numpy as np
import pandas as pd
import crowdpilot as cp
votes = pd.read_csv("votes.csv")
items = pd.read_csv("items.csv").item
probs = pd.read_csv("probs.csv", index_col="item")
X = np.load("X.npy")
costs = cp.Costs.binary(fp=1, fn=5, crowd=0.05)"""

NEXT = "crowdpilot next items.csv --votes votes.csv --machine probs.csv"


def rows(text: str) -> list[dict[str, str]]:
    """The rows of a CSV text."""
    return list(csv.DictReader(io.StringIO(text)))


def rows_of(path: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return rows(Path(path).read_text())


def is_40_labels(output: Output) -> bool:
    """Whether the output is CSV with a label for each task that has votes."""
    return len(rows(output.stdout)) == 40 and {row["label"] for row in rows(output.stdout)} == {"no", "yes"}


TASKS = [
    Task("labels from a pipe", "$ cat votes.csv | crowdpilot aggregate -", is_40_labels),
    Task(
        "labels into a file, then scored",
        "$ crowdpilot aggregate votes.csv > labels.csv\n$ crowdpilot score labels.csv truth.csv",
        lambda out: "accuracy" in out.stdout.lower() and len(rows_of("labels.csv")) == 40,
    ),
    Task(
        "which strategy is best",
        "$ crowdpilot compare votes.csv --truth truth.csv",
        lambda out: {"auto", "majority_voting", "dawid_skene"} <= set(out.stdout.replace(",", " ").split()),
    ),
    Task(
        "labels from votes and a classifier",
        "$ crowdpilot aggregate votes.csv --machine probs.csv -o labels.csv",
        lambda _: len(rows_of("labels.csv")) >= 40,
    ),
    Task(
        "scores that are no probabilities",
        "$ sed 's/,0\\./,3./' probs.csv > scores.csv\n$ crowdpilot aggregate votes.csv --machine scores.csv",
        refused=r"scores\.csv.*(sum|between)",
    ),
    Task(
        "what to ask next",
        f"$ {NEXT} --budget 200 --costs fp=1,fn=5,crowd=.05 -o ask.csv",
        lambda _: len(rows_of("ask.csv")) > 0 and rows_of("ask.csv")[0]["item"].startswith("review"),
    ),
    Task(
        "what to ask after the answers",
        f"""\
$ {NEXT} --budget 200 --costs fp=1,fn=5,crowd=.05 -o ask.csv
$ tail -n +2 ask.csv | cut -d, -f1 | sed 's/$/,ann,yes/' >> votes.csv
$ {NEXT} --budget 200 --costs fp=1,fn=5,crowd=.05 -o more.csv""",
        lambda _: 0 < len(rows_of("more.csv")) < len(rows_of("ask.csv")),
    ),
    Task(
        "what to ask next, with less money than the votes have cost",
        f"$ {NEXT} --budget 20",
        lambda out: "100 pays for 20 more" in out.stderr and not rows(out.stdout),
    ),
    Task(
        "what to ask next, in Python",
        "cp.next_votes(items, votes, probs, costs=costs, budget=20)",
        lambda got: 0 < len(got) <= 20 / 0.05,
    ),
    Task(
        "votes and a classifier, in Python",
        "cp.Fusion().fit(votes, probs).to_pandas()",
        lambda got: set(got.label) == {"no", "yes"} and len(got) >= 40,
    ),
    Task(
        "cleanlab's consensus",
        """\
labels = votes.pivot(index="item", columns="worker", values="label")
cp.consensus(labels, probs.loc[labels.index].to_numpy())""",
        lambda got: (
            len(got["label_quality"]) == 40 and set(got["annotator_stats"].index) == {"w0", "w1", "w2", "w3"}
        ),
    ),
    Task(
        "a campaign with a pipeline",
        """\
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
model = make_pipeline(StandardScaler(), LogisticRegression())
campaign = cp.Campaign(items, ["no", "yes"], costs, features=X, classifier=model)
for worker in ["ann", "bob", "cem"]:
    for ask in campaign.ask(worker, 30):
        campaign.tell([(ask.item, worker, "yes" if X[int(ask.item[-2:]), 0] > 0.5 else "no")])
campaign.decide().labels""",
        lambda got: len(got) == 60,
    ),
    Task(
        "a campaign with nearest neighbours",
        """\
from sklearn.neighbors import KNeighborsClassifier
campaign = cp.Campaign(items, ["no", "yes"], costs, features=X, classifier=KNeighborsClassifier())
for worker in ["ann", "bob", "cem"]:
    for ask in campaign.ask(worker, 30):
        campaign.tell([(ask.item, worker, "yes" if X[int(ask.item[-2:]), 0] > 0.5 else "no")])
campaign.decide().labels""",
        lambda got: len(got) == 60,
    ),
    Task(
        "a campaign with a classifier that has no probabilities",
        """\
from sklearn.svm import LinearSVC
cp.Campaign(items, ["no", "yes"], costs, features=X, classifier=LinearSVC())""",
        refused=r"predict_proba",
    ),
    Task(
        "a file without workers",
        "$ cut -d, -f1,3 votes.csv > short.csv\n$ crowdpilot aggregate short.csv",
        refused=r"(?i)worker",
    ),
    Task(
        "JSON for another program",
        "$ crowdpilot aggregate votes.csv --json",
        lambda out: len(json.loads(out.stdout)) == 40,
    ),
    Task("a file that is not there", "$ crowdpilot aggregate vote.csv", refused=r"vote\.csv.*votes\.csv"),
]

ENGINEER = Newcomer("engineer", write_reviews, START, TASKS)
