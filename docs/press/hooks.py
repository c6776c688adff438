"""What happens when mkdocs builds the site; it calls these functions by their names."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.utils import get_relative_url

from docs.press import checks, glossary, lists, reference
from docs.press.blocks import COMMENT, Block, blocks
from docs.press.running import Output

HOME = Path(__file__).parents[2]
GLOSSARY = HOME / "docs" / "glossary.md"
CACHE = HOME / ".press"  # what came of pages that have not changed since
WRITTEN = ("cli.md",)  # by other commands: what stands in their blocks is no code of ours

log = logging.getLogger("mkdocs.press")
running: dict[str, Future[list[Output]]] = {}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made, and start to run those that show code."""
    changes = {"changelog.md": (HOME / "CHANGELOG.md").read_text()}
    for address, text in {**reference.reference(), **reference.results(), **changes}.items():
        files.append(File.generated(config, address, content=text))
    for address, path in reference.pictures().items():
        files.append(File.generated(config, address, abs_src_path=str(path)))
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    for file in files.documentation_pages():
        if file.generated_by is None and file.src_uri not in WRITTEN and _has_code(file):
            running[file.src_uri] = pool.submit(_run, Path(file.abs_src_path or ""))
    pool.shutdown(wait=False)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """The page with its lists, and below each block what came of it."""
    uri = page.file.src_uri
    if uri in running:
        try:
            markdown = _printed(markdown, running[uri].result())
        except ValueError as problem:
            log.warning("%s: %s", uri, problem)
    return lists.fill(markdown).replace("](../benchmarks/results/", "](benchmarks/")


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """The page with links to the glossary."""
    uri = page.file.src_uri
    if uri == "glossary.md" or uri.startswith("reference/"):
        return html
    return glossary.Linker(GLOSSARY.read_text()).link(html, get_relative_url("glossary/", page.url))


def on_post_build(config: Any) -> None:
    """Say what is wrong with the site, which ends a strict build."""
    site = Path(config["site_dir"])
    for problem in checks.dead_links(site):
        log.warning(problem)
    for term in checks.lost_terms(site, GLOSSARY.read_text()):
        log.warning("the search does not find %r", term)


def _has_code(file: File) -> bool:
    return any(block.is_run for block in blocks(file.content_string))


def _run(path: Path) -> list[Output]:
    """What comes of the blocks of a page, in a process of its own; remembered until something changes."""
    kept = CACHE / f"{path.stem}-{_digest(path)}.json"
    if not kept.exists():
        CACHE.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=CACHE, suffix=".part") as draft:
            command = [sys.executable, "-m", "docs.press.running", str(path), draft.name]
            ended = subprocess.run(command, cwd=HOME, capture_output=True, text=True)
            if ended.returncode:
                raise ValueError(f"{ended.stdout}{ended.stderr}")
            kept.write_bytes(Path(draft.name).read_bytes())
    return [Output(**given) for given in json.loads(kept.read_text())]


def _digest(path: Path) -> str:
    code = sorted(p for folder in ("crowdpilot", "docs/press") for p in (HOME / folder).rglob("*.py"))
    content = b"\0".join(p.read_bytes() for p in (*code, path))
    return hashlib.sha256(content).hexdigest()[:16]


def _printed(text: str, outputs: list[Output]) -> str:
    """The text with outputs; hidden blocks stand in comments and go with them."""
    for block, output in reversed(list(zip(blocks(text), outputs, strict=True))):
        if not block.hidden:
            shown = _shown(text[block.start : block.end], block, output)
            text = text[: block.start] + shown + text[block.end :]
    return COMMENT.sub(lambda match: "" if blocks(match[0]) else match[0], text)


def _shown(source: str, block: Block, output: Output) -> str:
    """A block as a reader sees it."""
    title = f' title="{block.options["title"]}"' if "title" in block.options else ""
    language = "pycon" if block.code.lstrip().startswith(">>>") else block.language or "text"
    parts = [f"{block.indent}``` {{.{language}{title}}}\n{source.partition(chr(10))[2]}"]
    if "quiet" in block.options:
        return parts[0]
    if output.text.strip():
        lines = "".join(f"{block.indent}{line}\n" for line in output.text.rstrip().splitlines())
        parts.append(f"{block.indent}``` {{.text .output}}\n{lines}{block.indent}```")
    drawn = "![What the code above draws](data:image/png;base64,{})"
    return "\n\n".join([*parts, *(f"{block.indent}{drawn.format(picture)}" for picture in output.pictures)])
