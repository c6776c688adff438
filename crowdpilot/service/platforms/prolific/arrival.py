"""Prolific: workers come with three ids in the address, signed if the study says so, and leave with a code.

Names of parameters and placeholders: https://docs.prolific.com/api-reference/studies/the-study-object;
signed links: https://docs.prolific.com/api-reference/well-known-endpoints/get-study-jwks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from crowdpilot.service.errors import InvalidLinkError
from crowdpilot.service.platforms.platform import Arrival, Platform, parameter
from crowdpilot.service.platforms.signed_tokens import read_claims

PLATFORM = Platform("Prolific")
COMPLETION_URL = "https://app.prolific.com/submissions/complete?cc="
TOKEN_PARAMETER = "prolific_token"
ID_PATTERNS = {  # a session that a requester previews is shorter than a real one
    "PROLIFIC_PID": re.compile(r"[0-9a-f]{24}", re.ASCII),
    "STUDY_ID": re.compile(r"[0-9a-f]{24}", re.ASCII),
    "SESSION_ID": re.compile(r"[0-9A-Za-z]{1,64}", re.ASCII),
}


def arrive(
    query: Mapping[str, str],
    *,
    studies: Collection[str] = (),
    keys: Mapping[str, Any] | None = None,
    audience: str = "",
) -> Arrival:
    """The arrival of a worker from Prolific; a `ValueError` if Prolific cannot have made the address.

    Parameters
    ----------
    query
        The parameters of the address.
    studies
        The only studies that are accepted, if any are given.
    keys
        The public keys of Prolific (a JWKS). With them only signed links are accepted.
    audience
        Address of this service; a signed link has to be meant for its host.
    """
    if keys is not None:
        query = _signed_ids(query, keys, audience)
    ids = {name: parameter(query, name, "Prolific") for name in ID_PATTERNS}
    for name, pattern in ID_PATTERNS.items():
        if not pattern.fullmatch(ids[name]):
            raise InvalidLinkError(
                "the %(name)s in the address is not an id of Prolific; open the link there again", name=name
            )
    if studies and ids["STUDY_ID"] not in studies:
        raise InvalidLinkError("the link belongs to another study; open the study on Prolific again")
    return Arrival("prolific", ids["PROLIFIC_PID"], ids["SESSION_ID"])


def study_url(address: str) -> str:
    """The link to publish as external study URL, with the placeholders that Prolific fills in.

    Examples
    --------
    >>> study_url("https://label.example/w/birds/prolific")[-42:]
    '{{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}'
    """
    mark = "&" if urlsplit(address).query else "?"
    return address + mark + "&".join(f"{name}={{{{%{name}%}}}}" for name in ID_PATTERNS)


def completion_url(code: str) -> str:
    """Where a worker goes at the end, so that Prolific knows that they have finished.

    Examples
    --------
    >>> completion_url("C1A2B3")
    'https://app.prolific.com/submissions/complete?cc=C1A2B3'
    """
    if not code:
        raise ValueError("Prolific wants a completion code; give the one of the study")
    return COMPLETION_URL + quote(code, safe="")


def _signed_ids(query: Mapping[str, str], keys: Mapping[str, Any], audience: str) -> dict[str, str]:
    """The ids that are signed; those in the address, where there are any, have to be the same."""
    claims = read_claims(parameter(query, TOKEN_PARAMETER, "Prolific"), keys)
    signed = claims.get("prolific")
    if not audience or _host(audience) not in _hosts(claims.get("aud")):
        raise InvalidLinkError(
            "the signed link is meant for another address; mend the study's URL on Prolific"
        )
    ids = {name: str(signed.get(name, "")) for name in ID_PATTERNS} if isinstance(signed, dict) else {}
    if any(query.get(name, value) != value for name, value in ids.items()):
        raise InvalidLinkError("the address is not the one that was signed; open the study on Prolific again")
    return ids


def _hosts(aud: Any) -> set[str]:
    return {_host(one) for one in (aud if isinstance(aud, list) else [aud]) if isinstance(one, str) and one}


def _host(address: str) -> str:
    """The host of an address, or of a bare domain."""
    return urlsplit(address if "//" in address else f"//{address}").hostname or ""
