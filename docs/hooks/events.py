"""What mkdocs calls when it builds the site: it makes pages, runs examples and links terms."""

from __future__ import annotations

import hashlib
import logging
import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url
from nbclient.exceptions import CellExecutionError

from docs.hooks import generated, glossary, notebook, notebook_pages, tables
from docs.hooks.blocks import blocks

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
NOT_RUN = ("cli.md", "operations.md")  # written by typer; run by tests/docs/test_operations.py
log = logging.getLogger("mkdocs.hooks")
running: dict[str, Future[str]] = {}


@event_priority(100)  # before the plugin that checks links asks which pages there are
def on_files(files: Files, config: Any) -> Files:
    """Add the reference, the results of benchmarks and the changes; start to run pages with examples."""
    for path in RESULTS.glob("*.png"):
        files.append(File.generated(config, f"benchmarks/{path.name}", abs_src_path=str(path)))
    code, pool = code_digest(), ThreadPoolExecutor(os.cpu_count())
    for file in files.documentation_pages():
        text = file.content_string
        if file.src_uri not in NOT_RUN and any(block.is_run for block in blocks(text)):
            running[file.src_uri] = pool.submit(notebook.remembered, text, code)
    for address, path in notebook_pages.pages().items():
        running[address] = pool.submit(notebook_pages.remembered, path.read_text(), path.stem, code)
        files.append(File.generated(config, address, content=notebook_pages.title(path)))
        files.append(File.generated(config, f"notebooks/{path.name}", abs_src_path=str(path)))
    results = {f"benchmarks/{path.name}": result_page(path) for path in sorted(RESULTS.glob("*.md"))}
    made = {"changelog.md": (ROOT / "CHANGELOG.md").read_text(), **tables.reference_pages(), **results}
    for address, text in made.items():
        files.append(File.generated(config, address, content=text))
    return files


def result_page(path: Path) -> str:
    """The results of a benchmark, with a title if it wrote none."""
    text = path.read_text()
    return text if text.startswith("# ") else f"# {path.stem.replace('_', ' ').capitalize()}\n\n{text}"


def code_digest() -> str:
    """A digest of the code on which examples depend."""
    code = sorted(path for folder in ("crowdpilot", "docs") for path in (ROOT / folder).rglob("*.py"))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in code)).hexdigest()


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """The page with its outputs; an example that fails is a warning, which ends a strict build."""
    uri = page.file.src_uri
    if uri in running:
        try:
            markdown = running[uri].result()
        except (CellExecutionError, ValueError) as error:
            log.warning("%s: %s", uri, error)
    return generated.on_site(notebook_pages.on_site(markdown), uri)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """The page with links to the glossary."""
    uri = page.file.src_uri
    if uri == "glossary.md" or uri.startswith("reference/"):
        return html
    linker = glossary.Linker((ROOT / "docs" / "glossary.md").read_text())
    return linker.link(html, get_relative_url("glossary/", page.url))
