"""A student who knows peerannot and crowd-kit, and types their calls with our name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tests.front_door.files import write_peerannot_folder
from tests.front_door.task import Newcomer, Task

START = """\
import pandas as pd
import crowdpilot as cp
df = pd.read_csv("votes.csv")"""

LABELS = {"owl": "bird", "eel": "fish", "emu": "bird"}

TASKS = [
    Task(
        "crowd-kit's majority vote",
        "from crowdpilot.aggregation import MajorityVote\nMajorityVote().fit_predict(df)",
        lambda got: got.to_dict() == LABELS and got.index.name == "task",
    ),
    Task(
        "crowd-kit's Dawid-Skene with its number of iterations",
        "from crowdpilot.aggregation import DawidSkene\nDawidSkene(n_iter=10).fit_predict(df)",
        refused=r"max_iter",
    ),
    Task(
        "crowd-kit's probabilities",
        "cp.GLAD().fit_predict_proba(df)",
        lambda got: got.idxmax(axis=1).to_dict() == LABELS and np.allclose(got.sum(axis=1), 1),
    ),
    Task(
        "crowd-kit's labels after a fit",
        "model = cp.DawidSkene().fit(df)\nmodel.labels_",
        refused=r"labels",
    ),
    Task(
        "crowd-kit's columns in another order, with one more",
        'cp.Auto().fit_predict(df[["worker", "label", "task"]].assign(time=range(9)))',
        lambda got: got.to_dict() == LABELS,
    ),
    Task(
        "scikit-learn's accuracy of what crowd-kit's call gives",
        """\
from sklearn.metrics import accuracy_score
gt = pd.read_csv("truth.csv", index_col="task").label
accuracy_score(gt, cp.MajorityVoting().fit_predict(df)[gt.index])""",
        lambda got: got == 1,
    ),
    Task(
        "crowd-kit's Krippendorff's alpha",
        "from crowdpilot.metrics import alpha_krippendorff\nalpha_krippendorff(df)",
        refused=r"use .*krippendorff_alpha\(votes\)",
    ),
    Task(
        "crowd-kit's aggregation of texts", "from crowdpilot.aggregation import ROVER", refused=r"(?i)class"
    ),
    Task(
        "crowd-kit's skills",
        'cp.aggregate(df).workers.set_index("worker").skill',
        lambda got: got["ann"] == got["bob"] > got["cem"],
    ),
    Task(
        "the confusion matrix of a worker",
        'cp.aggregate(df, "dawid_skene").confusion("ann")',
        lambda got: got.shape == (2, 2),
    ),
    Task("a worker whose name is misspelt", 'cp.aggregate(df).confusion("anne")', refused=r"anne.*ann\b"),
    Task(
        "peerannot's answers",
        'import json\nanswers = json.load(open("answers.json"))\ncp.DawidSkene().fit(answers).labels',
        lambda got: [int(label) for label in got] == [0, 1, 0],
    ),
    Task(
        "peerannot's answers in the constructor",
        "answers = {0: {0: 1, 1: 1}, 1: {0: 0, 1: 0}}\nds = cp.DawidSkene(answers, n_classes=2)\nds.run()",
        refused=r"fit\(",
    ),
    Task(
        "peerannot's name of a strategy",
        'cp.aggregate(df, "DS").labels',
        lambda got: list(got) == list(LABELS.values()),
    ),
    Task(
        "peerannot's aggregate at the prompt",
        "$ crowdpilot aggregate . -s DS",
        lambda out: [line.split(",")[1] for line in out.stdout.split()] == ["label", "0", "1", "0"],
    ),
    Task(
        "peerannot's identify at the prompt",
        "$ crowdpilot identify . -s entropy -K 2 --labels answers.json",
        lambda out: [line.split(",")[0] for line in out.stdout.split()] == ["task", "0", "1", "2"],
    ),
    Task(
        "peerannot's simulate at the prompt",
        "$ crowdpilot simulate --n-worker=30 --n-task=200 --n-classes=5 --strategy independent-confusion"
        " --feedback=10 --seed 0 --folder ./simus/independent",
        lambda _: len(json.loads(Path("simus/independent/answers.json").read_text())) == 200,
    ),
]

STUDENT = Newcomer("student", write_peerannot_folder, START, TASKS)
