"""Templates of projects: each is a whole description, and fills in the form without a loss."""

from __future__ import annotations

import pytest

from crowdpilot.service.pages.dashboard.setup.fields import read_typed
from crowdpilot.service.pages.dashboard.setup.form import parse_form, to_typed
from crowdpilot.service.pages.dashboard.setup.summary import summarise
from crowdpilot.service.pages.dashboard.setup.templates import list_templates, template_spec


@pytest.mark.parametrize("id", list_templates())
def test_a_template_fills_in_the_form(id: str) -> None:
    spec = template_spec(id)
    assert spec is not None
    project, wrong = parse_form(read_typed(to_typed(spec)))
    assert wrong == {}
    assert project is not None
    assert project.model_dump() == spec
    assert all(summarise(spec, 100))


def test_there_is_a_template_for_texts_images_sounds_and_criteria() -> None:
    assert {"sentiment", "spam", "screening", "images", "sounds", "moderation", "preference"} == set(
        list_templates()
    )
    assert template_spec("unknown") is None
