"""The press runs what a page shows, and complains of what is not as it says."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from docs.press import checks, lists, peers, rooms, shell
from docs.press.blocks import blocks, prose
from docs.press.glossary import Linker, entries, terms
from docs.press.hooks import _printed
from docs.press.running import Failed, Output, run_blocks

TERMS = """# Glossary

## ECE

*Also:* expected calibration error

Mean distance between confidence and accuracy. More is said elsewhere.

## vote

What a [worker](x.md) said.
"""


def outputs(text: str) -> list[str]:
    return [output.text for output in run_blocks(blocks(text))]


def test_blocks_have_a_language_options_and_code() -> None:
    text = 'a\n```sh server="http://x/y" quiet\nls\n```\n\n    ```python\n    if x:\n        y\n    ```\n'
    first, second = blocks(text)
    assert (first.language, first.options, first.code) == (
        "sh",
        {"server": "http://x/y", "quiet": ""},
        "ls\n",
    )
    assert (second.indent, second.code) == ("    ", "if x:\n    y\n")
    assert text[second.start : second.end].endswith("```")


def test_a_block_in_a_comment_is_run_and_not_shown() -> None:
    text = "<!--\n```python\nx = 2\n```\n-->\n\n```python\nx + 1\n```\n"
    assert outputs(text) == ["", "3\n"]
    shown = _printed(text, run_blocks(blocks(text)))
    assert "x = 2" not in shown
    assert "``` {.text .output}\n3\n```" in shown


def test_prose_has_no_code() -> None:
    assert prose("A `b` c.\n\n```sh\nd\n```\n\n<!-- e -->f").split() == ["A", "c.", "f"]


def test_python_shows_what_is_printed_and_the_last_value() -> None:
    assert outputs("```python\nx = 1\nprint('a')\nx\n```\n\n```python\nx + 1\n```\n") == ["a\n1\n", "2\n"]


def test_files_are_there_for_the_blocks_below_and_in_their_own_folder() -> None:
    here = set(Path.cwd().iterdir())
    assert outputs('```csv title="a.csv"\nx,y\n```\n\n```sh\ncat a.csv; pwd\n```\n')[1].startswith("x,y\n")
    assert set(Path.cwd().iterdir()) == here


@pytest.mark.parametrize(
    "text",
    [
        "```python\n1 / 0\n```\n",
        "```python\n>>> 1 + 1\n3\n```\n",
        "```python fails\n1 + 1\n```\n",
        "```sh\nfalse\n```\n",
        "```sh\nfalse | cat\n```\n",
        "```sh fails\ntrue\n```\n",
        "```console\n$ crowdpilot strategies --nonsense\n```\n",
        "```console\n$ crowdpilot serve --nonsense\n```\n",
        "```console\n$ pip install 'crowdpilot[nonsense]'\n```\n",
        "```console\n$ make nonsense\n```\n",
    ],
)
def test_what_goes_wrong_is_an_error(text: str) -> None:
    with pytest.raises(Failed):
        outputs(text)


def test_a_slip_in_an_option_is_an_error() -> None:
    with pytest.raises(ValueError, match="'quite', which is not known"):
        outputs("```python quite\n1\n```\n")


def test_what_should_fail_shows_its_sentence() -> None:
    assert outputs("```python fails\nraise ValueError('no such file')\n```\n") == [
        "ValueError: no such file\n"
    ]


def test_examples_are_compared_and_keep_their_names() -> None:
    assert outputs("```python\n>>> x = [1,\n...      2]\n```\n\n```python\nsum(x)\n```\n") == ["", "3\n"]


def test_figures_come_out_and_are_closed() -> None:
    code = "import matplotlib; matplotlib.use('agg')\nimport matplotlib.pyplot as plt\n_ = plt.plot([1, 2])"
    first, second = run_blocks(blocks(f"```python\n{code}\n```\n\n```python\n1\n```\n"))
    assert len(first.pictures) == 1
    assert second == Output("1\n")


def test_servers_answer_while_the_page_runs_and_end_with_it() -> None:
    from crowdpilot.cli.commands.serve import free_port

    address = f"http://127.0.0.1:{free_port('127.0.0.1')}/"
    code = f"from urllib.request import urlopen\nurlopen('{address}').status"
    served = f"python -m http.server -b 127.0.0.1 {address[17:-1]}"
    text = f'```sh server="{address}"\n{served}\n```\n\n```python\n{code}\n```\n'
    assert outputs(text)[1] == "200\n"


def test_a_server_that_ends_at_once_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="does not answer"):
        shell.Servers().start("false", "http://127.0.0.1:1/")


def test_code_for_other_libraries_that_was_never_run_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROWDPILOT_PEERS", "/nowhere")
    with pytest.raises(ValueError, match="make peers"):
        peers.run(["print('never run')"])


def test_terms_are_found_by_every_spelling() -> None:
    assert terms(TERMS) == {"ece": "ece", "expected calibration error": "ece", "vote": "vote"}
    assert entries(TERMS)[0].brief == "Mean distance between confidence and accuracy."


def test_the_first_use_of_a_term_is_linked_where_it_is_prose() -> None:
    page = "<h1>Votes</h1><p><code>vote</code> <a href='x'>vote</a> Two votes &amp; a vote, ECE, ece.</p>"
    linked = Linker(TERMS).link(page, "../glossary/")
    assert linked.count('class="term"') == 2
    assert ">votes</a> &amp; a vote, " in linked
    assert (
        '<a class="term" href="../glossary/#ece" title="Mean distance between confidence and accuracy.">ECE'
        in linked
    )
    assert "<h1>Votes</h1>" in linked
    assert ", ece.</p>" in linked  # an abbreviation keeps its capitals


def test_dead_links_and_terms_that_the_search_lost_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "index.html").write_text("<a href='../b/'>b</a><a href='#here' id='here'>x</a>")
    (tmp_path / "index.html").write_text("<a href='a/#here'>x</a><a href='a/#gone'>y</a><img src='data:x'>")
    assert sorted(checks.dead_links(tmp_path)) == [
        "a/index.html: ../b/ leads nowhere",
        "index.html: a/#gone leads to no place on its page",
    ]
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "search_index.json").write_text('{"docs": [{"location": "glossary/#ece"}]}')
    assert checks.lost_terms(tmp_path, TERMS) == ["vote"]


def test_every_room_of_the_contract_is_drawn_and_has_a_page() -> None:
    contract = tomllib.loads(Path("pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    names = {name.strip() for layer in contract["layers"] for name in layer.split("|")}
    drawn = rooms.diagram()
    assert all(f">{name}</text>" in drawn for name in names)
    pages = {rooms.PAGES.get(name, name) for name in names - rooms.OUTER}
    assert [page for page in pages if not Path(f"docs/{page}.md").exists()] == []


@pytest.mark.parametrize("name", lists.LISTS)
def test_lists_are_made(name: str) -> None:
    assert len(lists.fill(f"<!-- made: {name} -->")) > 200


def test_a_list_that_nobody_makes_is_an_error() -> None:
    with pytest.raises(ValueError, match="no list 'nonsense'"):
        lists.fill("<!-- made: nonsense -->")
