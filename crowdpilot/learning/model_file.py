"""A trained classifier in one file: safetensors with JSON, and nothing that runs when it is read."""

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

from crowdpilot import __version__
from crowdpilot.arrays import Names
from crowdpilot.calibration import Fitted, load_map
from crowdpilot.io.atomic_write import whole
from crowdpilot.learning.data.rows import Dense
from crowdpilot.learning.encoders.frozen_encoder import Backbone, restore_backbone
from crowdpilot.learning.encoders.tfidf import Words
from crowdpilot.learning.method import Method
from crowdpilot.learning.registry import MakeMethod, Network, find_method, make_network
from crowdpilot.votes import Votes

KIND = "crowdpilot classifier"
FORMAT = 1
LEARNED = "backbone/"  # begins the names of what a backbone has learned
PARTS = ("network", "method", "backbone")  # settings that may be code, which is not saved


@dataclass(frozen=True, eq=False)
class Model:
    """A trained classifier, as it is kept in a file.

    Parameters
    ----------
    settings
        Of `CrowdClassifier`, by their names.
    method
        The trained method.
    shape
        Of a row of X, as the network sees it.
    classes, workers
        Their names.
    history
        Scores of each epoch.
    backbone
        What turns X into features; if it was learned, its state is kept too.
    map
        What makes probabilities honest, if anything does.
    """

    settings: dict[str, Any]
    method: Method
    shape: tuple[int, ...]
    classes: Names
    workers: Names
    history: list[dict[str, float]]
    backbone: Backbone | None = None
    map: Fitted | None = None

    @property
    def votes(self) -> Votes:
        """No votes of these workers: those it was trained on are not kept."""
        nothing = np.zeros(0, np.int32)
        return Votes(nothing, nothing, nothing, nothing, self.workers, self.classes)


def save_model(path: str | PathLike[str], model: Model) -> None:
    """Write a model; the file is there when it is complete, and not before.

    A network, method or backbone that was given as a module or a function, and not by its name, is
    code: its weights are saved, and it must be given again when the model is loaded.
    """
    from safetensors.torch import save_file

    given = [name for name in PARTS if callable(model.settings.get(name))]
    known = {name: value for name, value in model.settings.items() if name not in given}
    about = {
        "kind": KIND, "format": FORMAT, "versions": {"crowdpilot": __version__, "torch": torch.__version__},
        "settings": {name: _plain(name, value) for name, value in known.items()}, "given": given,
        "classes": _pack_names(model.classes), "workers": _pack_names(model.workers),
        "shape": list(model.shape), "history": model.history,
        "map": None if model.map is None else model.map.to_dict(),
    }  # fmt: skip
    kept = model.method.state_dict()
    state = {name: value for name, value in kept.items() if name not in model.method.of_tasks}
    if isinstance(model.backbone, Words):
        state |= {f"{LEARNED}{name}": value for name, value in model.backbone.state_dict().items()}
    tensors = {name: value.detach().cpu().contiguous().clone() for name, value in state.items()}
    with whole(path) as draft:
        save_file(tensors, draft, metadata={"crowdpilot": json.dumps(about)})


def load_model(
    path: str | PathLike[str],
    *,
    device: torch.device | str = "cpu",
    network: Network | None = None,
    method: MakeMethod | None = None,
    backbone: nn.Module | Callable[[Any], Any] | None = None,
) -> Model:
    """Read a model; it says of any X what the saved one said.

    Parameters
    ----------
    path
        What `save_model` wrote.
    device
        Where the network will be.
    network, method, backbone
        The modules or functions that the model was trained with, if it was not by names.
    """
    about, state = _read(Path(path))
    again = {"network": network, "method": method, "backbone": backbone}
    plain: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in about["settings"].items()
    }
    settings = {**plain, **{name: part for name, part in again.items() if part is not None}}
    for name in about["given"]:
        if name not in settings:
            raise ValueError(
                f"{path}: the {name} was not given by a name, so it is not in the file; "
                f"give it again: load(path, {name}=...)"
            )
    shape, classes, workers = tuple(about["shape"]), _names(about["classes"]), _names(about["workers"])
    row = Dense(torch.zeros(1, *shape), torch.device("cpu"))
    common = bool(settings.get("standardize", True))
    net = make_network(settings["network"], row, len(classes), standardize=common, blank=True)
    built = find_method(settings["method"])(net, _no_votes(workers, classes))
    learned = {name.removeprefix(LEARNED): v for name, v in state.items() if name.startswith(LEARNED)}
    _fill(built, {name: v for name, v in state.items() if not name.startswith(LEARNED)}, Path(path))
    found = restore_backbone(settings["backbone"], learned) if learned else settings.get("backbone")
    map = None if about.get("map") is None else load_map(about["map"])
    return Model(settings, built.to(device).eval(), shape, classes, workers, about["history"], found, map)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            about = json.loads((file.metadata() or {}).get("crowdpilot", "{}"))
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise ValueError(f"{path}: cannot be read as a saved classifier ({reason})") from error
    if not isinstance(about, dict) or about.get("kind") != KIND:
        raise ValueError(f"{path}: it is a safetensors file, but no classifier that Crowdpilot has saved")
    if about["format"] > FORMAT:
        made = about["versions"]["crowdpilot"]
        raise ValueError(f"{path}: it was saved by Crowdpilot {made}, which is newer than this one")
    return about, state


def _no_votes(workers: Names, classes: Names) -> Votes:
    """As little as a method can be made from: one task of known class, and one vote about it."""
    vote = np.zeros(min(1, len(workers)), np.int32)
    return Votes(vote, vote, vote, np.arange(1), workers, classes, gold=np.zeros(1, np.int32))


def _fill(method: Method, state: Mapping[str, Tensor], path: Path) -> None:
    """Put a method into a state, whatever number of tasks that is about."""
    own = method.state_dict(keep_vars=True)
    try:
        for name, value in state.items():
            part, _, last = name.rpartition(".")
            if name.startswith("net."):
                continue
            if name not in own and getattr(method.get_submodule(part), last) is None:
                setattr(method.get_submodule(part), last, value)  # a buffer that was empty so far
            elif name in own and own[name].shape != value.shape:
                own[name].data = value.to(own[name].dtype)
        left = {name: own[name] for name in method.of_tasks}
        method.load_state_dict({**left, **state})
    except (RuntimeError, AttributeError) as error:
        reason = str(error).splitlines()[-1].strip()
        raise ValueError(f"{path}: what is in it does not fit its network and method ({reason})") from error


def _plain(name: str, value: Any) -> Any:
    """A setting as JSON holds it."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, PathLike):
        return str(value)
    if isinstance(value, (tuple, list)):
        return [_plain(name, part) for part in value]
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise ValueError(f"the setting {name} is {value!r}, which cannot be saved")


def _pack_names(names: Names) -> dict[str, Any]:
    values = [value.item() if isinstance(value, np.generic) else value for value in names.tolist()]
    if odd := [value for value in values if not isinstance(value, (str, bool, int, float))]:
        raise ValueError(f"{odd[0]!r} is a name of type {type(odd[0]).__name__}, which cannot be saved")
    return {"type": "object" if names.dtype == object else names.dtype.name, "values": values}


def _names(packed: Mapping[str, Any]) -> Names:
    values = np.empty(len(packed["values"]), object)
    values[:] = packed["values"]
    return values.astype(packed["type"])
