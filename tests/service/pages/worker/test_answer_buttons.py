"""Keys of the answers: those of the project first, then digits, then letters that mean nothing else."""

from __future__ import annotations

from typing import Any

from crowdpilot.service.pages.worker.answer_buttons import answer_buttons, item_data
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.schemas.project import RESERVED_KEYS
from tests.service.harness.worker_pages import PLAIN


def spec(n: int, **more: Any) -> dict[str, Any]:
    classes = [f"class {k}" for k in range(n)]
    return ProjectIn.model_validate({"name": "x", "classes": classes, **more}).model_dump()


def test_up_to_nine_classes_have_digits() -> None:
    assert [button.key for button in answer_buttons(spec(9))] == list("123456789")
    assert not item_data(spec(9))["searched"]


def test_more_classes_have_letters_and_a_search() -> None:
    keys = [button.key for button in answer_buttons(spec(40))]
    assert "".join(keys) == "123456789abdegijklmnoqrstvwxyz"
    assert not {*keys} & {*RESERVED_KEYS}
    assert item_data(spec(10))["searched"]


def test_keys_of_the_project_come_first_and_stay_unique() -> None:
    details = {"class 0": {"key": "X"}, "class 3": {"key": "1", "color": "#aa0000", "description": " Odd. "}}
    buttons = answer_buttons(spec(5, class_details=details))
    assert [button.key for button in buttons] == ["x", "2", "3", "1", "4"]
    assert (buttons[3].color, buttons[3].description) == ("#aa0000", "Odd.")


def test_the_page_shows_keys_colors_descriptions_and_pictures(make: Any) -> None:
    details = {"Positive": {"key": "x", "color": "#2e8b57", "description": "They <praise> it."}}
    picture = {"image": "https://example.org/a.png", "caption": "Look <here>"}
    service = make(
        {**PLAIN, "class_details": details, "pictures": [picture], "comments": True, "flags": True}
    )
    client, home = service.invited(), service.home
    label, start = client.get(f"{home}/label").text, client.get(f"{home}/instructions").text
    assert 'data-key="x"' in label
    assert 'id="flag"' in label
    assert 'id="comment"' in label
    for page in (label, start):
        assert 'data-color="#2e8b57"' in page
        assert "They &lt;praise&gt; it." in page
        assert "Look &lt;here&gt;" in page
    plain = make(PLAIN)
    page = plain.invited().get(f"{plain.home}/label").text
    assert 'id="flag"' not in page
    assert 'id="comment"' not in page
    assert 'id="find"' not in page


def test_texts_are_markdown_if_the_project_says_so(make: Any) -> None:
    contents = [{"text": f"*Good* {n} <script>alert(1)</script>"} for n in range(3)]
    service = make({**PLAIN, "markdown": True, "instructions": "Read **all**."}, contents=contents)
    client, home = service.invited(), service.home
    for part in ("label", "batch"):
        page = client.get(f"{home}/{part}").text
        assert "<em>Good</em>" in page
        assert "&lt;script&gt;alert" in page
    assert "<strong>all</strong>" in client.get(f"{home}/instructions").text
    plain = make({**PLAIN, "instructions": "Read **all**."}, contents=contents)
    assert "*Good*" in plain.invited().get(f"{plain.home}/label").text
