"""Record the labels of crowd-kit: `python -m tests.aggregation.crowd_kit.record`, where it is installed."""

from __future__ import annotations

import json
import warnings
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from tests.aggregation.crowd_kit.inputs import GOLD, INPUTS

MODELS = ("MajorityVote", "Wawa", "ZeroBasedSkill", "GoldMajorityVote", "DawidSkene", "OneCoinDawidSkene")
MODELS += ("GLAD", "MACE", "MMSR", "KOS")
FILE = Path(__file__).with_name("labels.json")


def fit_predict(name: str, model: str) -> dict[str, Any] | str:
    """The label of each task, or the error."""
    votes = pd.DataFrame(INPUTS[name], columns=["worker", "task", "label"])
    gold = [pd.Series(GOLD[name])] if model == "GoldMajorityVote" else []
    try:
        labels = getattr(import_module("crowdkit.aggregation"), model)().fit_predict(votes, *gold)
    except ValueError as error:
        return str(error)
    return {str(task): label for task, label in zip(labels.index, labels.tolist(), strict=True)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    pairs = [(n, m) for n in INPUTS for m in MODELS if m != "GoldMajorityVote" or n in GOLD]
    recorded = {f"{name} {model}": fit_predict(name, model) for name, model in pairs}
    lines = [f"{json.dumps(key)}: {json.dumps(labels)}" for key, labels in recorded.items()]
    source = f'"crowd-kit": "{version("crowd-kit")}"'
    FILE.write_text("{" + ",\n".join([source, *lines]) + "}\n")
