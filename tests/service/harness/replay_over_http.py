"""Recorded votes sent through the service, as `crowdpilot.hybrid.replay` sends them through a campaign."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from crowdpilot.hybrid import Ask, Costs, Plan, RecordedVotes, Scenario
from crowdpilot.hybrid.replay.run import BATCHES_PER_PASS

Send = Callable[..., Any]  # method, path, JSON -> JSON
TIMEOUT_SECONDS = 60.0


def describe(scenario: Scenario, costs: Costs, plan: Plan) -> dict[str, Any]:
    """The project that does what `replay` would do."""
    settings = plan.to_dict()
    names_of_settings = (
        "fusion",
        "pilot",
        "pilot_votes",
        "explore",
        "gold",
        "per_worker",
        "per_item",
        "refit_every",
        "refit_growth",
        "seed",
    )
    return {
        "name": "replay",
        "classes": [str(name) for name in scenario.classes.tolist()],
        "criteria": [{"name": name} for name in scenario.criteria],
        "costs": costs.to_dict(),
        "policy": plan.policy,
        "plan": {name: settings[name] for name in names_of_settings},
        "machine": "none" if scenario.classifier_probs is None else "given",
    }


def replay_over_http(send: Send, scenario: Scenario, costs: Costs, plan: Plan) -> dict[str, dict[str, Any]]:
    """Run a project to its end; what was decided about each item."""
    project = send("POST", "/api/projects", describe(scenario, costs, plan))["id"]
    at = f"/api/projects/{project}"
    machine = (
        [None] * len(scenario.items)
        if scenario.classifier_probs is None
        else scenario.classifier_probs.tolist()
    )
    items = [
        {"name": str(name), "text": str(name), "machine": probs}
        for name, probs in zip(scenario.items.tolist(), machine, strict=True)
    ]
    send("POST", f"{at}/items", {"items": items})
    source = RecordedVotes(scenario, plan.seed)
    names = {str(name): name for name in scenario.items.tolist()}
    size = max(plan.refit_every, len(scenario.items) // BATCHES_PER_PASS)
    _stop(send, at, source)
    while True:
        response = send("POST", f"{at}/vote-requests", {"n": size})
        asked = response["items"]
        if not asked:
            if not response["wait"]:
                break
            _await_refits(send, at)
            continue
        answers = source.answer([Ask(names[ask["item"]], ask.get("criterion", "")) for ask in asked])
        votes = [
            {"item": str(item), "worker": str(worker), "label": str(label), "criterion": criterion}
            for item, worker, label, criterion in answers
        ]
        send("POST", f"{at}/external-votes", {"votes": votes})
        _stop(send, at, source)
        _await_refits(send, at)
    rows = send("GET", f"{at}/decisions?format=ndjson")
    return {row["item"]: row for row in rows}


def _stop(send: Send, at: str, source: RecordedVotes) -> None:
    over = source.exhausted()
    if over:
        send("POST", f"{at}/items/stop", {"items": [str(ask.item) for ask in over]})


def _is_refitting(send: Send, at: str) -> bool:
    jobs = send("GET", f"{at}/jobs")["jobs"]
    return any(job["kind"] == "refit" and job["state"] in ("queued", "running") for job in jobs)


def _await_refits(send: Send, at: str) -> None:
    """Wait for refits, as a campaign does before it is asked again."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while _is_refitting(send, at):
        assert time.monotonic() < end
        time.sleep(0.01)
