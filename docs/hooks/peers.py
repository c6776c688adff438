"""Blocks for other libraries: run by their own interpreter where `make peers` made one, else as recorded.

`recorded.json` holds what they printed and the small files they wrote, by the digest of their code. A
block whose code has changed must be run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from docs.hooks.blocks import Block

ROOT = Path(__file__).parents[2]
RECORDED = Path(__file__).parent / "recorded.json"
BLOCK_BEGINS = "-- the block begins --"
TIMEOUT_SECONDS = 300
MAX_FILE_BYTES = 50_000
COMMAND_LINE = """\
import contextlib, io, os, shlex, sys
from unittest.mock import MagicMock

import numpy as np

images = "torchvision", "torchvision.models", "torchvision.datasets", "torchvision.transforms", "torchmetrics"
sys.modules.update(dict.fromkeys(images, MagicMock()))  # no command of a page needs them

from peerannot.runners import peerannot

for line in {lines!r}:
    np.random.seed(0)  # for its ties
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        peerannot(shlex.split(line)[1:], standalone_mode=False)
    for part in map(str.strip, printed.getvalue().splitlines()):
        if part.startswith(("Saved", "Running agg", "Aggregated", "Entropies", "Spam")):
            print(part.replace(f"{{os.getcwd()}}/", ""))
"""


class Record(TypedDict):
    """The output of a block, and the files it wrote by their path."""

    text: str
    files: dict[str, str]


def code_of(block: Block) -> str:
    """The Python of a block; commands of peerannot's command line are run one after the other."""
    return (
        COMMAND_LINE.format(lines=block.code.replace("\\\n", " ").splitlines())
        if block.language == "sh"
        else block.code
    )


def run(codes: Sequence[str]) -> str:
    """The output of the last of these blocks, after the others."""
    key = hashlib.sha256("\n".join(codes).encode()).hexdigest()[:16]
    recorded: dict[str, Record] = json.loads(RECORDED.read_text())
    interpreter = Path(os.environ.get("CROWDPILOT_PEERS", ROOT / ".peers" / "bin" / "python"))
    if interpreter.exists():
        record = execute(interpreter, codes)
        if recorded.get(key) != record:
            RECORDED.write_text(json.dumps(dict(sorted({**recorded, key: record}.items())), indent=1) + "\n")
    elif key in recorded:
        record = recorded[key]
    else:
        raise ValueError("a block for another library has changed; run `make peers`, then build the site")
    for name, content in record["files"].items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content.encode("latin-1"))  # maps every byte to a letter that JSON can hold
    return record["text"]


def execute(interpreter: Path, codes: Sequence[str]) -> Record:
    """Run the blocks with another interpreter; the output and the new files of the last one."""
    before = small_files()
    code = "\n".join([*codes[:-1], f"print({BLOCK_BEGINS!r})", codes[-1]])
    command = [str(interpreter), "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
    if done.returncode:
        raise ValueError(done.stderr[-2000:])
    files = {name: content for name, content in small_files().items() if before.get(name) != content}
    return {"text": done.stdout.partition(f"{BLOCK_BEGINS}\n")[2], "files": files}


def small_files() -> dict[str, str]:
    """The content of the files below this folder that are small enough to be recorded."""
    small = (path for path in Path().rglob("*") if path.is_file() and path.stat().st_size < MAX_FILE_BYTES)
    return {str(path): path.read_bytes().decode("latin-1") for path in small}
