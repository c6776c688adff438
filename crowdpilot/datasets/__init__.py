"""Public crowd data sets, by name."""

from crowdpilot.datasets.registry import Dataset
from crowdpilot.votes import Votes

DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            name="anesthesia",
            description="Five anaesthetists judge how fit 45 patients are for surgery, from 1 (best) to 4; "
            "the first of them judges each patient three times.",
            licence="published figures (facts)",
            source="Dawid and Skene, Applied Statistics 28(1), 1979, Table 1. https://doi.org/10.2307/2346806",
            repeats="all",
        ),
    )
}

__all__ = ["DATASETS", "Dataset", "load"]


def load(name: str) -> Votes:
    """The votes of a data set that comes with the package; `DATASETS` lists them.

    Examples
    --------
    >>> load("anesthesia")
    Votes(315 votes, 45 tasks, 5 workers, 4 classes)
    """
    if name not in DATASETS:
        raise ValueError(f"there is no data set {name!r}, expected one of {', '.join(DATASETS)}")
    return DATASETS[name].load()
