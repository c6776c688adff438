"""The log says what was done in sentences, of everything that is written to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crowdpilot.service.requesters.log_sentences import PLAIN, WITH_DETAIL, other_details, write_sentence
from crowdpilot.service.requesters.recruiting.prolific_studies import MOVES
from crowdpilot.service.requesters.recruiting.submissions import VERDICTS
from crowdpilot.service.store import projects
from tests.service.harness.dashboard import DashboardService
from tests.service.harness.service import sqlite_url

HOME = Path(__file__).parents[3]
COMPUTED = {  # names of actions that are not written down as texts
    "state": (projects.OPEN, projects.PAUSED, projects.CLOSED),
    "f'{verdict} submissions'": tuple(f"{verdict} submissions" for verdict in VERDICTS),
    "f'{action} study'": tuple(f"{move} study" for move in MOVES),
}


class Call(NamedTuple):
    """A call, the function that it is in, and their module."""

    node: ast.Call
    inside: ast.FunctionDef | ast.AsyncFunctionDef
    module: str

    @property
    def name(self) -> str:
        function = self.node.func
        return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def all_calls() -> Iterator[Call]:
    for path in sorted((HOME / "crowdpilot").rglob("*.py")):
        module = ".".join(path.relative_to(HOME).with_suffix("").parts)
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.Call):
                        yield Call(node, function, module)


def actions_in(expression: ast.expr, call: Call, calls: list[Call]) -> set[str]:
    """The texts that an argument may be: followed to the callers of the function if it is a parameter."""
    text = ast.unparse(expression)
    if text in COMPUTED:
        return set(COMPUTED[text])
    if isinstance(expression, ast.IfExp):
        return actions_in(expression.body, call, calls) | actions_in(expression.orelse, call, calls)
    parameters = [argument.arg for argument in (*call.inside.args.posonlyargs, *call.inside.args.args)]
    if text in parameters:
        n = parameters.index(text) - ("self" in parameters)
        callers = [one for one in calls if one.name == call.inside.name and len(one.node.args) > n
                   and (one.module == call.module or not call.inside.name.startswith("_"))]  # fmt: skip
        return {action for one in callers for action in actions_in(one.node.args[n], one, calls)}
    assigned = [node.value for node in ast.walk(call.inside) if isinstance(node, ast.Assign)
                and [ast.unparse(target) for target in node.targets] == [text]]  # fmt: skip
    if assigned:
        return actions_in(assigned[0], call, calls)
    found = eval(text, dict(vars(import_module(call.module))))
    return {found} if isinstance(found, str) else set()


def written_actions() -> set[str]:
    """All actions that the package writes to the log."""
    calls = list(all_calls())
    writers = [call for call in calls if ast.unparse(call.node.func) in ("action_log.write", "log.write")]
    return {action for call in writers for action in actions_in(call.node.args[2], call, calls)}


def test_everything_that_is_written_to_the_log_has_a_sentence() -> None:
    found = written_actions()
    assert {"create HIT", "note", "audit answers", "wrong key", "override", "undo review"} <= found
    assert found - {*PLAIN, *WITH_DETAIL} == set()


@pytest.mark.parametrize(
    ("action", "detail", "words"),
    [
        ("create HIT", {"assignments": 9, "reward": "0.50", "hit": "3X", "sandbox": True},
         "created a HIT for 9 workers at USD 0.50 on Mechanical Turk (sandbox, no money)"),
        ("pay bonus", {"amount": "2.00", "sandbox": False}, "paid a bonus of USD 2.00 on Mechanical Turk"),
        ("override", {"item": "a", "after": {"override": None}},
         "let the answers decide about the item a again"),
        ("override", {"items": 3}, "decided about 3 items by hand"),
        ("restore", {}, "took the project out of the archive"),
        ("restore", {"saved": "2025"}, "restored the service from a backup"),
        ("block", {"worker": 3, "votes": "leave out"}, "blocked worker 3 and left out their answers"),
        ("export", {"what": "worker", "worker": 3}, "exported the data of worker 3"),
        ("import", {"items": 3, "votes": 1}, "imported 3 items and 1 answer"),
    ],
)  # fmt: skip
def test_sentences_have_the_details_that_matter(action: str, detail: dict[str, Any], words: str) -> None:
    assert write_sentence(action, detail) == words


@pytest.mark.parametrize("action", [*PLAIN, *WITH_DETAIL])
def test_every_action_is_a_sentence_even_without_details(action: str) -> None:
    words = write_sentence(action, {})
    assert words[0].islower()
    assert "None" not in write_sentence(action, {"items": 2, "worker": 3})


def test_an_unknown_action_stays_as_it_is_with_its_details() -> None:
    assert write_sentence("step 1.", {"a": 1}) == "step 1."
    assert other_details("step 1.", {"a": 1, "b": None}) == {"a": "1"}
    assert other_details("change settings", {"changes": {"name": [1, 2], "batch": [3, 4]}}) == {
        "changes": "name, batch"
    }


def test_the_page_says_who_did_what_and_is_filtered_by_person(tmp_path: Path) -> None:
    service = DashboardService(sqlite_url(tmp_path))
    project = service.project()
    project.add_texts(3)
    project.get("/votes")
    client, home = service.signed_in("admin"), f"/projects/{project.id}/log"
    text = client.get(home).text
    for words in ("added 3 items", "exported the answers as csv", "created the project"):
        assert words in text
    assert "<option>ann</option>" in text
    assert "added 3 items" in client.get(home, params={"actor": "ann"}).text
    nobody = client.get(home, params={"actor": "eve"}).text
    assert "added 3 items" not in nobody
    assert "Nothing matches" in nobody
    service.close()
