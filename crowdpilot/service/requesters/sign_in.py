"""Members who are signed in by OpenID Connect: who may, under which name, and who is an operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from crowdpilot.service.errors import ConflictError, ForbiddenError
from crowdpilot.service.requesters.members import RESERVED_NAMES
from crowdpilot.service.settings import IdentityProvider
from crowdpilot.service.signing import digest
from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.requesters import action_log, members

MAX_NAME_CHARACTERS = 100
NOT_ALLOWED = "you are not among those who may sign in here; ask an operator of the service"


def sign_in_member(c: Connection, provider: IdentityProvider, claims: Mapping[str, Any]) -> Row:
    """The member of checked claims, added at the first sign-in, in a write transaction.

    Somebody is known by issuer and subject, never by a name that another could take. Whom an operator has
    added under an e-mail address that the provider has verified is taken for its owner, unless they are an
    operator or have signed in.

    Raises
    ------
    ForbiddenError
        They may not sign in, or were removed.
    """
    subject = f"{provider.issuer} {claims['sub']}"
    row = members.find_by_subject(c, subject)
    if (row is not None and row.removed is not None) or not matches(provider.allow, claims):
        raise ForbiddenError(NOT_ALLOWED)
    row = row or _adopt(c, subject, claims) or _add(c, subject, claims)
    if provider.operators and matches(provider.operators, claims) != row.operator:
        members.set_operator(c, row.id, not row.operator)
        action = "no more operator" if row.operator else "make operator"
        action_log.write(c, row.id, action, category=action_log.ACCESS, member=row.name, by="provider")
    return members.find(c, row.id)


def _adopt(c: Connection, subject: str, claims: Mapping[str, Any]) -> Row | None:
    """The member whom an operator has added under the e-mail address of these claims."""
    email = verified_email(claims)
    row = members.find_by_name(c, email) if email else None
    if row is None or row.subject is not None or row.operator:
        return None
    members.set_subject(c, row.id, subject)
    return row


def _add(c: Connection, subject: str, claims: Mapping[str, Any]) -> Row:
    wanted = _name(subject, claims)
    names = [wanted, *(f"{wanted} ({n})" for n in range(2, 10)), f"{wanted} {digest(subject)[:12]}"]
    free = (name for name in names if name not in RESERVED_NAMES and not members.is_taken(c, name))
    try:
        with c.begin_nested():
            row = members.create(c, next(free), subject=subject)
    except IntegrityError:  # in another process at the same moment
        raise ConflictError("you are signing in twice; try again") from None
    action_log.write(c, row.id, "add member", category=action_log.ACCESS, member=row.name, by="provider")
    return row


def _name(subject: str, claims: Mapping[str, Any]) -> str:
    """The verified e-mail address, else the user name, unless it looks like one, else one that is made up."""
    chosen = claims.get("preferred_username")
    if email := verified_email(claims):
        chosen = email
    elif not isinstance(chosen, str) or "@" in chosen or not chosen.isprintable() or not chosen.strip():
        chosen = f"user {digest(subject)[:8]}"
    return chosen.strip()[:MAX_NAME_CHARACTERS]


def verified_email(claims: Mapping[str, Any]) -> str:
    """The e-mail address in claims, if the provider says that it is verified, in lower case; else nothing.

    Examples
    --------
    >>> verified_email({"email": "Ann@Example.org", "email_verified": True})
    'ann@example.org'
    >>> verified_email({"email": "ann@example.org"})
    ''
    """
    email = claims.get("email")
    if claims.get("email_verified") not in (True, "true") or not isinstance(email, str):
        return ""
    return email.lower() if email.count("@") == 1 and email.isprintable() and " " not in email else ""


def matches(rules: Sequence[str], claims: Mapping[str, Any]) -> bool:
    """Whether any rule holds for somebody, see `IdentityProvider`.

    Examples
    --------
    >>> matches(["groups=labelling"], {"groups": ["labelling", "sales"]})
    True
    >>> matches(["@example.org"], {"email": "ann@example.org", "email_verified": False})
    False
    """
    return any(_holds(rule, claims) for rule in rules)


def _holds(rule: str, claims: Mapping[str, Any]) -> bool:
    if rule == "*":
        return True
    claim, equals, value = rule.partition("=")
    if equals:
        held = claims.get(claim)
        return value in held if isinstance(held, list) else held == value
    email = verified_email(claims)
    return email.endswith(rule.lower()) if rule.startswith("@") else email == rule.lower()
