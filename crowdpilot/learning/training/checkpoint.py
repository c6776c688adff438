"""Checkpoints: the state of a training run after each epoch in one safetensors file, to resume from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from crowdpilot.io.atomic_write import atomic_path

FORMAT, VERSION = "crowdpilot-checkpoint", 1
METADATA_KEY = "crowdpilot"  # of safetensors; its value is JSON

Loaded = tuple[list[dict[str, float]], dict[str, Tensor] | None]  # scores of all epochs, best state


class Stateful(Protocol):
    """Whatever has a state to save: methods, optimizers, callbacks."""

    def state_dict(self) -> Any: ...

    def load_state_dict(self, state: Any) -> Any: ...


@dataclass(frozen=True)
class Checkpoint:
    """A safetensors file with the state after an epoch.

    Its metadata hold format, version, settings of the run, scores of all epochs, and the states of all
    parts as nested JSON with references to the tensors.

    Parameters
    ----------
    path
        The file.
    run
        Settings that identify the run, as JSON holds them. A file of another run is refused.
    """

    path: Path
    run: dict[str, Any]

    def save(
        self, parts: Mapping[str, Stateful], history: list[dict[str, float]], best: dict[str, Tensor] | None
    ) -> None:
        """Replace the file by the state of all parts, atomically."""
        from safetensors.torch import save_file

        tensors: dict[str, Tensor] = {}
        states = {name: part.state_dict() for name, part in parts.items()}
        description = {
            "format": FORMAT, "version": VERSION, "run": self.run, "epochs": history,
            "parts": _pack(states, "parts", tensors), "best": _pack(best, "best", tensors),
        }  # fmt: skip
        with atomic_path(self.path) as draft:
            save_file(tensors, draft, metadata={METADATA_KEY: json.dumps(description)})

    def load(self, parts: Mapping[str, Stateful]) -> Loaded | None:
        """Restore the saved state of all parts, if there is one, and return the scores and the best state."""
        if not self.path.exists():
            return None
        description, tensors = self._read()
        saved, current = description["run"], json.loads(json.dumps(self.run))
        if saved != current:
            name = next(k for k in {**saved, **current} if saved.get(k) != current.get(k))
            raise self._error(f"belongs to a run with {name} = {saved.get(name)}, not {current.get(name)}")
        states = _unpack(description["parts"], tensors)
        try:
            for name, part in parts.items():
                part.load_state_dict(states[name])
        except (LookupError, RuntimeError, ValueError) as error:
            reason = str(error).splitlines()[-1].strip()
            raise self._error(f"does not fit this run ({reason})") from error
        return description["epochs"], _unpack(description["best"], tensors)

    def _read(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.path, "pt") as file:
                description = json.loads((file.metadata() or {}).get(METADATA_KEY, "{}"))
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
        except (SafetensorError, OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise self._error(f"cannot be read as a checkpoint ({reason})") from error
        if not isinstance(description, dict) or description.get("format") != FORMAT:
            raise self._error("is no checkpoint")
        if description["version"] != VERSION:
            raise self._error(f"has version {description['version']} of the format, not {VERSION}")
        return description, tensors

    def _error(self, problem: str) -> ValueError:
        return ValueError(f"{self.path} {problem}; remove it, or choose another folder for the checkpoint")


def _pack(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    """The value as JSON, with tensors replaced by references and collected by name."""
    if isinstance(value, Tensor):
        tensors[path] = value.detach().clone().contiguous()
        return {"tensor": path}
    if isinstance(value, Mapping):
        return {"items": [[key, _pack(v, f"{path}/{key}", tensors)] for key, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list": [_pack(v, f"{path}/{n}", tensors) for n, v in enumerate(value)]}
    return {"plain": value}


def _unpack(packed: Any, tensors: dict[str, Tensor]) -> Any:
    kind, value = next(iter(packed.items()))
    if kind == "tensor":
        return tensors[value]
    if kind == "items":
        return {key: _unpack(v, tensors) for key, v in value}
    if kind == "list":
        return [_unpack(v, tensors) for v in value]
    return value
