"""Schemas of requests: pydantic models that refuse whatever they do not describe."""

from crowdpilot.service.schemas.errors import ErrorOut
from crowdpilot.service.schemas.fields import Kind, Money, Name, Plain, Strict
from crowdpilot.service.schemas.items import AskAgainIn, GoldIn, ItemIn, ItemNamesIn, ItemsIn, OverrideIn
from crowdpilot.service.schemas.labelling import CommentIn, ExternalVoteIn, ExternalVotesIn, SessionIn, VoteIn
from crowdpilot.service.schemas.project import LANGUAGES, GuestsIn, ProjectIn

__all__ = [
    "LANGUAGES",
    "AskAgainIn",
    "CommentIn",
    "ErrorOut",
    "ExternalVoteIn",
    "ExternalVotesIn",
    "GoldIn",
    "GuestsIn",
    "ItemIn",
    "ItemNamesIn",
    "ItemsIn",
    "Kind",
    "Money",
    "Name",
    "OverrideIn",
    "Plain",
    "ProjectIn",
    "SessionIn",
    "Strict",
    "VoteIn",
]
