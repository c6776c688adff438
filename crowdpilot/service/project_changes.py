"""Changes of a project's settings: which are possible when, and what follows from them.

Texts, limits and platforms may change at any time. So may costs, prices and the budget: a vote keeps the
price at which its item was leased, and the budget is never below what is spent. What votes mean (classes,
criteria) and what the plan has drawn from them cannot change once there are any.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import Connection

from crowdpilot.service import item_reviews
from crowdpilot.service.errors import ConflictError, InvalidRequestError
from crowdpilot.service.labelling import onboarding
from crowdpilot.service.labelling.guests import trust
from crowdpilot.service.outgoing.addresses import check_new_webhook
from crowdpilot.service.project_campaign import (
    TRAINED_CLASSIFIERS,
    campaign_settings,
    make_costs,
    make_limits,
)
from crowdpilot.service.schemas import ProjectIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import items, jobs, projects, saved_state, votes, workers
from crowdpilot.service.store.answers.reservations import TOLERANCE, Reservations
from crowdpilot.service.store.arrivals import invitations
from crowdpilot.service.store.engine import Row, Store
from crowdpilot.service.store.requesters import action_log

ACTION = "change settings"  # in the log of actions
GROUPS = "costs", "plan", "guests", "retention", "notify", "prolific", "mturk"  # of which a part may be sent
MAX_LOGGED_CHARACTERS = 200  # of a value
MAX_ATTEMPTS = 5
OUT_OF_DATE = (
    "the settings were changed by somebody else meanwhile; look at them again and repeat your change"
)
DUPLICATE = "duplicate the project and begin with the new settings there"
FIXED_BY_VOTES: Mapping[str, str] = {
    "classes": "the classes cannot change any more, because votes name them",
    "criteria": "the criteria cannot change any more, because votes answer them",
    "machine": "the classifier cannot change any more, because the votes so far were asked for beside it",
    "plan.pilot": "which items are asked about first cannot change any more, because they are drawn",
    "plan.pilot_votes": "which items are asked about first cannot change any more, because they are drawn",
    "plan.fusion": "how votes and classifier are combined cannot change any more, because the votes so far "
    "were asked for by it",
    "plan.seed": "the seed cannot change any more, because the order of the items is drawn from it",
}
FIXED_BY_ITEMS: Mapping[str, str] = {
    "classes": "the classes cannot change now, because items have known classes, probabilities or decisions "
    "of an expert",
    "criteria": "the criteria cannot change now, because items have known classes, probabilities or "
    "decisions of an expert",
}


class Change(NamedTuple):
    """One setting before and after a change."""

    before: Any
    after: Any


def merge(spec: Mapping[str, Any], partial: Mapping[str, Any]) -> dict[str, Any]:
    """A description with parts replaced; of costs, plan and the like single fields may be given.

    Examples
    --------
    >>> merge({"name": "a", "plan": {"gold": 0.1, "seed": 3}}, {"plan": {"gold": 0.2}})
    {'name': 'a', 'plan': {'gold': 0.2, 'seed': 3}}
    """
    merged = {**spec, **partial}
    for group in GROUPS:
        before, new = spec.get(group), partial.get(group)
        if isinstance(before, dict) and isinstance(new, Mapping):
            merged[group] = {**before, **new}
    return merged


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Change]:
    """Which settings differ, by their names such as `question` and `plan.gold`."""
    before, after = _fields(old), _fields(new)
    names = list(dict.fromkeys([*before, *after]))
    pairs = {name: Change(before.get(name), after.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair.before != pair.after}


def _fields(spec: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in spec.items():
        if name in GROUPS and isinstance(value, Mapping):
            fields.update((f"{name}.{part}", inner) for part, inner in value.items())
        elif name not in GROUPS or value is not None:
            fields[name] = value
    for group in ("prolific", "mturk"):
        fields[group] = spec.get(group) is not None
    criteria = spec.get("criteria") or []
    fields["criteria"] = [criterion["name"] for criterion in criteria]
    fields["criteria.questions"] = [criterion["question"] for criterion in criteria]
    return fields


def change_settings(
    store: Store, settings: Settings, project: str, actor: str, partial: Mapping[str, Any], *,
    spec_number: int | None = None,
) -> Row:  # fmt: skip
    """Change settings of a project in one transaction; its row.

    Parameters
    ----------
    store, settings
        Of the service.
    project, actor
        The ids of the project and of who changes it.
    partial
        The settings that change; see `merge`.
    spec_number
        What the sender had seen: a `ConflictError` if somebody has changed the settings since.
    """
    for _ in range(MAX_ATTEMPTS):
        with store.reading() as c:
            seen = projects.find(c, project)
        if spec_number not in (None, seen.spec_number):
            raise ConflictError(OUT_OF_DATE)
        new = _validated(merge(seen.spec, partial))
        if new["webhook"] != seen.spec["webhook"]:
            check_new_webhook(new["webhook"], settings.webhook_networks)
        with store.writing() as c:
            if projects.lock(c, project) == seen.spec_number:
                return _change(c, projects.find(c, project), actor, new)
    raise ConflictError(OUT_OF_DATE)


def _validated(spec: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return ProjectIn.model_validate(spec).model_dump()
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = str(first["msg"]).removeprefix("Value error, ")
        raise InvalidRequestError(f"{where}: {message}" if where else message) from None


def _change(c: Connection, project: Row, actor: str, new: dict[str, Any]) -> Row:
    changes = differences(project.spec, new)
    if not changes:
        return project
    check(c, project, new, changes)
    # The number of lease requests makes every process that is choosing items choose again.
    number = int(projects.next_change(c, project.id, lease_requests=1).change_number)
    values: dict[str, Any] = {"spec": new, "name": new["name"], "spec_number": number}
    prices = make_costs(project.spec).prices
    if prices != make_costs(new).prices and votes.exist(c, project.id):
        earlier = [*(project.earlier_prices or []), {"until": number, "prices": dict(prices)}]
        values["earlier_prices"] = earlier
    if campaign_settings(new) != campaign_settings(project.spec):
        values["done"] = False
        if not votes.exist(c, project.id):
            saved_state.remove_model_update(c, project.id)  # of other classes, or another classifier
        jobs.enqueue(c, project.id, "refit")
    projects.change(c, project.id, **values)
    _follow_up(c, project, new, changes)
    action_log.write(c, actor, ACTION, project.id, changes=shorten_all(changes), number=number)
    return projects.find(c, project.id)


def _follow_up(c: Connection, project: Row, new: dict[str, Any], changes: Mapping[str, Change]) -> None:
    """Workers who wait for a quiz or a consent that is gone may begin; guests are checked as is said now."""
    if not new["quiz"] and {"consent", "quiz"} & changes.keys():
        consent = onboarding.consent_version(new) if new["consent"] else None
        workers.admit_new(c, project.id, consent=consent)
    if {"guests.checks", "quiz"} & changes.keys() and trust.review_all(c, project.id, new):
        item_reviews.fit_anew(c, project.id)


def check(c: Connection, project: Row, new: Mapping[str, Any], changes: Mapping[str, Change]) -> None:
    """Raise a `ConflictError` if one of these changes would not be honest now; it says what to do."""
    if changes.keys() & FIXED_BY_VOTES.keys() and votes.exist(c, project.id):
        name = next(name for name in FIXED_BY_VOTES if name in changes)
        raise ConflictError(f"{FIXED_BY_VOTES[name]}; {DUPLICATE}")
    if changes.keys() & FIXED_BY_ITEMS.keys() and items.knowledge(c, project.id):
        name = next(name for name in FIXED_BY_ITEMS if name in changes)
        raise ConflictError(f"{FIXED_BY_ITEMS[name]}; delete these items first, or {DUPLICATE}")
    if "costs.classifier" in changes and items.exist(c, project.id):
        raise ConflictError(
            "the price of the classifier cannot change now, because that would change what the items so far "
            f"have cost; {DUPLICATE}"
        )
    if "costs.prices" in changes:
        _check_kinds(c, project, new)
    if {"costs.budget", "machine"} & changes.keys():
        _check_budget(c, project, new)


def _check_kinds(c: Connection, project: Row, new: Mapping[str, Any]) -> None:
    known = {*workers.kinds(c, project.id), *invitations.kinds(c, project.id)}
    if missing := sorted(known - make_costs(new).prices.keys()):
        raise ConflictError(f"there are workers or links of the kind {missing[0]!r}; keep a price for it")


def _check_budget(c: Connection, project: Row, new: Mapping[str, Any]) -> None:
    """The budget has to pay for what was voted, for what is leased, and for the classifier."""
    limits = make_limits(project)._replace(classifies_all=new["machine"] in TRAINED_CLASSIFIERS)
    spent = Reservations(c, project.id, limits).spent()
    budget = make_costs(new).budget
    if spent > budget + TOLERANCE:
        raise ConflictError(
            f"the budget cannot be {budget:g}: {spent:.2f} are spent or promised to workers who hold items; "
            "give as much or more, or pause the project"
        )


def shorten_all(changes: Mapping[str, Change]) -> dict[str, list[Any]]:
    """Changes for the log: pairs of before and after, shortened."""
    return {name: [_shorten(pair.before), _shorten(pair.after)] for name, pair in changes.items()}


def _shorten(value: Any) -> Any:
    """A value for the log: a long text is cut, and a long list or object is shortened as JSON."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if len(text) <= MAX_LOGGED_CHARACTERS:
        return value
    return f"{text[:MAX_LOGGED_CHARACTERS]}… ({len(text):,} characters)"
