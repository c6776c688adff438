"""What cells of a page call in its kernel, where no magic of IPython does it."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import urllib3
from IPython import get_ipython

from docs.hooks import peers

DOCTEST_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def check_examples(code: str) -> None:
    """Run examples with `>>>` among the names of the page; an output that differs is an error."""
    names = sys.modules["__main__"].__dict__
    test = doctest.DocTestParser().get_doctest(code, names, "page", None, None)
    report: list[str] = []
    failed, _ = doctest.DocTestRunner(optionflags=DOCTEST_OPTIONS).run(
        test, out=report.append, clear_globs=False
    )
    names.update(test.globs)
    if failed:
        raise AssertionError("".join(report))


def write_file(name: str, text: str) -> None:
    """Write a block to a new file, which the next blocks find in their folder."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    with Path(name).open("x") as file:
        file.write(text)


def start_server(command: str, address: str) -> None:
    """Start a server that ends with the kernel, and wait until it answers."""
    get_ipython().run_cell_magic("bash", "--bg", f"exec {command.strip()} > server.log 2>&1")
    patient = urllib3.Retry(60, backoff_factor=0.1, backoff_max=1)
    urllib3.request("GET", address, retries=patient)


def apply_diff(name: str, diff: str) -> None:
    """Change a file; parts of the diff begin with `@@`, and git finds their lines."""
    parts = re.split(r"^@@.*\n", diff, flags=re.MULTILINE)
    patch = "".join([f"--- a/{name}\n+++ b/{name}\n", *(f"@@ -2 +2 @@\n{part}" for part in parts)])
    command = ["git", "apply", "--recount", "--unidiff-zero", "-"]
    alone = {**os.environ, "GIT_CEILING_DIRECTORIES": str(Path.cwd().parent)}
    subprocess.run(command, input=patch, text=True, check=True, env=alone)


_peer_blocks: list[str] = []


def run_peer(code: str) -> None:
    """Run a block where other libraries live, after the earlier ones of the page, and print its output."""
    _peer_blocks.append(code)
    print(peers.run(_peer_blocks), end="")
