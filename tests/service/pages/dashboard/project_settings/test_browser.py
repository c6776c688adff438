"""The page of settings in a browser: what nobody has touched is saved as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from crowdpilot.service.store import projects
from tests.service.harness.dashboard import DashboardService, sign_in

pytestmark = pytest.mark.thorough  # needs a browser
BIRDS = {"classes": ["Owl", "Crow", "Wren"]}
MANY = {"classes": [f"Bird {n}" for n in range(14)]}
SPECS: dict[str, dict[str, Any]] = {
    "kinds in another order": {
        "costs": {"prices": {"expert": 0.5, "crowd": 0.02}, "errors": [[0, 1], [3, 0]]}
    },
    "volunteers": {"costs": {"prices": {"volunteer": 0}, "errors": [[0, 2.5], [7, 0]]}},
    "a table": {
        **BIRDS,
        "costs": {"prices": {"volunteer": 0.03}, "errors": [[0, 1, 2], [3, 0, 4], [5, 6, 0]]},
    },
    "a large table": {**MANY, "costs": {"errors": [[abs(k - d) for d in range(14)] for k in range(14)]}},
    "one more decision": {"costs": {"errors": [[0, 1, 0.2], [7, 0, 0.2]]}},
    "texts": {
        "question": "One\nTwo, “three”",
        "instructions": "\nA\n\nB <b>",
        "consent": " x ",
        "name": " Birds",
    },
    "numbers": {
        "plan": {"gold": 1 / 3, "seed": 7},
        "lease": 100 / 3,
        "costs": {"errors": [[0, 1 / 3], [1 / 7, 0]]},
    },
    "rows": {
        "quiz": [{"text": "A", "label": "Positive", "why": "B"}] * 3,
        "class_details": {"Positive": {"key": "x"}},
        "criteria": [{"name": "human", "question": "People?"}, {"name": "trial"}],
    },
}


def test_settings_that_nobody_touched_are_saved_as_they_were(site: DashboardService, desktop: Any) -> None:
    sign_in(desktop, site, "write")
    for case, spec in SPECS.items():
        id = site.create(1, **spec)
        with site.store.reading() as c:
            before = projects.find(c, id)
        desktop.goto(f"{site.settings.address}/projects/{id}/settings")
        desktop.locator("#flags").evaluate("one => { one.checked = true; }")
        desktop.get_by_role("button", name="Save the settings").click()
        desktop.get_by_text("Saved.").wait_for()
        with site.store.reading() as c:
            after = projects.find(c, id)
        assert json.dumps(after.spec) == json.dumps({**before.spec, "flags": True}), case
