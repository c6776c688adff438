"""Run the blocks of a page as a Jupyter notebook: `python -m docs.hooks.notebook PAGE.md` shows the result.

Every page has a kernel and an empty folder of its own. nbclient runs the cells; IPython runs shell
blocks, keeps servers and draws figures; doctest compares examples with `>>>`.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from joblib import Memory
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from docs.hooks import peers
from docs.hooks.blocks import Block, blocks

ROOT = Path(__file__).parents[2]
CELL_TIMEOUT_SECONDS = 300
SETUP = """\
%matplotlib inline
%config InlineBackend.print_figure_kwargs = {"dpi": 144, "bbox_inches": "tight"}
%colors nocolor
from docs.hooks import kernel as _kernel
"""
BASH = "%%bash\nset -euo pipefail; exec 2>&1\n"


@dataclass(frozen=True)
class Output:
    """What a block printed or returned: text, pictures as PNG in base 64, and Markdown."""

    text: str = ""
    pictures: list[str] = field(default_factory=list)
    markdown: str = ""


def source(block: Block) -> str:
    """The notebook cell of a block."""
    code, title = block.code, block.options.get("title")
    if block.language == "diff":
        return f"_kernel.apply_diff({title!r}, {code!r})"
    if title:
        return f"_kernel.write_file({title!r}, {code!r})"
    if "peer" in block.options:
        return f"_kernel.run_peer({peers.code_of(block)!r})"
    if address := block.options.get("server"):
        return f"_kernel.start_server({code!r}, {address!r})"
    if block.language == "sh":
        return BASH + code
    return f"_kernel.check_examples({code!r})" if code.startswith(">>>") else code


def run(found: Sequence[Block], folder: Path) -> list[Output]:
    """The output of each block, run in their order in a folder; `CellExecutionError` if one fails."""
    tags = [["raises-exception"] if "fails" in block.options else [] for block in found]
    cells = [
        new_code_cell(source(block) if block.is_run else "", metadata={"tags": tag})
        for block, tag in zip(found, tags, strict=True)
    ]
    execute(cells, folder)
    for block, cell in zip(found, cells, strict=True):
        if "fails" in block.options and all(given.output_type != "error" for given in cell.outputs):
            raise ValueError(f"this should have failed:\n{block.code}")
    return [output(cell, folder) for cell in cells]


def execute(cells: Sequence[NotebookNode], folder: Path) -> None:
    """Run cells in a new kernel in a folder; each gets its outputs."""
    client = NotebookClient(
        new_notebook(cells=[new_code_cell(SETUP), *cells]),
        timeout=CELL_TIMEOUT_SECONDS,
        kernel_name="python3",
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env=environment())


def output(cell: NotebookNode, folder: Path) -> Output:
    """The output of a cell; the value of a last expression is left out beside a picture, which it made."""
    data = [given.get("data", {}) for given in cell.outputs]
    pictures = [given["image/png"] for given in data if "image/png" in given]
    text = ""
    for given in cell.outputs:
        if given.output_type == "stream":
            text += given.text
        elif given.output_type == "error" and given.ename != "CalledProcessError":
            text += f"{given.ename}: {given.evalue}\n"
        elif given.output_type == "execute_result" and not pictures and "text/markdown" not in given.data:
            text += given.data["text/plain"] + "\n"
    markdown = "".join(given.get("text/markdown", "") for given in data)
    return Output(text.replace(f"{folder}/", ""), pictures, markdown)


def environment() -> dict[str, str]:
    """Environment variables of a kernel: the package from here, no terminal, one thread."""
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "OMP_NUM_THREADS": "1",
    }


def executed(text: str) -> str:
    """A page with the output of each block below it."""
    found = blocks(text)
    with tempfile.TemporaryDirectory() as folder:
        outputs = run(found, Path(folder))
    for block, output in reversed(list(zip(found, outputs, strict=True))):
        text = text[: block.start] + shown(block, output) + text[block.end :]
    return text


@Memory(ROOT / ".cache" / "docs", verbose=0).cache
def remembered(text: str, code: str) -> str:
    """The same, kept on disk by the text of the page and a digest of the code on which it depends."""
    return executed(text)


def shown(block: Block, output: Output) -> str:
    """A block and its output as Markdown; of a hidden one only what is Markdown itself."""
    if block.hidden:
        return output.markdown
    title = f' title="{block.options["title"]}"' if block.is_file else ""
    language = "pycon" if block.code.startswith(">>>") else block.language or "text"
    parts = [f"``` {{.{language}{title}}}\n{block.code}```"]
    if "quiet" not in block.options:
        parts += [f"``` {{.text .output}}\n{output.text.rstrip()}\n```"] if output.text.strip() else []
        parts += [
            f"![Figure drawn by the code above](data:image/png;base64,{picture.strip()})"
            for picture in output.pictures
        ]
    return re.sub("^(?=.)", block.indent, "\n\n".join(parts), flags=re.MULTILINE)


if __name__ == "__main__":
    print(executed(Path(sys.argv[1]).read_text()))
