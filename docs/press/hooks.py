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

from docs.press import checks, glossary, lists, reference, rooms
from docs.press.blocks import COMMENT, Block, blocks
from docs.press.running import Output

HOME = Path(__file__).parents[2]
CACHE = HOME / ".press"  # what came of pages that have not changed since
log = logging.getLogger("mkdocs.press")
running: dict[str, Future[list[Output]]] = {}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made, and start to run those that show code."""
    for address, text in {
        **reference.reference(),
        **reference.results(),
        "changelog.md": _changelog(),
    }.items():
        files.append(File.generated(config, address, content=text))
    for address, path in reference.pictures().items():
        files.append(File.generated(config, address, abs_src_path=str(path)))
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    for file in files.documentation_pages():
        if file.generated_by is None and any(b.is_run for b in blocks(file.content_string)):
            running[file.src_uri] = pool.submit(_run, Path(file.abs_src_path or ""))
    pool.shutdown(wait=False)
    return files


def _changelog() -> str:
    return (HOME / "CHANGELOG.md").read_text()


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """The page with its lists, and below each block what came of it."""
    uri = page.file.src_uri
    if uri in running:
        try:
            markdown = _printed(markdown, running[uri].result())
        except ValueError as problem:
            log.warning("%s: %s", uri, problem)
    markdown = lists.fill(markdown)
    if uri == "architecture.md":
        markdown = markdown.replace("<!-- house -->", rooms.diagram()).replace(
            "<!-- rooms -->", rooms.table()
        )
    return markdown


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """The page with links to the glossary."""
    uri = page.file.src_uri
    if uri == "glossary.md" or uri.startswith("reference/"):
        return html
    text = (HOME / "docs" / "glossary.md").read_text()
    return glossary.Linker(text).link(html, get_relative_url("glossary/", page.url))


def on_post_build(config: Any) -> None:
    """Say what is wrong with the site, which ends a strict build."""
    site = Path(config["site_dir"])
    for problem in checks.dead_links(site):
        log.warning(problem)
    for term in checks.lost_terms(site, (HOME / "docs" / "glossary.md").read_text()):
        log.warning("the search does not find %r", term)


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
            text = (
                text[: block.start] + _shown(text[block.start : block.end], block, output) + text[block.end :]
            )
    return COMMENT.sub(
        lambda match: match[0] if "made:" in match[0] or "house" in match[0] or "rooms" in match[0] else "",
        text,
    )


def _shown(source: str, block: Block, output: Output) -> str:
    """A block as a reader sees it."""
    head, _, rest = source.partition("\n")
    title = f' title="{block.options["title"]}"' if "title" in block.options else ""
    language = "pycon" if block.code.lstrip().startswith(">>>") else block.language
    shown = [f"{block.indent}{head.lstrip()[:3]} {{.{language}{title}}}\n{rest}"]
    if output.text.strip() and "quiet" not in block.options:
        lines = "".join(f"{block.indent}{line}\n" for line in output.text.rstrip().splitlines())
        shown.append(f"{block.indent}``` {{.text .output}}\n{lines}{block.indent}```")
    if "quiet" not in block.options:
        shown += [
            f"{block.indent}![What the code above draws](data:image/png;base64,{p})" for p in output.pictures
        ]
    return "\n\n".join(shown)
