"""Outside the hybrid room a campaign is used through its methods and its view, never through its parts."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import crowdpilot
from crowdpilot.hybrid import Campaign, Costs

PACKAGE = Path(crowdpilot.__file__).parent
ROOT = PACKAGE.parent
PARTS = {"pool", "staff", "ledger", "wishes", "questions", "learner", "items_", "parts", "leases", "values"}
PUBLIC_MODULES = {"campaign", "decisions", "estimates", "status", "view"}  # of hybrid/campaign
FILES = sorted(
    path
    for folder in (PACKAGE, ROOT / "benchmarks", ROOT / "examples", ROOT / "scripts")
    for path in folder.rglob("*.py")
    if PACKAGE / "hybrid" not in path.parents
)


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
        if (node.attr in private and not own) or (is_campaign(node.value) and node.attr in PARTS):
            found.append(f"line {node.lineno}: .{node.attr}")
        elif is_campaign(node.value) and node.attr.startswith("_"):
            found.append(f"line {node.lineno}: .{node.attr}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_other_room_reads_the_parts_of_a_campaign(path):
    assert violations(path.read_text()) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_other_room_imports_the_parts_of_a_campaign(path):
    imported = {
        node.module.removeprefix("crowdpilot.hybrid.campaign.")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("crowdpilot.hybrid.campaign.")
    }
    assert imported <= PUBLIC_MODULES


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
