"""Run the blocks of a page in an empty folder: `python -m docs.press.running PAGE.md`.

Blocks of Python share their names, as the cells of a notebook do. What they print, the value of a
last expression and the figures they leave open come out; examples with `>>>` must give what they say.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import doctest
import io
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from docs.press import peers, shell
from docs.press.blocks import Block, blocks, check

EXAMPLES = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Failed(Exception):
    """A block did what it should not."""


@dataclass
class Output:
    """What came of a block: text, and pictures as PNG in base 64."""

    text: str = ""
    pictures: list[str] = field(default_factory=list)


@dataclass
class Page:
    """The blocks of a page while they run."""

    name: str
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    servers: shell.Servers = field(default_factory=shell.Servers)
    asked: list[str] = field(default_factory=list)  # of other libraries, so far
    drawn: Any = None  # the figure of a last expression

    def run(self, block: Block) -> Output:
        """Execute one block, and raise `Failed` if it ends otherwise than it should."""
        if block.is_file:
            place = Path(block.options["title"])
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(block.code)
            return Output()
        if "peer" in block.options:
            self.asked.append(block.code)
            return Output(peers.run(self.asked))
        if block.language == "python":
            return self._python(block)
        if "server" in block.options:
            return Output(self.servers.start(block.code, block.options["server"]))
        text, code = shell.run(block.code, prompts=block.language == "console")
        if bool(code) != ("fails" in block.options):
            raise Failed(f"{block.code}ended with code {code}:\n{text}")
        return Output(text)

    def _python(self, block: Block) -> Output:
        if block.code.lstrip().startswith(">>>"):
            self._examples(block.code)
            return Output(pictures=pictures())
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                self._execute(block.code)
        except (Exception, SystemExit) as error:
            if "fails" in block.options:
                return Output(f"{said.getvalue()}{type(error).__name__}: {error}\n")
            raise Failed(f"{block.code}\n{said.getvalue()}{traceback.format_exc()}") from error
        if "fails" in block.options:
            raise Failed(f"this should have failed:\n{block.code}")
        drawn, self.drawn = self.drawn, None
        return Output(said.getvalue(), pictures(drawn))

    def _execute(self, code: str) -> None:
        tree = ast.parse(code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, self.name, "exec"), self.names)
        if last is None:
            return
        value = eval(compile(ast.Expression(last.value), self.name, "eval"), self.names)
        is_drawing = type(value).__module__.startswith("matplotlib") or "Axes" in repr(value)[:40]
        if is_drawing:
            self.drawn = figure_of(value)
        if value is not None and not is_drawing and not code.rstrip().endswith(";"):
            print(value if hasattr(value, "to_string") else repr(value))

    def _examples(self, code: str) -> None:
        test = doctest.DocTestParser().get_doctest(code, self.names, self.name, None, None)
        report = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=EXAMPLES)
        runner.run(test, out=report.write, clear_globs=False)
        self.names.update(test.globs)
        if runner.failures:
            raise Failed(report.getvalue())


def figure_of(value: Any) -> Any:
    """The figure of Axes, of an array of them, or of anything else that is in one."""
    first = next(iter(getattr(value, "flat", [value])))
    return getattr(first, "figure", None)


def pictures(also: Any = None) -> list[str]:
    """The open figures, which are closed, and one that pyplot does not know, as those of our plots."""
    if "matplotlib.pyplot" not in sys.modules and also is None:
        return []
    from matplotlib import pyplot

    def draw(figure: Any) -> str:
        file = io.BytesIO()
        figure.savefig(file, dpi=144, bbox_inches="tight", metadata={"Software": None})
        return base64.b64encode(file.getvalue()).decode()

    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    if also is not None and also not in figures:
        figures.append(also)
    drawn = [draw(figure) for figure in figures]
    pyplot.close("all")
    return drawn


def run(path: Path) -> list[Output]:
    """What comes of every block of a page, in their order."""
    return run_blocks(blocks(path.read_text()), path.name)


def run_blocks(found: Sequence[Block], name: str = "page") -> list[Output]:
    """The same for blocks that were found already."""
    check(found)
    page = Page(name)
    with _somewhere_empty(), contextlib.closing(page.servers):
        return [_here(page.run(block)) if block.is_run or block.is_file else Output() for block in found]


def _here(output: Output) -> Output:
    """The output without the name of the folder, which is another one every time."""
    return replace(output, text=output.text.replace(f"{Path.cwd()}/", ""))


@contextlib.contextmanager
def _somewhere_empty() -> Iterator[None]:
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)


def terms() -> dict[str, str]:
    """The environment of every page: no window, no terminal, one thread, our own commands first."""
    return {
        "MPLBACKEND": "agg",
        "COLUMNS": "100",
        "OMP_NUM_THREADS": "1",
        "NO_COLOR": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }


def main(source: str, target: str | None = None) -> None:
    """Run a page; show what comes of it, or write it to a file as JSON."""
    os.environ.update(terms())
    try:
        outputs = run(Path(source))
    except (Failed, ValueError) as problem:
        sys.exit(f"{source}: {problem}")
    if target is not None:
        Path(target).write_text(json.dumps([asdict(output) for output in outputs]))
        return
    for block, output in zip(blocks(Path(source).read_text()), outputs, strict=True):
        print(f"--- {block.language}\n{block.code}{output.text and '>>> '}{output.text}", end="")
        for number, _ in enumerate(output.pictures):
            print(f"[picture {number + 1}]")


if __name__ == "__main__":
    main(*sys.argv[1:])
