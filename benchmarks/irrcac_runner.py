"""AC1 and Fleiss' kappa by irrCAC: JSON from standard input to standard output.

The input is a list of objects: `ratings`, a list for each task with a number or null for each rater,
and `classes`, how many there are. The output is a list of pairs. It runs in the environment of the
peers, so it imports no part of Crowdpilot; `pip install --no-deps irrCAC==0.4.4` puts irrCAC there,
whose requirements exclude current versions of scipy and pandas although it works with them.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any


def measure(ratings: list[list[int | None]], classes: int) -> list[float]:
    """Both coefficients, with all their digits."""
    import numpy as np
    import pandas as pd
    from irrCAC.raw import CAC  # type: ignore[import-not-found]  # not in our environment

    # Classes must be given: with pandas 3, irrCAC would count missing ratings as one more.
    table = pd.DataFrame(np.array(ratings, float))
    found = CAC(table, categories=[float(k) for k in range(classes)], digits=15)
    return [float(result["est"]["coefficient_value"]) for result in (found.gwet(), found.fleiss())]


def main(jobs: list[dict[str, Any]]) -> None:
    """Do all jobs and print what comes out."""
    warnings.simplefilter("ignore")
    print(json.dumps([measure(**job) for job in jobs]))


if __name__ == "__main__":
    main(json.load(sys.stdin))
