"""Saved classifiers: one safetensors file with a versioned JSON description, and nothing executable."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from crowdpilot.arrays import Names
from crowdpilot.calibration import FittedMap, load_map
from crowdpilot.io.atomic_write import atomic_path
from crowdpilot.learning.data.frozen_features import Backbone, restore_backbone
from crowdpilot.learning.data.rows import Dense
from crowdpilot.learning.encoders.tfidf import FittedTfidf
from crowdpilot.learning.method import Method
from crowdpilot.learning.registry import MakeMethod, Network, find_method, make_network
from crowdpilot.votes import Votes

FORMAT, VERSION = "crowdpilot-classifier", 1
METADATA_KEY = "crowdpilot"  # of safetensors; its value is the description in JSON
BACKBONE = "backbone/"  # begins the names of the tensors of a backbone that was learned
CODE_SETTINGS = ("network", "method", "backbone")  # which may be modules or functions, that are not saved

SETTINGS = {
    "network": "network", "method": "method", "backbone": "backbone", "standardize": "standardize",
    "prune": "prune", "self_training": "self_training", "calibrate": "calibrate",
    "calibrate_by": "calibrate_by", "balance": "balance", "epochs": "epochs", "batch_size": "batch_size",
    "lr": "learning_rate", "weight_decay": "weight_decay", "optimizer": "optimizer", "momentum": "momentum",
    "schedule": "schedule", "milestones": "milestones", "lr_decay": "learning_rate_decay",
    "patience": "patience", "precision": "precision", "seed": "seed", "augment": "augment",
    "size": "image_size", "device": "device", "threads": "threads", "progress": "progress",
    "checkpoint": "checkpoint",
}  # fmt: skip
"""Names in the file of the parameters of `CrowdClassifier`; a parameter may be renamed, the file stays."""


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A trained classifier, as it is kept in a file.

    Parameters
    ----------
    settings
        Of `CrowdClassifier`, by the names of its parameters.
    method
        The trained method.
    shape
        Of a row of X, as the network sees it.
    classes, workers
        Their names.
    history
        Scores of each epoch.
    backbone
        What turns X into features; if it was learned, its state is saved too.
    map
        The fitted calibration map, if any.
    """

    settings: dict[str, Any]
    method: Method
    shape: tuple[int, ...]
    classes: Names
    workers: Names
    history: list[dict[str, float]]
    backbone: Backbone | None = None
    map: FittedMap | None = None

    @property
    def votes(self) -> Votes:
        """No votes by these workers: those it was trained on are not saved."""
        nothing = np.zeros(0, np.int32)
        return Votes(nothing, nothing, nothing, nothing, self.workers, self.classes)


def save_model(path: str | PathLike[str], model: SavedModel) -> None:
    """Write a model; the file appears when it is complete, and not before.

    A network, method or backbone that was given as a module or a function, and not by its name, is
    code: its weights are saved, and it must be passed again when the model is loaded.
    """
    from safetensors.torch import save_file

    code = [name for name in CODE_SETTINGS if callable(model.settings.get(name))]
    settings = {name: value for name, value in model.settings.items() if name not in code}
    description = {
        "format": FORMAT,
        "version": VERSION,
        "torch": torch.__version__,
        "settings": {SETTINGS[name]: _to_json(name, value) for name, value in settings.items()},
        "passed_as_code": [SETTINGS[name] for name in code],
        "classes": _pack_names(model.classes),
        "workers": _pack_names(model.workers),
        "row_shape": list(model.shape),
        "epochs": model.history,
        "calibration_map": None if model.map is None else model.map.to_dict(),
    }
    state = model.method.state_dict()
    of_model = {name: value for name, value in state.items() if name not in model.method.task_buffers}
    tensors = model.method.to_file(of_model)
    if isinstance(model.backbone, FittedTfidf):
        tensors |= {f"{BACKBONE}{name}": value for name, value in model.backbone.state_dict().items()}
    tensors = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    with atomic_path(path) as draft:
        save_file(tensors, draft, metadata={METADATA_KEY: json.dumps(description)})


def load_model(
    path: str | PathLike[str],
    *,
    device: torch.device | str = "cpu",
    network: Network | None = None,
    method: MakeMethod | None = None,
    backbone: nn.Module | Callable[[Any], Any] | None = None,
) -> SavedModel:
    """Read a model, which predicts exactly what the saved one did.

    Parameters
    ----------
    path
        What `save_model` wrote.
    device
        Where the network will be.
    network, method, backbone
        The modules or functions that the model was trained with, if it was not by names.
    """
    description, tensors = _read(Path(path))
    parameters = {name: parameter for parameter, name in SETTINGS.items()}
    settings: dict[str, Any] = {
        parameters[name]: tuple(value) if isinstance(value, list) else value
        for name, value in description["settings"].items()
    }
    passed = {"network": network, "method": method, "backbone": backbone}
    settings |= {name: part for name, part in passed.items() if part is not None}
    for name in (parameters[name] for name in description["passed_as_code"]):
        if name not in settings:
            raise ValueError(
                f"{path}: the {name} was not given by a name, so it is not in the file; "
                f"give it again: load(path, {name}=...)"
            )
    shape, classes, workers = (
        tuple(description["row_shape"]), _unpack_names(description["classes"]),
        _unpack_names(description["workers"]),
    )  # fmt: skip
    row = Dense(torch.zeros(1, *shape), torch.device("cpu"))
    standardize = bool(settings.get("standardize", True))
    net = make_network(settings["network"], row, len(classes), standardize=standardize, blank=True)
    built = find_method(settings["method"])(net, _minimal_votes(workers, classes))
    learned = {name.removeprefix(BACKBONE): v for name, v in tensors.items() if name.startswith(BACKBONE)}
    own = {name: v for name, v in tensors.items() if not name.startswith(BACKBONE)}
    _load_state(built, built.from_file(own), Path(path))
    features = restore_backbone(settings["backbone"], learned) if learned else settings.get("backbone")
    map = None if description["calibration_map"] is None else load_map(description["calibration_map"])
    trained = built.to(device).eval()
    return SavedModel(settings, trained, shape, classes, workers, description["epochs"], features, map)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The description, and the tensors by their names in the file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            description = json.loads((file.metadata() or {}).get(METADATA_KEY, "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise ValueError(f"{path}: cannot be read as a saved classifier ({reason})") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ValueError(f"{path}: it is a safetensors file, but no classifier that Crowdpilot has saved")
    if description["version"] > VERSION:
        raise ValueError(
            f"{path}: it has version {description['version']} of the format, but this Crowdpilot reads "
            f"versions up to {VERSION}; a newer one is needed"
        )
    return description, tensors


def _minimal_votes(workers: Names, classes: Names) -> Votes:
    """The fewest votes that a method can be built from: one task of known class with one vote."""
    vote = np.zeros(min(1, len(workers)), np.int32)
    return Votes(vote, vote, vote, np.arange(1), workers, classes, gold=np.zeros(1, np.int32))


def _load_state(method: Method, state: Mapping[str, Tensor], path: Path) -> None:
    """Load a state into a method that was built from other votes: buffers may differ in shape."""
    own = method.state_dict(keep_vars=True)
    try:
        for name, value in state.items():
            part, _, last = name.rpartition(".")
            if name.startswith("net."):
                continue
            if name not in own and getattr(method.get_submodule(part), last) is None:
                setattr(method.get_submodule(part), last, value)  # a buffer that is still None
            elif name in own and own[name].shape != value.shape:
                own[name].data = value.to(own[name].dtype)
        initial = {name: own[name] for name in method.task_buffers}
        method.load_state_dict({**initial, **state})
    except (RuntimeError, AttributeError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise ValueError(f"{path}: its tensors do not fit its network and method ({reason})") from error


def _to_json(name: str, value: Any) -> Any:
    """A setting as a JSON value."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, PathLike):
        return str(value)
    if isinstance(value, (tuple, list)):
        return [_to_json(name, part) for part in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise ValueError(f"the setting {name} is {value!r}, which cannot be saved")


def _pack_names(names: Names) -> dict[str, Any]:
    values = [value.item() if isinstance(value, np.generic) else value for value in names.tolist()]
    if unsupported := [value for value in values if not isinstance(value, (str, bool, int, float))]:
        raise ValueError(
            f"{unsupported[0]!r} is a name of type {type(unsupported[0]).__name__}, which cannot be saved"
        )
    return {"type": "object" if names.dtype == object else names.dtype.name, "values": values}


def _unpack_names(packed: Mapping[str, Any]) -> Names:
    values = np.empty(len(packed["values"]), object)
    values[:] = packed["values"]
    return values.astype(packed["type"])
