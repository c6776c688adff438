"""Outside the hybrid room a campaign is used through its methods and its view, never through its parts."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import crowdpilot
from crowdpilot.hybrid import Campaign, Costs

PACKAGE = Path(crowdpilot.__file__).parent
ROOT = PACKAGE.parent
PARTS = {"pool", "ledger", "questions", "learner", "items_", "parts", "leases", "values"}
PUBLIC_MODULES = {"campaign", "decisions", "estimates", "status", "view"}  # of hybrid/campaign
PREFIX = "crowdpilot.hybrid.campaign."
FILES = sorted(
    path
    for folder in (PACKAGE, ROOT / "benchmarks", ROOT / "examples", ROOT / "scripts")
    for path in folder.rglob("*.py")
    if PACKAGE / "hybrid" not in path.parents
)


@cache
def private_names() -> set[str]:
    """The private attributes of a campaign and of its view."""
    campaign = Campaign(["a"], ["no", "yes"], Costs.binary())
    return {name for thing in (campaign, campaign.view) for name in vars(thing) if name.startswith("_")}


def is_campaign(node: ast.expr) -> bool:
    """Whether an expression is called a campaign, or is the view of one."""
    if isinstance(node, ast.Attribute) and node.attr == "view":
        return is_campaign(node.value)
    name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
    return name.endswith("campaign")


def violations(source: str) -> list[str]:
    """Private attributes of campaigns, and attributes named like their parts, that a module reads."""
    private, found = private_names(), []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Attribute):
            continue
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        of_campaign = is_campaign(node.value)
        is_part = of_campaign and (node.attr in PARTS or node.attr.startswith("_"))
        if is_part or (node.attr in private and not own):
            found.append(f"line {node.lineno}: .{node.attr}")
    return found


def test_no_other_room_reads_the_parts_of_a_campaign():
    found = {str(path.relative_to(ROOT)): violations(path.read_text()) for path in FILES}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_no_other_room_imports_the_parts_of_a_campaign():
    imported = {
        (str(path.relative_to(ROOT)), node.module.removeprefix(PREFIX))
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PREFIX)
    }
    assert {pair for pair in imported if pair[1] not in PUBLIC_MODULES} == set()


@pytest.mark.parametrize(
    "line",
    [
        "campaign.pool",
        "replica.campaign.ledger.spent",
        "campaign._parts",
        "small._leases",
        "x.campaign.view._parts",
    ],
)
def test_a_violation_is_found(line):
    assert violations(line)


@pytest.mark.parametrize(
    "line", ["campaign.view.spent", "self._items", "progress.questions(spec)", "audit.pool"]
)
def test_what_is_allowed_is_not_found(line):
    assert violations(line) == []
