"""The state of a training run in one file, so that it can go on after it was stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from crowdpilot.io.atomic_write import whole

Found = tuple[list[dict[str, float]], dict[str, Tensor] | None]


@dataclass(frozen=True)
class Checkpoint:
    """A safetensors file with the state after an epoch.

    Parameters
    ----------
    path
        The file.
    about
        What the run is: settings as JSON holds them. A file about something else is refused.
    """

    path: Path
    about: dict[str, Any]

    def save(
        self, parts: Mapping[str, Any], history: list[dict[str, float]], best: dict[str, Tensor] | None
    ) -> None:
        """Replace the file by the state of all parts; it is the old one or the new, never half of one."""
        from safetensors.torch import save_file

        tensors: dict[str, Tensor] = {}
        state = {name: part.state_dict() for name, part in parts.items()}
        plain = _pack({**state, "best": best}, "", tensors)
        about = {"about": json.dumps(self.about), "state": json.dumps(plain), "history": json.dumps(history)}
        with whole(self.path) as draft:
            save_file(tensors, draft, metadata=about)

    def load(self, parts: Mapping[str, Any]) -> Found | None:
        """Put all parts into the saved state, if there is one, and give back history and best state."""
        if not self.path.exists():
            return None
        about, tensors = self._read()
        was, now = json.loads(about["about"]), json.loads(json.dumps(self.about))
        if was != now:
            what = next(k for k in {**was, **now} if was.get(k) != now.get(k))
            raise self._error(f"belongs to a run with {what} = {was.get(what)}, not {now.get(what)}")
        state = _unpack(json.loads(about["state"]), tensors)
        try:
            for name, part in parts.items():
                part.load_state_dict(state[name])
        except (LookupError, RuntimeError, ValueError) as error:
            reason = str(error).splitlines()[-1].strip()
            raise self._error(f"does not fit this run ({reason})") from error
        return json.loads(about["history"]), state["best"]

    def _read(self) -> tuple[dict[str, str], dict[str, Tensor]]:
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.path, "pt") as file:
                about = file.metadata() or {}
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
        except (SafetensorError, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise self._error(f"cannot be read as a checkpoint ({reason})") from error
        if not {"about", "state", "history"} <= about.keys():
            raise self._error("is no checkpoint")
        return about, tensors

    def _error(self, problem: str) -> ValueError:
        return ValueError(f"{self.path} {problem}; remove it, or give another place for the checkpoint")


def _pack(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    """The value as JSON holds it, its tensors named and put aside."""
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
