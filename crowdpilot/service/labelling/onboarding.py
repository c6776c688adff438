"""Onboarding: how a worker comes in (arrival from a platform, session), consent and quiz.

Every function that takes a connection runs inside the transaction of its caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection

from crowdpilot.service.errors import ConflictError, ForbiddenError, NotFoundError
from crowdpilot.service.labelling.guests import limits, trust
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.labelling.workers import identities
from crowdpilot.service.platforms import Arrival, invitation_links, mturk_external_question, prolific
from crowdpilot.service.platforms.prolific.public_keys import PublicKeys
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import projects, workers
from crowdpilot.service.store.arrivals import assignments, hits, invitations, prolific_studies
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.requesters import action_log


def keys_of_link(
    public_keys: PublicKeys, spec: Mapping[str, Any], platform: str, query: Mapping[str, str]
) -> Mapping[str, Any] | None:
    """The keys that Prolific signs the links of a project with, if it wants those of Prolific itself.

    They may be fetched for it, so that no transaction may be open. `NotReadyError` if there are none.
    """
    study = spec.get(platform) if platform == "prolific" else None
    token = query.get(prolific.TOKEN_PARAMETER, "")
    if study is None or study["keys"] or not study.get("signed") or not token:
        return None
    return public_keys.keys_for(token)


def arrive(
    c: Connection, settings: Settings, project: Row, platform: str, query: Mapping[str, str], *,
    keys: Mapping[str, Any] | None = None,
) -> Arrival:  # fmt: skip
    """The platform, name and kind of a worker who opens this address; `ForbiddenError` if it is not valid.

    `keys` are those of `keys_of_link`.
    """
    try:
        if platform == "link":
            id = invitation_links.read_invitation(settings.secret, project.id, query.get("invite", ""))
            invitation = invitations.find(c, project.id, id)
            return invitation_links.arrive(id, invitation.kind, invitation.worker)
        study = project.spec.get(platform)
        if platform == "prolific" and study is not None:
            named = [study["study"]] if study["study"] else []
            own = (
                [row.study for row in prolific_studies.list_all(c, project.id)] if named else []
            )  # none: any
            return prolific.arrive(
                query, studies=[*named, *own], audience=settings.address,
                keys=study["keys"] or keys or ({} if study.get("signed") else None),
            )  # fmt: skip
        if platform == "mturk" and study is not None:
            made = [row.id for row in hits.list_all(c, project.id)] if study["hits"] else []  # none: any HIT
            return mturk_external_question.arrive(query, hits=[*study["hits"], *made])
    except NotFoundError:
        raise ForbiddenError(invitation_links.NOT_VALID) from None
    raise NotFoundError("this project is not offered there; check the address")


def open_session(c: Connection, settings: Settings, project: Row, arrival: Arrival) -> Session:
    """The session of a worker who has arrived; a new worker is written to the database."""
    if arrival.preview:
        raise ForbiddenError("this is a preview; accept the work first")
    known = workers.is_registered(c, project.id, arrival.platform, arrival.external)
    if project.state == projects.CLOSED and not known:
        raise ConflictError("the project is closed; thank you for your interest")
    if not has_work_for(project.spec, arrival.kind):
        raise ForbiddenError("this project has no work for the kind of worker '%(kind)s'", kind=arrival.kind)
    if not known and identities.was_erased(
        c, settings.secret, project.id, arrival.platform, arrival.external
    ):
        raise ForbiddenError("you cannot work on this project any more")
    if arrival.invitation:
        invitations.admit(c, project.id, arrival.invitation, is_new=not known)
    if arrival.guest and not known:
        limits.check(c, settings.secret, project)
    state = workers.NEW if step_for(project.spec, None, 0) != "label" else workers.ACTIVE
    worker = workers.register(
        c, project.id, arrival.platform, arrival.external,
        kind=arrival.kind, state=state, guest=arrival.guest,
        trusted=not arrival.guest or trust.at_arrival(c, project), invitation=arrival.invitation or None,
    )  # fmt: skip
    if not known:
        who = identities.log_names(settings.secret, arrival.platform, arrival.external)[0]
        about = {"platform": arrival.platform, "kind": arrival.kind}
        action_log.write(c, who, "arrive", project.id, category=action_log.ARRIVAL, **about)
    assignment = assignments.find_or_create(c, project.id, worker.id, arrival.assignment)
    return Session(project.id, worker.id, arrival.platform, assignment.id, worker.nonce)


def has_work_for(spec: Mapping[str, Any], kind: str) -> bool:
    """Whether a project has a price for this kind of worker."""
    return kind in (spec["costs"]["prices"] or {"crowd": 0})


def consent_version(spec: Mapping[str, Any]) -> str:
    """A hash of the consent text, which tells one version from another."""
    return sha256(spec["consent"].encode()).hexdigest()[:12]


def step_for(spec: Mapping[str, Any], consented: str | None, passed: int) -> str:
    """The next step: consent, quiz or label."""
    if spec["consent"] and consented != consent_version(spec):
        return "consent"
    return "label" if passed or not spec["quiz"] else "quiz"


def step(worker: Row, spec: Mapping[str, Any]) -> str:
    """The next step of a worker: consent, quiz or label."""
    return step_for(spec, worker.consent, worker.state == workers.ACTIVE)


def agree(c: Connection, session: Session, spec: Mapping[str, Any]) -> None:
    """Record that a worker agrees to the present consent text."""
    worker = workers.find(c, session.project, session.worker)
    version = consent_version(spec)
    state = workers.ACTIVE if worker.state == workers.NEW and not spec["quiz"] else worker.state
    if (worker.consent, worker.state) != (version, state):
        workers.change(c, session.project, session.worker, consent=version, state=state)


def take_quiz(c: Connection, session: Session, spec: Mapping[str, Any], labels: Sequence[str]) -> bool:
    """Record an attempt at the quiz; whether it is passed. `ForbiddenError` after too many attempts."""
    projects.next_change(c, session.project)  # two attempts at once are serialized, and both count
    worker = workers.find(c, session.project, session.worker)
    if step(worker, spec) != "quiz":
        return bool(worker.state == workers.ACTIVE)
    if worker.tries >= spec["quiz_tries"]:
        raise ForbiddenError("the quiz cannot be tried again; thank you for your interest")
    passed = quiz_score(spec, labels) >= quiz_pass_mark(spec) and len(labels) == len(spec["quiz"])
    state = workers.ACTIVE if passed else worker.state
    trusted = worker.trusted or (passed and trust.after_quiz(c, session.project, spec))
    workers.change(c, session.project, session.worker, tries=worker.tries + 1, state=state, trusted=trusted)
    if not passed and worker.tries + 1 >= spec["quiz_tries"]:
        assignments.set_outcome(c, session.assignment, assignments.FAILED)
    return passed


def quiz_score(spec: Mapping[str, Any], labels: Sequence[str]) -> int:
    """How many answers of a quiz are right."""
    return sum(label == question["label"] for label, question in zip(labels, spec["quiz"], strict=False))


def quiz_pass_mark(spec: Mapping[str, Any]) -> int:
    """How many answers of the quiz have to be right; all, unless the project says otherwise."""
    return len(spec["quiz"]) if spec["quiz_pass"] is None else int(spec["quiz_pass"])
