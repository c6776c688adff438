"""Blocks for other libraries: run by their own interpreter where there is one, else as recorded.

`make peers` makes the environment in which they live. What they printed, and the small files they
wrote, is kept in `recorded.json` by the digest of the code, so that the site can be built without it;
code that has changed since must be run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[2]
RECORDED = Path(__file__).parent / "recorded.json"
MARK = "-- the block begins --"
LONGEST = 300.0  # seconds
SMALL = 50_000  # bytes of a file that is kept


def run(codes: Sequence[str]) -> str:
    """What the last of these blocks prints, after the others."""
    key = hashlib.sha256("\n".join(codes).encode()).hexdigest()[:16]
    interpreter = Path(os.environ.get("CROWDPILOT_PEERS", HOME / ".peers" / "bin" / "python"))
    record = _execute(interpreter, codes, key) if interpreter.exists() else _recorded().get(key)
    if record is None:
        raise ValueError("a block for another library has changed; run `make peers`, then build the site")
    for name, content in record["files"].items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content.encode("latin-1"))  # any byte is a letter there, and JSON holds it
    text: str = record["text"]
    return text


def _recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    return found


def _execute(interpreter: Path, codes: Sequence[str], key: str) -> dict[str, Any]:
    """Run them, and keep what came of it if that is new."""
    before = _files()
    code = "\n".join([*codes[:-1], f"print({MARK!r})", codes[-1]])
    ended = subprocess.run(
        [str(interpreter), "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=LONGEST
    )
    if ended.returncode:
        raise ValueError(f"{codes[-1]}failed:\n{ended.stderr}")
    now = _files()
    files = {name: text for name, text in now.items() if before.get(name) != text}
    record = {"text": ended.stdout.partition(f"{MARK}\n")[2], "files": files}
    known = _recorded()
    if known.get(key) != record:
        RECORDED.write_text(json.dumps(dict(sorted({**known, key: record}.items())), indent=1) + "\n")
    return record


def _files() -> dict[str, str]:
    small = (path for path in Path().rglob("*") if path.is_file() and path.stat().st_size < SMALL)
    return {str(path): path.read_bytes().decode("latin-1") for path in small if path.suffix != ".log"}
