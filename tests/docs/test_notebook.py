"""The blocks of a page are run, and what is not as the page says is an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbclient.exceptions import CellExecutionError

from crowdpilot.cli.commands.serve import free_port
from docs.hooks import peers
from docs.hooks.blocks import blocks, prose
from docs.hooks.notebook import Output, executed, run

ADDRESS = f"http://127.0.0.1:{free_port('127.0.0.1')}/"
PAGE = {
    "prints and has a value": "```python\nx = 1\nprint('a')\nx\n```",
    "knows earlier names": "```python\nx + 1\n```",
    "file": '```csv title="new/a.csv"\nx,y\n```',
    "shell": "```sh\ncat new/a.csv; echo error >&2\n```",
    "diff": '```diff title="new/a.csv"\n x,y\n+1,2\n```',
    "changed file": "```sh\ncat new/a.csv\n```",
    "examples": "```python\n>>> y = [1,\n...      2]\n>>> sum(y)\n3\n```",
    "knows names of examples": "```python\ny\n```",
    "figure": "```python\nimport matplotlib.pyplot as plt\nplt.subplots()[1].plot([1, 2])\n```",
    "server": f'```sh server="{ADDRESS}"\npython -m http.server -b 127.0.0.1 {ADDRESS[17:-1]}\n```',
    "client": f"```python\nfrom urllib.request import urlopen\nurlopen('{ADDRESS}').status\n```",
    "markdown": "<!--\n```python\nfrom IPython.display import Markdown\nMarkdown('*made*')\n```\n-->",
    "error": "```python fails\nraise ValueError('no such file')\n```",
    "error in shell": "```sh fails\necho sorry; false\n```",
    "error in a pipe": "```sh fails\nfalse | cat\n```",
    "file that is there already": '```csv title="new/a.csv" fails\nx,y\n```',
    "wrong example": "```python fails\n>>> 1 + 1\n3\n```",
    "diff that does not fit": '```diff title="new/a.csv" fails\n z\n+1,2\n```',
    "peer that never ran": "```python peer fails\nprint('never run')\n```",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Output]:
    """What each block gives, in one notebook; those that fail are allowed to, and must."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CROWDPILOT_PEERS", "/nowhere")
        found = run(blocks("\n\n".join(PAGE.values())), tmp_path_factory.mktemp("page"))
    return dict(zip(PAGE, found, strict=True))


def test_blocks_have_a_language_options_and_code() -> None:
    text = 'a\n```sh server="http://x/y" quiet\nls\n```\n\n    ```python\n    if x:\n        y\n    ```\n'
    first, second = blocks(text)
    assert (first.language, first.options) == ("sh", {"server": "http://x/y", "quiet": ""})
    assert (second.indent, second.code) == ("    ", "if x:\n    y\n")
    assert text[second.start : second.end].endswith("```")


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown option 'quite'"):
        blocks("```python quite\n1\n```\n")


def test_prose_has_no_code() -> None:
    assert prose("A `b` c.\n\n```sh\nd\n```\n\n<!-- e -->f").split() == ["A", "c.", "f"]


@pytest.mark.parametrize(
    ("block", "text"),
    {
        "prints and has a value": "a\n1\n",
        "knows earlier names": "2\n",
        "file": "",
        "shell": "x,y\nerror\n",
        "changed file": "x,y\n1,2\n",
        "examples": "",
        "knows names of examples": "[1, 2]\n",
        "figure": "",
        "client": "200\n",
        "error": "ValueError: no such file\n",
        "error in shell": "sorry\n",
    }.items(),
)
def test_what_a_block_prints_or_returns_is_its_output(
    block: str, text: str, outputs: dict[str, Output]
) -> None:
    assert outputs[block].text == text


def test_figures_come_out_and_are_closed(outputs: dict[str, Output]) -> None:
    assert [name for name, output in outputs.items() if output.pictures] == ["figure"]


def test_an_error_says_what_is_wrong(outputs: dict[str, Output]) -> None:
    assert "Expected:\n    3\nGot:\n    2" in outputs["wrong example"].text
    assert "make peers" in outputs["peer that never ran"].text


def test_an_error_that_is_not_announced_ends_the_page(tmp_path: Path) -> None:
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        run(blocks("```python\n1 / 0\n```\n"), tmp_path)


def test_an_announced_error_must_happen(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"should have failed:\n1 \+ 1"):
        run(blocks("```python fails\n1 + 1\n```\n"), tmp_path)


def test_outputs_stand_below_their_blocks_and_hidden_ones_show_only_markdown() -> None:
    page = f"{PAGE['markdown']}\n\n=== tab\n\n    ```python\n    1 + 1\n    ```\n\n```sh quiet\necho a\n```\n"
    shown = "    ``` {.python}\n    1 + 1\n    ```\n\n    ``` {.text .output}\n    2\n    ```"
    assert executed(page) == f"*made*\n\n=== tab\n\n{shown}\n\n``` {{.sh}}\necho a\n```\n"


def test_the_recorded_blocks_of_other_libraries_are_those_of_the_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDPILOT_PEERS", "/nowhere")
    monkeypatch.chdir(tmp_path)
    for page in (peers.ROOT / "docs").rglob("*.md"):
        codes = [peers.code_of(block) for block in blocks(page.read_text()) if "peer" in block.options]
        for n in range(len(codes)):
            peers.run(codes[: n + 1])
