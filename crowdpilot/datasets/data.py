"""A data set in memory: votes, truth, texts, features and images of its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from crowdpilot.arrays import Names
from crowdpilot.votes import Votes


@dataclass(frozen=True, eq=False)
class Part:
    """Some tasks, and all that is known of them.

    Parameters
    ----------
    tasks
        Their names; row *i* of the texts, features and images is about `tasks[i]`.
    votes
        What the crowd said, None if it was not asked.
    truth
        The label of each task whose true class is known, by its name.
    texts, features, images
        The content of the tasks, None where there is none. Images are an array, or paths of files.
    """

    tasks: Names
    votes: Votes | None = None
    truth: Mapping[Any, Any] = field(default_factory=dict)
    texts: Sequence[str] | None = None
    features: NDArray[Any] | None = None
    images: NDArray[Any] | Sequence[Path] | None = None


@dataclass(frozen=True, eq=False)
class Data:
    """The tasks that the crowd judged, and parts to validate and test by, which it mostly did not.

    Parameters
    ----------
    train
        The tasks with votes; the properties of the same names are those of this part.
    parts
        Others by name, such as "val" and "test".
    """

    train: Part
    parts: Mapping[str, Part] = field(default_factory=dict)

    @property
    def votes(self) -> Votes:
        """What the crowd said of the tasks."""
        if self.train.votes is None:
            raise ValueError(
                "the data set has no votes; a folder has them in answers.csv, soft.csv, counts.csv or "
                "answers.json"
            )
        return self.train.votes

    @property
    def tasks(self) -> Names:
        """The names of the tasks, in the order of their content."""
        return self.train.tasks

    @property
    def truth(self) -> Mapping[Any, Any]:
        """The label of each task whose true class is known."""
        return self.train.truth

    @property
    def texts(self) -> Sequence[str] | None:
        """A text for each task."""
        return self.train.texts

    @property
    def features(self) -> NDArray[Any] | None:
        """A row of numbers for each task."""
        return self.train.features

    @property
    def images(self) -> NDArray[Any] | Sequence[Path] | None:
        """An image for each task."""
        return self.train.images

    def __repr__(self) -> str:
        shown = [repr(self.train.votes) if self.train.votes is not None else f"{len(self.tasks)} tasks"]
        shown += [f"truth of {len(self.truth)}"] if self.truth else []
        shown += [name for name in ("texts", "features", "images") if getattr(self, name) is not None]
        shown += [f"{name} of {len(part.tasks)}" for name, part in self.parts.items()]
        return f"Data({', '.join(shown)})"
