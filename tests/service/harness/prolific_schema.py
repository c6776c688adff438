"""What requests to the API of Prolific (v1) may have, written down from its documentation.

Sources: https://docs.prolific.com/api-reference/studies/create-study, /studies/update-study,
/studies/the-study-object, /submissions/transition-submission, /submissions/bulk-approve-submissions,
/submissions/get-submissions, /bonuses/create-bonus-payments, and the types of Prolific's own command line,
https://github.com/prolific-oss/cli (model/study.go, client/payloads.go).
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Id = Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
Device = Literal["desktop", "tablet", "mobile"]
Peripheral = Literal["audio", "camera", "download", "microphone"]
CodeType = Literal[
    "COMPLETED", "FAILED_ATTENTION_CHECK", "FOLLOW_UP_STUDY", "GIVE_BONUS", "INCOMPATIBLE_DEVICE",
    "NO_CONSENT", "OTHER", "FIXED_SCREENOUT",
]  # fmt: skip
Category = Literal[
    "TOO_QUICKLY", "TOO_SLOWLY", "FAILED_INSTRUCTIONS", "INCOMP_LONGITUDINAL", "FAILED_CHECK", "LOW_EFFORT",
    "MALINGERING", "NO_CODE", "BAD_CODE", "NO_DATA", "UNSUPP_DEVICE", "OTHER",
]  # fmt: skip
STUDY_STATUSES = (
    "UNPUBLISHED", "SCHEDULED", "PUBLISHING", "ACTIVE", "PAUSED", "AWAITING REVIEW", "COMPLETED",
)  # fmt: skip
SUBMISSION_STATUSES = (
    "RESERVED", "ACTIVE", "TIMED-OUT", "AWAITING REVIEW", "APPROVED", "RETURNED", "REJECTED", "SCREENED OUT",
    "PARTIALLY APPROVED",
)  # fmt: skip
MOVES = {  # of studies: from which states, and to which
    "PUBLISH": (("UNPUBLISHED",), "ACTIVE"),
    "PAUSE": (("ACTIVE",), "PAUSED"),
    "START": (("PAUSED",), "ACTIVE"),
    "STOP": (("ACTIVE", "PAUSED"), "AWAITING REVIEW"),
}


class Body(BaseModel):
    """A request that has these fields and no other."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Approve(Body):
    action: Literal["AUTOMATICALLY_APPROVE"]


class Review(Body):
    action: Literal["MANUALLY_REVIEW"]


class RequestReturn(Body):
    action: Literal["REQUEST_RETURN"]
    return_reason: Annotated[str, Field(min_length=1)]


class Group(Body):
    action: Literal["ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP"]
    participant_group: Id


class Code(Body):
    code: Annotated[str, Field(min_length=1)]
    code_type: CodeType
    actions: Annotated[list[Approve | Review | RequestReturn | Group], Field(min_length=1)]
    actor: Literal["participant", "researcher"] = "participant"

    @model_validator(mode="after")
    def check_actions(self) -> Self:
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= {one.action for one in self.actions}:
            raise ValueError("a code cannot approve and wait for a review")
        return self


class CreateStudy(Body):
    """https://docs.prolific.com/api-reference/studies/create-study."""

    name: Annotated[str, Field(min_length=1, max_length=255)]
    internal_name: str = ""
    description: Annotated[str, Field(min_length=1)]
    external_study_url: Annotated[str, Field(pattern=r"^https?://")]
    is_external_study_url_secure: bool = False
    prolific_id_option: Literal["question", "url_parameters", "not_required"]
    completion_codes: Annotated[list[Code], Field(min_length=1)]
    total_available_places: Annotated[int, Field(ge=1)]
    estimated_completion_time: Annotated[int, Field(ge=1)]
    maximum_allowed_time: Annotated[int, Field(ge=1)] | None = None
    reward: Annotated[int, Field(ge=1)]
    device_compatibility: list[Device] = []
    peripheral_requirements: list[Peripheral] = []
    filters: list[dict[str, Any]] = []
    project: Id | None = None

    @model_validator(mode="after")
    def check(self) -> Self:
        codes = [one.code for one in self.completion_codes]
        if len(set(codes)) < len(codes):
            raise ValueError("each code must be unique within a study")
        if self.maximum_allowed_time is not None and (
            self.maximum_allowed_time < self.estimated_completion_time
        ):
            raise ValueError("maximum_allowed_time is below estimated_completion_time")
        unknown = set(re.findall(r"{{%(.*?)%}}", self.external_study_url)) - {
            "PROLIFIC_PID", "STUDY_ID", "SESSION_ID",
        }  # fmt: skip
        if unknown:
            raise ValueError(f"external_study_url has unknown placeholders {unknown}")
        return self


class UpdateStudy(Body):
    """Of a published study, only these two can change."""

    internal_name: str | None = None
    total_available_places: Annotated[int, Field(ge=1)] | None = None


class MoveStudy(Body):
    action: Literal["PUBLISH", "PAUSE", "START", "STOP"]


class Cost(Body):
    reward: Annotated[int, Field(ge=1)]
    total_available_places: Annotated[int, Field(ge=1)]


class MoveSubmission(Body):
    action: Literal["APPROVE", "REJECT"]
    message: Annotated[str, Field(min_length=100)] | None = None
    rejection_category: Category | None = None

    @model_validator(mode="after")
    def check(self) -> Self:
        if self.action == "REJECT" and (self.message is None or self.rejection_category is None):
            raise ValueError("a rejection needs a message and a category")
        return self


class ApproveMany(Body):
    submission_ids: Annotated[list[Id], Field(min_length=1)]


class SetUpBonus(Body):
    study_id: Id
    csv_bonuses: Annotated[str, Field(pattern=r"^([0-9a-f]{24},[0-9]+(\.[0-9]{1,2})?\n?)+$")]
