from __future__ import annotations

import pytest

from crowdpilot.service.errors import RequestError
from crowdpilot.service.labelling import onboarding
from crowdpilot.service.labelling.workers import identities
from crowdpilot.service.platforms import Arrival, invitation_links
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, migrate, projects, workers
from crowdpilot.service.store.arrivals import hits, invitations

SETTINGS = Settings(secret="s" * 40)
QUIZ = [{"text": "1 + 1 = 2", "label": "yes"}, {"text": "1 + 1 = 3", "label": "no"}]
PROLIFIC = {"PROLIFIC_PID": "a" * 24, "STUDY_ID": "b" * 24, "SESSION_ID": "c" * 24}


@pytest.fixture
def c(database_url):
    store = Store(database_url)
    migrate(store)
    with store.writing() as connection:
        yield connection
    store.close()


def make(c, **answers):
    spec = ProjectIn.model_validate({"name": "x", "classes": ["no", "yes"], **answers}).model_dump()
    return projects.find(c, projects.create(c, spec))


def come(c, project, name="ann", **more):
    return onboarding.open_session(c, SETTINGS, project, Arrival("link", name, **more))


def test_an_invitation_admits_a_worker(c):
    project = make(c)
    invitation = invitations.create(c, project.id, kind="crowd", worker="ann")
    token = invitation_links.sign_invitation(SETTINGS.secret, project.id, invitation.id)
    arrival = onboarding.arrive(c, SETTINGS, project, "link", {"invite": token})
    session = onboarding.open_session(c, SETTINGS, project, arrival)
    assert workers.find(c, project.id, session.worker).external == "ann"
    assert onboarding.open_session(c, SETTINGS, project, arrival).worker == session.worker


@pytest.mark.parametrize("platform", ["link", "prolific", "mturk", "elsewhere"])
def test_an_invalid_address_is_refused(c, platform):
    with pytest.raises(RequestError):
        onboarding.arrive(c, SETTINGS, make(c), platform, {})


def test_prolific_admits_only_workers_of_its_study(c):
    project = make(c, prolific={"study": "b" * 24})
    assert onboarding.arrive(c, SETTINGS, project, "prolific", PROLIFIC).external == "a" * 24
    with pytest.raises(RequestError, match="another study"):
        onboarding.arrive(c, SETTINGS, project, "prolific", {**PROLIFIC, "STUDY_ID": "d" * 24})


def test_a_preview_gets_no_session(c):
    with pytest.raises(RequestError, match="preview"):
        onboarding.open_session(c, SETTINGS, make(c), Arrival("mturk", "", preview=True))


def test_a_kind_without_a_price_has_no_work(c):
    with pytest.raises(RequestError, match="expert"):
        come(c, make(c), kind="expert")
    assert come(c, make(c, costs={"prices": {"crowd": 0.1, "expert": 1}}), kind="expert")


def test_without_consent_and_quiz_work_begins_at_once(c):
    project = make(c)
    worker = workers.find(c, project.id, come(c, project).worker)
    assert onboarding.step(worker, project.spec) == "label"
    assert worker.state == workers.ACTIVE


def test_consent_comes_before_the_quiz_and_the_quiz_before_work(c):
    project = make(c, consent="Do you agree?", quiz=QUIZ)
    session = come(c, project)

    def step():
        return onboarding.step(workers.find(c, project.id, session.worker), project.spec)

    assert step() == "consent"
    assert not onboarding.take_quiz(c, session, project.spec, ["yes", "no"])
    assert step() == "consent"
    onboarding.agree(c, session, project.spec)
    assert step() == "quiz"
    assert onboarding.take_quiz(c, session, project.spec, ["yes", "no"])
    assert step() == "label"


def test_another_text_needs_another_consent(c):
    project = make(c, consent="Do you agree?")
    session = come(c, project)
    onboarding.agree(c, session, project.spec)
    worker = workers.find(c, project.id, session.worker)
    assert onboarding.step(worker, {**project.spec, "consent": "And now?"}) == "consent"


def test_the_quiz_can_be_tried_only_so_often(c):
    project = make(c, quiz=QUIZ, quiz_tries=2)
    session = come(c, project)
    for _ in range(2):
        assert not onboarding.take_quiz(c, session, project.spec, ["no", "no"])
    with pytest.raises(RequestError, match="cannot be tried again"):
        onboarding.take_quiz(c, session, project.spec, ["yes", "no"])


@pytest.mark.parametrize("answers", [[], ["yes"], ["yes", "no", "no"]])
def test_a_quiz_with_too_few_or_too_many_answers_is_not_passed(c, answers):
    project = make(c, quiz=QUIZ, quiz_pass=0)
    assert not onboarding.take_quiz(c, come(c, project), project.spec, answers)


def test_a_blocked_worker_does_not_come_back(c):
    project = make(c)
    session = come(c, project)
    workers.exclude(c, project.id, session.worker, workers.BLOCKED)
    with pytest.raises(RequestError, match="any more"):
        come(c, project)


def test_an_erased_worker_is_unknown_and_is_not_registered_again(c):
    project = make(c)
    session = come(c, project)
    identities.erase(c, SETTINGS.secret, project.id, session.worker)
    row = workers.find(c, project.id, session.worker)
    assert (row.external, row.consent) == (None, None)
    with pytest.raises(RequestError, match="any more"):
        come(c, project)
    assert come(c, project, "ben").worker != session.worker


def test_a_closed_project_admits_no_new_worker(c):
    project = make(c)
    projects.change(c, project.id, state=projects.CLOSED)
    with pytest.raises(RequestError, match="closed"):
        come(c, projects.find(c, project.id))


@pytest.mark.parametrize("listed", [[], ["H1"]], ids=["any HIT", "one HIT"])
def test_a_hit_of_the_dashboard_is_accepted_beside_those_of_before(c, listed):
    project = make(c, mturk={"hits": listed})
    query = {"assignmentId": "A1", "workerId": "W1", "turkSubmitTo": "https://www.mturk.com"}
    own = {"sandbox": False, "title": "x", "reward": "1", "assignments": 1, "expires": 9e9, "preview_url": ""}
    hits.add(c, project.id, "H2", **own)
    for hit in ("H1", "H2"):
        arrival = onboarding.arrive(c, SETTINGS, project, "mturk", {**query, "hitId": hit})
        assert arrival.external == "W1"
    if listed:
        with pytest.raises(RequestError, match="another HIT"):
            onboarding.arrive(c, SETTINGS, project, "mturk", {**query, "hitId": "H3"})
