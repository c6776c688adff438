"""What is trained on each crowd, and with which settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

from crowdpilot.learning import METHODS
from crowdpilot.learning.data.targets import TARGETS

AGGREGATORS = {
    "mv": "majority_voting",
    "naive_soft": "naive_soft",
    "ds": "dawid_skene",
    "glad": "glad",
    "wds": "wds",
}
BALANCES = ("resample", "reweight", "focal", "cb_focal")
SELECTIONS = ("confidence", "random", "dasc")
BASES = ("anno_reg", "crowdlayer", "wdn")  # those of the DASC paper
PAPERS = {
    "two_stage",
    "crowdlayer",
    "conal",
    "anno_reg",
    "wdn",
    "raykar",
    "em",
    "aggnet",
}  # the rest are our own
VARIANTS = {
    "crowdlayer": ("kind='vw'", "kind='vb'", "kind='vw+b'"),
    "mutual": ("faith=.4",),
    "conal": ("scale=0",),
}
PRUNED = ("conal", "conal[scale=0]", "two_stage wds soft")
GOLD = "gold"


@dataclass(frozen=True)
class Settings:
    """The network and how it is trained, the same for all methods on a crowd.

    Parameters
    ----------
    network, standardize, augment, epochs, batch_size, lr, weight_decay, optimizer, schedule, patience
        See `CrowdClassifier`.
    precision
        See `CrowdClassifier` too.
    validate
        Keep the epoch that is best on the validation set, if there is one.
    noise
        Standard deviation of what is added to each number of a row while training.
    prune
        The score by which ambiguous tasks are left out, in the rows that do so.
    add, rounds
        Pseudo-votes that each round of self-training adds (by method, or for all), and rounds.
    """

    network: str = "mlp[hidden=128]"
    standardize: bool = False
    augment: bool = False
    epochs: int = 50
    batch_size: int = 64
    lr: float = 1e-3
    weight_decay: float = 5e-4
    optimizer: str = "adam"
    schedule: str = "constant"
    patience: int | None = None
    precision: str = "full"
    validate: bool = True
    noise: float = 0.0
    prune: str = "waum[alpha=.01]"
    add: int | dict[str, int] = 1000
    rounds: int = 5

    def added(self, method: str) -> int:
        """Pseudo-votes that each round adds for this method."""
        return self.add if isinstance(self.add, int) else self.add.get(method, max(self.add.values()))

    def parameters(self) -> dict[str, Any]:
        """Those that `CrowdClassifier` takes."""
        own = {"validate", "noise", "prune", "add", "rounds"}
        return {name: value for name, value in asdict(self).items() if name not in own}


LABELME = Settings(epochs=100, patience=30, add={"anno_reg": 20_000, "crowdlayer": 10_000, "wdn": 10_000})
SETTINGS = {
    "labelme": LABELME,
    "labelme_effnet": LABELME,
    "music": Settings(
        "mlp[hidden=128,dropout=0.0,norm=True]", standardize=True, epochs=100, batch_size=128,
        add={"anno_reg": 700, "crowdlayer": 1000, "wdn": 1000},
    ),
    "cifar10h": Settings(
        "resnet18[small=True]", standardize=True, augment=True, epochs=20, batch_size=256,
        schedule="cosine", precision="mixed", prune="waum[alpha=.01,folds=1]", add=2000, rounds=2,
    ),
    "imbalanced": Settings(epochs=100, batch_size=128, lr=1e-4, validate=False, add=500, rounds=4),
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """A row of a table: a method, and what is done around it.

    Parameters
    ----------
    name
        What it is called in tables.
    method, balance, prune, self_training, calibrate
        See `CrowdClassifier`.
    base
        The row that it must be better than.
    gold
        Learn from the true classes instead of votes: what nothing can beat.
    """

    name: str
    method: str
    balance: str = "none"
    prune: str | None = None
    self_training: str | None = None
    base: str | None = None
    gold: bool = False
    calibrate: str | None = None

    @property
    def group(self) -> str:
        """The table it stands in."""
        if self.self_training is not None:
            return "Self-training"
        if self.prune is not None:
            return "Pruning"
        if self.balance != "none":
            return "Rare classes"
        return "Two stages" if self.method.startswith("two_stage") else "Methods"

    def parameters(self) -> dict[str, Any]:
        """Those that `CrowdClassifier` takes."""
        around = {"prune": self.prune, "self_training": self.self_training, "calibrate": self.calibrate}
        if self.calibrate is not None:
            map, _, by = self.calibrate.partition(" by ")
            around |= {"calibrate": map, "calibrate_by": by or None}
        options = {name: value for name, value in around.items() if value is not None}
        return {"method": self.method, "balance": self.balance, **options}


def entries(settings: Settings) -> list[Entry]:
    """Every row of the table of a crowd."""
    plain = [*_two_stages(), *_methods()]
    return [
        Entry(GOLD, "two_stage[labels='majority_voting',targets='hard']", gold=True),
        *plain,
        *_balanced(),
        *self_trained(settings, bases()),
        *(
            Entry(f"waum + {entry.name}", entry.method, prune=settings.prune, base=entry.name)
            for entry in plain
            if entry.name in PRUNED
        ),
    ]


def bases() -> list[str]:
    """The methods that balance and self-training are tried on."""
    return [name for name in BASES if name in METHODS]


def own() -> list[str]:
    """The methods that are in no paper."""
    return [name for name in METHODS if name not in PAPERS]


def self_trained(settings: Settings, methods: Iterable[str]) -> Iterator[Entry]:
    """Each way of choosing pseudo-votes over each method."""
    for method in methods:
        options = f"[add={settings.added(method)},rounds={settings.rounds}]"
        for selection in SELECTIONS:
            yield Entry(f"{method} + {selection}", method, self_training=f"{selection}{options}", base=method)


def choose(entries: Iterable[Entry], wanted: str) -> list[Entry]:
    """The entries whose name contains, or as a pattern matches, one of the texts between commas."""
    texts = [text.strip() for text in wanted.split(",") if text.strip()]
    return [e for e in entries if not texts or any(t in e.name or fnmatchcase(e.name, t) for t in texts)]


def _two_stages() -> Iterator[Entry]:
    for short, labels in AGGREGATORS.items():
        for targets in TARGETS:
            yield Entry(f"two_stage {short} {targets}", f"two_stage[labels={labels!r},targets={targets!r}]")


def _methods() -> Iterator[Entry]:
    for name in METHODS:
        if name != "two_stage":
            yield Entry(name, name)
            for options in VARIANTS.get(name, ()):
                yield Entry(f"{name}[{options}]", f"{name}[{options}]")


def _balanced() -> Iterator[Entry]:
    for method in bases():
        for balance in BALANCES:
            yield Entry(f"{method} + {balance}", method, balance=balance, base=method)
