"""The wizard and the preview in a browser: from an empty server to a project, by clicks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from crowdpilot.service.store import items, projects
from tests.service.harness.accessibility import axe
from tests.service.harness.dashboard import DashboardService, sign_in
from tests.service.harness.media import png, wav
from tests.service.harness.wizard import LAST_STEP, create_by_clicks

pytestmark = pytest.mark.thorough  # needs a browser


def begin(page: Any, site: DashboardService, template: str = "") -> None:
    """Sign in, and open the wizard, perhaps with a template."""
    page.goto(f"{site.settings.address}/login")
    page.get_by_label("API key").fill(site.keys["write"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="New project").click()
    if template:
        page.get_by_role("link", name=template).click()


def spec_of(site: DashboardService, id: str) -> dict[str, Any]:
    with site.store.reading() as c:
        return dict(projects.find(c, id).spec)


@pytest.mark.parametrize("screen", ["desktop", "phone"])
def test_texts_become_a_project_by_clicks(
    site: DashboardService, open_page: Any, tmp_path: Path, screen: str
) -> None:
    page, file = open_page(screen), tmp_path / "mails.csv"
    file.write_text(
        "name,text,gold\n" + "".join(f"m{n},Mail {n},{['ham', 'spam', ''][n % 3]}\n" for n in range(30))
    )
    begin(page, site)
    page.locator("#files").set_input_files(file)
    page.get_by_role("button", name="Use these as the answers").click()

    def costs(page: Any) -> None:
        page.locator("#missed").fill("40")
        page.locator("#currency").select_option("EUR")
        page.locator("#budget").fill("12")
        assert "costs EUR 2.00" in page.locator("#costs-meaning").inner_text()

    def summary(page: Any) -> None:
        assert "30 items, 2 answers" in page.locator("#summary").inner_text()

    id = create_by_clicks(page, [file], "Mails", fill={4: costs, 7: summary}, check=True)
    spec = spec_of(site, id)
    assert (sorted(spec["classes"]), spec["plan"]["gold"], spec["costs"]["budget"]) == (
        ["ham", "spam"],
        0.1,
        12,
    )
    assert spec["costs"]["errors"] == [[0, 1], [2, 0]]


@pytest.mark.parametrize(("kind", "template"), [("image", "What pictures show"), ("audio", "Sound events")])
def test_files_become_a_project_by_clicks(
    site: DashboardService, phone: Any, tmp_path: Path, kind: str, template: str
) -> None:
    files = [tmp_path / f"{n}.{'png' if kind == 'image' else 'wav'}" for n in range(3)]
    for n, file in enumerate(files):
        file.write_bytes(png(40, 30 + n) if kind == "image" else wav(hertz=440 + n))
    begin(phone, site, template)
    id = create_by_clicks(phone, files, "Files", check=True)
    with site.store.reading() as c:
        assert [list(row.content) for row in items.all_contents(c, id)] == [[kind]] * 3


def test_criteria_become_a_project_by_clicks_and_a_worker_page_can_be_looked_at(
    site: DashboardService, desktop: Any, tmp_path: Path
) -> None:
    file = tmp_path / "papers.csv"
    file.write_text("text\n" + "".join(f"Abstract {n}\n" for n in range(6)))
    begin(desktop, site, "Screening with criteria")
    id = create_by_clicks(desktop, [file], "Papers")
    assert len(spec_of(site, id)["criteria"]) == 2
    desktop.get_by_role("link", name="Preview as a worker").click()
    desktop.get_by_text("Preview: nothing is recorded.").wait_for()
    axe(desktop)
    desktop.get_by_role("link", name="Start", exact=True).click()
    desktop.locator("#deck .item:visible").wait_for()
    desktop.wait_for_timeout(400)
    desktop.keyboard.press("1")
    desktop.wait_for_function("() => document.getElementById('done').textContent === '1'")
    desktop.keyboard.press("u")
    desktop.wait_for_function("() => document.getElementById('done').textContent === '0'")
    axe(desktop)
    with site.store.reading() as c:
        assert projects.find(c, id).votes == 0


def test_what_is_wrong_is_shown_at_its_step_and_the_keyboard_goes_there(
    site: DashboardService, desktop: Any, tmp_path: Path
) -> None:
    wrong, file = tmp_path / "wrong.csv", tmp_path / "right.csv"
    wrong.write_text("name\nonly a name\n")
    file.write_text("text\nGood.\n")
    begin(desktop, site)
    desktop.locator("#files").set_input_files(wrong)
    desktop.get_by_text("These files cannot be used.").wait_for()
    desktop.locator("#files").set_input_files(file)
    desktop.get_by_text("1 item found").wait_for()
    desktop.get_by_role("button", name="Next", exact=True).press("Enter")
    desktop.locator("#part-2").wait_for()
    desktop.get_by_role("button", name="Next", exact=True).press("Enter")
    desktop.locator("#name-error").wait_for()
    assert desktop.evaluate("document.activeElement.id") == "name"
    axe(desktop)
    assert desktop.locator("#files").evaluate("one => one.files.length") == 1


def go_to(page: Any, step: int) -> None:
    """Press Next until a step is reached."""
    while not page.locator(f"#part-{step}").is_visible():
        now = page.locator("[data-step]:visible").get_attribute("data-step")
        page.get_by_role("button", name="Next", exact=True).click()
        page.locator(f"#part-{int(now) + 1}").wait_for()


def go_on(page: Any) -> str:
    """Go on to the last step without changes, and create the project; its id."""
    go_to(page, LAST_STEP)
    page.get_by_role("button", name="Create the project").click()
    page.wait_for_url(re.compile(r"/projects/[0-9a-f]{12}$"))
    return str(page.url.rpartition("/")[2])


def test_rows_are_numbered_as_they_stand_and_there_are_no_more_than_may_be(
    site: DashboardService, desktop: Any, tmp_path: Path
) -> None:
    file = tmp_path / "papers.csv"
    file.write_text("text\nAbstract\n")
    begin(desktop, site, "Screening with criteria")
    desktop.locator("#files").set_input_files(file)
    go_to(desktop, 2)
    rows, add = (
        desktop.locator("[data-rows=criteria] > li"),
        desktop.get_by_role("button", name="Add a criterion"),
    )
    for _ in range(30):  # numbers do not grow with what is removed
        add.click()
        rows.last.get_by_role("button", name="Remove").click()
    for n in range(rows.count(), 20):
        add.click()
        assert desktop.evaluate("document.activeElement.id") == f"criteria-{n}-name"
        desktop.keyboard.type(f"criterion {n + 1}")
    assert rows.count() == 20
    assert add.is_hidden()
    rows.nth(0).get_by_role("button", name="Remove").click()
    assert desktop.evaluate("document.activeElement.id") == "criteria-0-name"
    assert add.is_visible()
    desktop.locator("#name").fill("Papers")
    id = go_on(desktop)
    names = [criterion["name"] for criterion in spec_of(site, id)["criteria"]]
    assert (len(names), names[-1]) == (18, "criterion 20")  # of 19 rows one is empty


def test_answers_of_the_file_bring_no_keys_of_other_answers(
    site: DashboardService, desktop: Any, tmp_path: Path
) -> None:
    file = tmp_path / "mails.csv"
    file.write_text("text,gold\nOne,Ham\nTwo,Spam\nThree,Ham\n")
    begin(desktop, site, "Spam or not")
    desktop.locator("#files").set_input_files(file)
    desktop.get_by_role("button", name="Use these as the answers").click()
    said = desktop.get_by_text("These are the answers now.")
    said.wait_for()
    assert said.evaluate("one => one === document.activeElement")
    go_to(desktop, 2)
    desktop.locator("#name").fill("Mails")
    id = go_on(desktop)
    spec = spec_of(site, id)
    assert spec["classes"] == ["Ham", "Spam"]
    assert list(spec["class_details"]) == ["Spam"]
    assert spec["class_details"]["Spam"]["key"] == "s"


def test_the_table_of_costs_keeps_what_was_typed(
    site: DashboardService, desktop: Any, tmp_path: Path
) -> None:
    file = tmp_path / "birds.csv"
    file.write_text("text\nA bird\n")
    begin(desktop, site)
    desktop.locator("#files").set_input_files(file)
    go_to(desktop, 2)
    desktop.locator("#name").fill("Birds")
    for n, name in enumerate(["Owl", "Crow", "Wren"]):
        if n > 1:
            desktop.get_by_role("button", name="Add an answer").click()
        desktop.locator(f"#classes-{n}-name").fill(name)
    go_to(desktop, 4)
    desktop.locator("#price").fill("1")
    desktop.get_by_label("Set the cost of each mistake in a table").check()

    def cell(right: str, label: str) -> Any:
        return desktop.get_by_label(f"{right}, labelled {label}, in answers")

    cell("Owl", "Crow").fill("2,5")
    cell("Wren", "Owl").fill("7")
    desktop.get_by_role("button", name="Back").click()
    desktop.get_by_role("button", name="Back").click()
    desktop.locator("#classes-0-name").press("End")
    desktop.keyboard.type("s")
    desktop.get_by_role("button", name="Add an answer").click()
    desktop.keyboard.type("Emu")
    desktop.get_by_role("button", name="Remove row 2").click()
    go_to(desktop, 4)
    assert cell("Wren", "Owls").input_value() == "7"
    assert cell("Wren", "Emu").input_value() == "20"
    assert cell("Emu", "Emu").input_value() == "0"
    cell("Emu", "Owls").fill("0,25")
    id = go_on(desktop)
    assert spec_of(site, id)["costs"]["errors"] == [[0, 20, 20], [7, 0, 20], [0.25, 20, 0]]


def test_who_is_signed_out_meanwhile_signs_in_elsewhere_and_goes_on(
    site: DashboardService, desktop: Any, tmp_path: Path, trouble: list[str]
) -> None:
    file = tmp_path / "birds.csv"
    file.write_text("text\nA bird\n")
    begin(desktop, site, "Spam or not")
    desktop.locator("#files").set_input_files(file)
    go_to(desktop, 3)
    desktop.context.clear_cookies()
    desktop.get_by_role("button", name="Next", exact=True).click()
    desktop.get_by_text("You are signed out.").wait_for()
    assert desktop.evaluate("document.activeElement.id") == "step-problem"
    other = desktop.context.new_page()
    sign_in(other, site, "write")
    other.close()
    id = go_on(desktop)
    with site.store.reading() as c:
        assert items.count(c, id) == 1
    assert all("403" in words for words in trouble)  # once, by which the new session is noticed
    trouble.clear()


def test_a_preview_that_meets_the_page_to_sign_in_says_so(
    site: DashboardService, desktop: Any, tmp_path: Path
) -> None:
    file = tmp_path / "birds.csv"
    file.write_text("text\nA bird\n")
    begin(desktop, site)
    desktop.context.clear_cookies()
    desktop.locator("#files").set_input_files(file)
    desktop.get_by_text("You are signed out.").wait_for()
    assert desktop.get_by_label("API key").count() == 0


WITHOUT_FOLDERS = """
const Native = FormData;  // as in a browser whose forms send no folders
window.FormData = class extends Native {
  constructor(form) {
    super(form);
    for (const [name, value] of [...super.entries()]) {
      if (value instanceof File && value.size) super.set(name, new File([value], value.name));
    }
  }
};
"""


@pytest.mark.parametrize("script", ["", WITHOUT_FOLDERS], ids=["as it is", "without folders in forms"])
def test_folders_named_like_answers_are_known_answers(
    site: DashboardService, desktop: Any, tmp_path: Path, script: str
) -> None:
    for n, name in enumerate(["owl", "crow", "crow"]):
        (tmp_path / "birds" / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "birds" / name / f"{n}.png").write_bytes(png(40, 30 + n))
    desktop.add_init_script(script)
    begin(desktop, site)
    desktop.get_by_text("A whole folder").click()
    desktop.locator("#folder").set_input_files(tmp_path / "birds")
    desktop.get_by_text("None has a known answer.").wait_for()
    desktop.get_by_role("button", name="Use these as the answers").click()
    desktop.get_by_text("3 items have a known answer.").wait_for()
    go_to(desktop, 2)
    desktop.locator("#name").fill("Birds")
    id = go_on(desktop)
    with site.store.reading() as c:
        assert sorted(row.gold for row in items.list_all(c, id)) == ["crow", "crow", "owl"]
    assert spec_of(site, id)["plan"]["gold"] == 0.1


def test_files_are_looked_into_again_when_the_answers_change(
    site: DashboardService, desktop: Any, tmp_path: Path
) -> None:
    file = tmp_path / "mails.csv"
    file.write_text("text,gold,p_ham,p_spam\nOne,ham,0.9,0.1\nTwo,,0.5,0.5\n")
    begin(desktop, site)
    desktop.locator("#files").set_input_files(file)
    desktop.get_by_text("2 items with the guesses of a classifier").wait_for()
    machine = desktop.locator('[name="machine"]:checked')
    assert machine.get_attribute("value") == "given"
    go_to(desktop, 2)
    desktop.locator("#name").fill("Mails")
    for n, name in enumerate(["no", "yes"]):
        desktop.locator(f"#classes-{n}-name").fill(name)
    desktop.get_by_role("button", name="Next", exact=True).click()
    problem = desktop.get_by_text("The files do not fit these answers.")
    problem.wait_for()
    assert "'ham' is not a class" in problem.inner_text()
    assert desktop.evaluate("document.activeElement.id") == "step-problem"
    assert machine.get_attribute("value") == "none"
    for n, name in enumerate(["spam", "ham"]):
        desktop.locator(f"#classes-{n}-name").fill(name)
    id = go_on(desktop)
    assert spec_of(site, id)["machine"] == "given"
    with site.store.reading() as c:
        assert [row.classifier_probs for row in items.list_all(c, id)] == [[0.1, 0.9], [0.5, 0.5]]


FOCUS = """() => {
  const one = document.activeElement;
  const box = one.getBoundingClientRect();
  const outlined = [one, one.closest(".choice")].filter(Boolean).some((each) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(each);
    return outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
  });
  const seen = box.bottom > 0 && box.top < innerHeight && box.width > 0 && box.height > 0;
  const words = one.getAttribute("aria-label") ?? one.innerText ?? "";
  return { id: one.id, name: one.name ?? "", words: words.trim(), visible: outlined && seen };
}"""


class Keyboard:
    """Somebody who has no mouse: each key that moves the focus leaves it where it can be seen."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def press(self, key: str) -> dict[str, Any]:
        """Press a key; what has the focus then."""
        self.page.keyboard.press(key)
        found: dict[str, Any] = self.page.evaluate(FOCUS)
        assert found["visible"], (key, found)
        return found

    def tab_to(self, target: str, key: str = "Tab") -> None:
        """Press Tab until something of this id, name or words has the focus."""
        passed = []
        for _ in range(60):
            found = self.press(key)
            if target in (found["id"], found["name"], found["words"]):
                return
            passed.append(found["id"] or found["words"])
        raise AssertionError(f"{target} is not reached by {key}, but {passed}")

    def type(self, target: str, text: str, key: str = "Tab") -> None:
        """Go to a field and type."""
        self.tab_to(target, key)
        self.page.keyboard.type(text)

    def next(self, step: int) -> None:
        """Press Next; the heading of the step has the focus."""
        self.tab_to("next")
        self.page.keyboard.press("Enter")
        self.page.wait_for_function(f"() => document.activeElement.id === 'part-{step}'")
        assert self.page.evaluate(FOCUS)["visible"], step


def test_the_whole_wizard_by_keyboard_alone(site: DashboardService, desktop: Any, tmp_path: Path) -> None:
    file = tmp_path / "mails.csv"
    file.write_text("name,text,gold\na,Buy now,spam\nb,See you,ham\nc,Hello,\n")
    sign_in(desktop, site, "write")
    keys = Keyboard(desktop)
    keys.tab_to("New project")
    desktop.keyboard.press("Enter")
    desktop.wait_for_url("**/projects/new")
    keys.tab_to("files")
    desktop.locator("#files").set_input_files(file)  # the dialog of the system is not ours
    desktop.locator(".setup-preview").wait_for()
    keys.tab_to("Use these as the answers")
    desktop.keyboard.press("Space")
    desktop.wait_for_function(
        "() => document.activeElement.textContent.startsWith('These are the answers now')"
    )
    keys.next(2)
    keys.type("name", "Mails")
    keys.type("question", "Is it spam?")
    keys.type("classes-0-key", "j")
    keys.tab_to("classes-0-color")
    assert keys.press("ArrowDown")["id"] == "classes-0-color"
    keys.tab_to("Add an answer")
    desktop.keyboard.press("Space")
    desktop.wait_for_function("() => document.activeElement.id === 'classes-2-name'")
    desktop.keyboard.type("unsure")
    keys.tab_to("Remove row 3")
    desktop.keyboard.press("Enter")
    desktop.wait_for_function("() => document.activeElement.id === 'classes-1-name'")
    keys.type("classes-0-description", "Wanted.", "Shift+Tab")
    keys.next(3)
    keys.type("instructions", "Read the mail.")
    keys.tab_to("Consent")
    desktop.keyboard.press("Enter")  # opens it
    keys.type("consent", "I agree.")
    keys.next(4)
    keys.type("budget", "12")
    keys.tab_to("each")
    desktop.keyboard.press("Space")
    keys.tab_to("spam, labelled ham, in answers")
    desktop.keyboard.press("ControlOrMeta+a")
    desktop.keyboard.type("40")
    keys.next(5)
    keys.tab_to("policy")
    assert keys.press("ArrowDown")["name"] == "policy"  # always the same number
    keys.next(6)
    keys.tab_to("batch")
    desktop.keyboard.press("ControlOrMeta+a")
    desktop.keyboard.type("0")
    keys.tab_to("next")
    desktop.keyboard.press("Enter")
    desktop.wait_for_function("() => document.activeElement.id === 'batch'")  # where something is wrong
    assert desktop.evaluate(FOCUS)["visible"]
    desktop.keyboard.press("ControlOrMeta+a")
    desktop.keyboard.type("5")
    keys.next(7)
    keys.tab_to("create")
    desktop.keyboard.press("Enter")
    desktop.wait_for_url(re.compile(r"/projects/[0-9a-f]{12}$"))
    spec = spec_of(site, desktop.url.rpartition("/")[2])
    assert (spec["name"], spec["question"], spec["consent"]) == ("Mails", "Is it spam?", "I agree.")
    assert (spec["classes"], spec["policy"], spec["batch"]) == (["spam", "ham"], "fixed[votes=3]", 5)
    assert spec["class_details"]["spam"]["key"] == "j"
    assert spec["costs"]["errors"] == [[0, 2], [1, 0]]
