"""Pages of the notebooks in examples/notebooks: each is run, and shown with its outputs and a download.

`python -m docs.hooks.notebook_pages NOTEBOOK.ipynb` prints the page of one.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import nbformat
from joblib import Memory
from nbformat import NotebookNode

from docs.hooks.notebook import ROOT, execute

NOTEBOOKS = ROOT / "examples" / "notebooks"
LINK = re.compile(r"\]\((?:\.\./)*examples/notebooks/([\w-]+)\.ipynb\)")
RICH = {"image/png", "text/html"}
DRAWN = re.compile(r"(array\(\[+)?<Axes|\[?<matplotlib")  # the value of a cell that has drawn


def pages() -> dict[str, Path]:
    """The notebook of each page, by its address on the site."""
    return {f"notebooks/{path.stem}.md": path for path in sorted(NOTEBOOKS.glob("*.ipynb"))}


def title(path: Path) -> str:
    """The first line of a notebook, which is its title."""
    return str(nbformat.read(path, as_version=4).cells[0].source.partition("\n")[0])


def executed(text: str, name: str) -> str:
    """The Markdown of a notebook, given as JSON, with the outputs of its cells."""
    notebook = nbformat.reads(text, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        execute(notebook.cells, Path(folder))
    return to_markdown(notebook, name)


@Memory(ROOT / ".cache" / "docs", verbose=0).cache
def remembered(text: str, name: str, code: str) -> str:
    """The same, kept on disk by the notebook and a digest of the code on which it depends."""
    return executed(text, name)


def to_markdown(notebook: NotebookNode, name: str) -> str:
    """A page with all cells, and a link to the notebook below the title."""
    parts = [part for cell in notebook.cells for part in _cell_parts(cell)]
    title, _, first = parts[0].partition("\n")
    button = f"{{ .md-button .md-button--primary download={name}.ipynb }}"
    download = f"[Download this notebook]({name}.ipynb){button}"
    return "\n\n".join([title, download, first.strip(), *parts[1:]]) + "\n"


def _cell_parts(cell: NotebookNode) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    yield f"``` {{.python}}\n{cell.source}\n```"
    has_picture = any("image/png" in output.get("data", {}) for output in cell.outputs)
    for is_text, outputs in groupby(cell.outputs, lambda output: not RICH & output.get("data", {}).keys()):
        if not is_text:
            yield from map(_rich_output, outputs)
        elif (text := "".join(map(_text, outputs)).rstrip()) and not (has_picture and DRAWN.match(text)):
            yield f"``` {{.text .output}}\n{text}\n```"


def _rich_output(output: NotebookNode) -> str:
    """A picture or HTML, as Markdown."""
    if "image/png" in output.data:
        return f"![Figure drawn by the code above](data:image/png;base64,{output.data['image/png'].strip()})"
    html = re.sub(r"<style scoped>.*?</style>", "", output.data["text/html"], flags=re.DOTALL)  # of pandas
    html = re.sub(r"\n\s*\n", "\n", html)  # a blank line would end it
    return f'<div class="notebook-output">\n{html}\n</div>'


def _text(output: NotebookNode) -> str:
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}\n"
    return str(output.text if output.output_type == "stream" else output.data["text/plain"] + "\n")


def on_site(markdown: str) -> str:
    """A page whose links to notebooks lead to their pages."""
    return LINK.sub(r"](notebooks/\1.md)", markdown)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    print(executed(path.read_text(), path.stem))
