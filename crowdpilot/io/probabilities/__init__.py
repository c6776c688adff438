"""Class probabilities of tasks from arrays, data frames, mappings and files; checked, in the order wanted."""

from __future__ import annotations

from typing import Any

from crowdpilot.arrays import Floats, Names
from crowdpilot.io.probabilities.class_probs import ClassProbs
from crowdpilot.io.probabilities.sources import parse_probs

__all__ = ["ClassProbs", "parse_probs", "read_probs"]


def read_probs(source: Any, tasks: Names, classes: Names) -> Floats:
    """The class probabilities of these tasks, (tasks, classes); each row sums to one.

    A sum may miss one by .005 for each class, .05 at most, as probabilities rounded to two decimals do. Rows
    of other tasks are left out.

    Parameters
    ----------
    source
        An array (tasks, classes) in the order of the tasks; a data frame, or a dict of columns, with a
        column or an index for the task and one for each class (`p_CLASS` or `CLASS`), or with the columns
        task, class and probability; a mapping from each task to its row or to `{class: probability}`; or
        the path of a file: .csv, .tsv, .parquet, .jsonl, .npy, or .npz with `probs` and perhaps `tasks`
        and `classes`.
    tasks, classes
        Their names; names are compared as text.

    Raises
    ------
    ValueError
        One sentence with the first task or class that is missing or wrong.

    Examples
    --------
    >>> import numpy as np
    >>> probs = {"b": {"cat": 0.1, "dog": 0.9}, "a": {"dog": 0.2, "cat": 0.8}}
    >>> read_probs(probs, np.array(["a", "b"]), np.array(["cat", "dog"])).tolist()
    [[0.8, 0.2], [0.1, 0.9]]
    """
    return parse_probs(source, classes).align(tasks, classes)
