"""A run that was stopped goes on, and ends as if it had not been stopped."""

from __future__ import annotations

import runpy
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from crowdpilot.learning import METHODS
from crowdpilot.learning.data.batches import Batches
from crowdpilot.learning.method import Method
from crowdpilot.learning.training.checkpoint import Checkpoint

SCRIPT = """
import sys, time
from pathlib import Path
import numpy as np, torch
from crowdpilot.learning.training.loss import VoteLoss
from crowdpilot.learning.training.procedure import TrainingProcedure
from crowdpilot.learning.data.rows import Dense
from crowdpilot.learning.training.loop import Training
from crowdpilot.votes import Votes

CPU = torch.device("cpu")
rng = np.random.default_rng(0)
truth = rng.integers(0, 3, 40)
said = np.where(rng.random((40, 4)) < 0.7, truth[:, None], rng.integers(0, 3, (40, 4)))
votes = Votes.of(np.repeat(np.arange(40), 4), np.tile(np.arange(4), 40), said.ravel(), classes=[0, 1, 2])
rows = Dense(torch.as_tensor(np.eye(3)[truth] + rng.normal(0, 0.5, (40, 3)), dtype=torch.float32), CPU)

def validate(method):
    method.eval()
    with torch.no_grad():
        right = (method(rows.x).argmax(dim=1).numpy() == truth).mean()
    return {"score": float(right)}

def procedure(folder=None, method="crowdlayer", on_epoch=None, **settings):
    settings = {"epochs": 6, "batch_size": 16, "lr": 0.02, "schedule": "cosine", **settings}
    return TrainingProcedure("mlp[hidden=8]", method, VoteLoss("resample"), Training(**settings), CPU,
                  validate=validate, checkpoint=folder, on_epoch=on_epoch)

def slowly(stage, scores):
    print(int(scores["epoch"]), flush=True)
    time.sleep(0.2)

if __name__ == "__main__":
    torch.set_num_threads(1)
    procedure(Path(sys.argv[1]), on_epoch=slowly, epochs=20).train(rows, votes)
"""


class Stopped(Exception):
    """What a test throws into a run."""


class Recorder:
    """A callback that records a logit after each epoch."""

    def __init__(self) -> None:
        self.logits = torch.zeros(0)

    def after_epoch(self, method: Method, batches: Batches) -> None:
        method.eval()
        first = method(batches.batch(torch.arange(1)).x).detach()[0, :1]
        self.logits = torch.cat([self.logits, first])

    def state_dict(self) -> dict[str, Any]:
        return {"logits": self.logits}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.logits = state["logits"]


def stop_after(epoch: int) -> Any:
    def stop(stage: str, scores: dict[str, float]) -> None:
        if scores["epoch"] == epoch:
            raise Stopped

    return stop


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The procedure and its data, as a script that can also run alone."""
    path = tmp_path_factory.mktemp("script") / "script.py"
    path.write_text(SCRIPT)
    return {**runpy.run_path(str(path)), "path": path}


def assert_same(one: Method, other: Method) -> None:
    ours, theirs = one.state_dict(), other.state_dict()
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


@pytest.mark.parametrize("method", METHODS)
def test_a_stopped_run_ends_like_one_that_was_not(
    script: dict[str, Any], tmp_path: Path, method: str
) -> None:
    procedure, data = script["procedure"], (script["rows"], script["votes"])
    plain, history = procedure(method=method).train(*data)
    for epoch in (0, 3):
        with pytest.raises(Stopped):
            procedure(tmp_path, method, stop_after(epoch)).train(*data)
    epochs: list[float] = []
    again, whole = procedure(tmp_path, method, lambda _, scores: epochs.append(scores["epoch"])).train(*data)
    assert epochs == [4, 5]
    assert whole == history
    assert_same(again, plain)


def test_the_state_of_callbacks_is_restored(script: dict[str, Any], tmp_path: Path) -> None:
    procedure, data = script["procedure"], (script["rows"], script["votes"])
    procedure().train(*data, callbacks=[plain := Recorder()])
    with pytest.raises(Stopped):
        procedure(tmp_path, on_epoch=stop_after(2)).train(*data, callbacks=[Recorder()])
    procedure(tmp_path).train(*data, callbacks=[again := Recorder()])
    np.testing.assert_array_equal(again.logits, plain.logits)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_a_run_that_is_killed_goes_on(script: dict[str, Any], tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", str(script["path"]), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if int(line) == 2:
                process.kill()
                break
    assert process.returncode == -signal.SIGKILL
    epochs: list[float] = []
    procedure, data = script["procedure"], (script["rows"], script["votes"])
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    again, history = procedure(
        tmp_path, on_epoch=lambda _, scores: epochs.append(scores["epoch"]), epochs=20
    ).train(*data)
    plain, whole = procedure(epochs=20).train(*data)
    torch.set_num_threads(threads)
    assert 3 <= epochs[0] < 20
    assert history == whole
    assert_same(again, plain)


def test_a_run_that_is_done_is_not_trained_again(script: dict[str, Any], tmp_path: Path) -> None:
    procedure, data = script["procedure"], (script["rows"], script["votes"])
    first, history = procedure(tmp_path).train(*data)
    again, whole = procedure(tmp_path, on_epoch=stop_after(0)).train(*data)
    assert whole == history
    assert_same(again, first)


@pytest.mark.parametrize(("setting", "value"), [("lr", 0.5), ("epochs", 7), ("seed", 1)])
def test_a_file_of_a_run_with_other_settings_is_refused(
    script: dict[str, Any], tmp_path: Path, setting: str, value: float
) -> None:
    procedure, data = script["procedure"], (script["rows"], script["votes"])
    procedure(tmp_path).train(*data)
    with pytest.raises(ValueError, match=f"belongs to a run with {setting} = .*, not {value}; remove it"):
        procedure(tmp_path, **{setting: value}).train(*data)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.999])
def test_half_a_file_is_refused_in_one_sentence(script: dict[str, Any], tmp_path: Path, share: float) -> None:
    procedure, data = script["procedure"], (script["rows"], script["votes"])
    procedure(tmp_path).train(*data)
    file = tmp_path / "train.safetensors"
    file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    with pytest.raises(ValueError, match="cannot be read as a checkpoint") as caught:
        procedure(tmp_path).train(*data)
    assert "\n" not in str(caught.value)


def test_a_file_of_another_kind_is_refused_in_one_sentence(script: dict[str, Any], tmp_path: Path) -> None:
    procedure, data = script["procedure"], (script["rows"], script["votes"])
    save_file({"x": torch.zeros(1)}, tmp_path / "train.safetensors")
    with pytest.raises(ValueError, match=r"train.safetensors is no checkpoint; remove it"):
        procedure(tmp_path).train(*data)


def test_a_file_whose_tensors_do_not_fit_is_refused_in_one_sentence(tmp_path: Path) -> None:
    file = Checkpoint(tmp_path / "c", {"a": 1})
    file.save({"method": torch.nn.Linear(2, 3)}, [], None)
    for parts in ({"method": torch.nn.Linear(3, 3)}, {"other": torch.nn.Linear(2, 3)}):
        with pytest.raises(ValueError, match="does not fit this run") as caught:
            file.load(parts)
        assert "\n" not in str(caught.value)


def test_a_state_of_any_shape_survives(tmp_path: Path) -> None:
    class Part:
        def state_dict(self) -> Any:
            return {"a": [1, {"b": torch.arange(3)}], 0: (None, True, 2.5, "x"), "empty": torch.zeros(0, 2)}

        def load_state_dict(self, state: Any) -> None:
            self.found = state

    part, file = Part(), Checkpoint(tmp_path / "c", {})
    file.save({"part": part}, [{"score": -np.inf}], {"w": torch.ones(2)})
    found = file.load({"part": part})
    assert found is not None
    assert found[0] == [{"score": -np.inf}]
    assert found[1] is not None
    np.testing.assert_array_equal(found[1]["w"], [1, 1])
    assert part.found[0] == [None, True, 2.5, "x"]
    np.testing.assert_array_equal(part.found["a"][1]["b"], [0, 1, 2])
    assert part.found["empty"].shape == (0, 2)
