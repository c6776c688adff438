"""What `import crowdpilot` gives, and what it costs."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules, walk_packages
from types import ModuleType

import numpy as np
import pytest

import crowdpilot


@pytest.mark.parametrize("name", crowdpilot.__all__)
def test_every_public_name_is_there(name):
    assert getattr(crowdpilot, name) is not None


def test_rooms_are_found_without_an_import_of_their_own():
    code = "import crowdpilot as cp; print(cp.aggregation.MODELS['glad'].name, cp.metrics.accuracy([1], [1]))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["glad", "1.0"]


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        crowdpilot.nothing  # noqa: B018 - looking it up is the test


def test_importing_loads_nothing_yet_and_lists_the_public_names_alone():
    code = (
        "import crowdpilot, sys;"
        "print(*[m for m in sys.modules if m.startswith(('crowdpilot.', 'numpy', 'scipy', 'pyarrow'))]);"
        "print(*dir(crowdpilot))"
    )
    loaded, listed = subprocess.check_output([sys.executable, "-c", code], text=True).split("\n")[:2]
    assert loaded == ""
    assert {*crowdpilot.__all__, "__version__"} == set(listed.split())


def test_every_room_is_reachable_and_no_public_name_hides_one():
    folders = {path.parent.name for path in Path(crowdpilot.__file__).parent.glob("*/__init__.py")}
    assert folders == {room for room in folders if getattr(crowdpilot, room).__name__ == f"crowdpilot.{room}"}
    assert folders.isdisjoint(crowdpilot.__all__)


def packages():
    return [
        package for _, package, is_package in walk_packages(crowdpilot.__path__, "crowdpilot.") if is_package
    ]


@pytest.mark.parametrize("package", packages())
def test_no_function_hides_a_module(package):
    loaded = importlib.import_module(package)
    modules = {name for _, name, _ in iter_modules(loaded.__path__)}
    exported = {
        name for name in getattr(loaded, "__all__", ()) if not isinstance(getattr(loaded, name), ModuleType)
    }
    assert modules.isdisjoint(exported)


def test_the_verbs_do_what_they_say(tmp_path):
    votes, truth = crowdpilot.simulate("hammer-spammer", tasks=60, classes=2, votes_per_task=5)
    result = crowdpilot.aggregate(votes, "dawid_skene")
    costs = crowdpilot.Costs.equal(2, crowd=0.05)
    replayed = crowdpilot.replay(votes, truth, costs, policy="value")
    campaign = crowdpilot.Campaign(votes.tasks, votes.classes, costs)
    campaign.tell(votes, refit=True)
    checked = crowdpilot.audit(result, costs)
    items = checked.draw(20)
    checked.add_answers(items, truth[items])
    model = crowdpilot.train(votes, np.eye(2)[truth], network="linear", epochs=20, lr=0.05)
    page = crowdpilot.report(votes, tmp_path / "report.html", truth=dict(enumerate(truth.tolist())))
    assert (result.codes == truth).mean() > 0.9
    assert crowdpilot.diagnose(votes).votes is votes
    assert len(crowdpilot.suggest_gold(result, 10)) == 10
    assert replayed.votes[-1] <= len(votes)
    assert crowdpilot.forecast(campaign, runs=2).end("votes").median >= 0
    assert 0 <= checked.bound().error_rate <= 1
    assert (model.predict(np.eye(2)[truth]) == truth).mean() > 0.9
    assert page.read_text().lower().startswith("<!doctype html>")


def test_votes_are_the_same_from_wherever_they_are_imported():
    from crowdpilot.votes import Votes

    votes = crowdpilot.Votes.of(["a"], ["x"], ["cat"])
    assert crowdpilot.Votes is Votes
    assert isinstance(votes, crowdpilot.Votes)
    assert pickle.loads(pickle.dumps(votes)).tasks.tolist() == ["a"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("aggregat", "did you mean aggregate?"),
        ("plots", "use crowdpilot.reporting.plots"),
        ("dawid_skene", 'use cp.aggregate(votes, "dawid_skene")'),
        ("score", "use crowdpilot.metrics"),
    ],
)
def test_a_name_that_is_nearly_right_is_completed(name, hint):
    with pytest.raises(
        AttributeError, match=hint.replace("(", r"\(").replace(")", r"\)").replace("?", r"\?")
    ):
        getattr(crowdpilot, name)


def test_models_are_found_by_the_names_of_other_libraries():
    assert crowdpilot.MajorityVote is crowdpilot.MajorityVoting
    assert crowdpilot.KOS is crowdpilot.aggregation.KOS
