"""Submissions on Prolific: listed, approved, rejected, and paid a bonus.

https://docs.prolific.com/api-reference/submissions and /bonuses. Approving and rejecting may be repeated;
paying a bonus may not: each time that Prolific is asked to pay, it pays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from crowdpilot.service.platforms.prolific.client import Client, read_id, read_number

AWAITING_REVIEW, APPROVED, REJECTED = "AWAITING REVIEW", "APPROVED", "REJECTED"
MIN_MESSAGE_CHARACTERS = 100  # of a rejection
CATEGORIES: Mapping[str, str] = {  # of rejections, with words for people
    "TOO_QUICKLY": "Exceptionally fast", "TOO_SLOWLY": "Took too long",
    "FAILED_INSTRUCTIONS": "Did not follow the instructions", "FAILED_CHECK": "Failed attention checks",
    "LOW_EFFORT": "Low effort", "NO_CODE": "No completion code", "BAD_CODE": "Wrong completion code",
    "NO_DATA": "No answers", "UNSUPP_DEVICE": "Device that is not supported",
    "INCOMP_LONGITUDINAL": "Part of a longer study is missing", "MALINGERING": "Malingering",
    "OTHER": "Another reason",
}  # fmt: skip


class Submission(NamedTuple):
    """A submission: who, its status, the code that was typed, when it began and ended (None: not yet)."""

    id: str
    participant: str
    status: str
    code: str = ""
    started: float | None = None
    completed: float | None = None


class Bonus(NamedTuple):
    """A bonus that is set up and not paid yet; what the participant and Prolific get, in hundredths."""

    id: str
    amount: int
    fees: int
    total: int


def list_all(client: Client, study: str) -> list[Submission]:
    """All submissions of a study."""
    return [_submission(found) for found in client.pages("submissions/", "list submissions", study=study)]


def approve(client: Client, ids: Sequence[str]) -> None:
    """Approve submissions: their participants are paid the reward. Of several it may take a moment."""
    if len(ids) == 1:
        client.post(f"submissions/{ids[0]}/transition/", "approve the submission", {"action": "APPROVE"})
    else:
        client.post("submissions/bulk-approve/", "approve submissions", {"submission_ids": list(ids)})


def reject(client: Client, id: str, category: str, message: str) -> None:
    """Reject a submission: its participant is not paid, and reads the message."""
    body = {"action": "REJECT", "rejection_category": category, "message": message}
    client.post(f"submissions/{id}/transition/", "reject the submission", body)


def set_up_bonus(client: Client, study: str, submission: str, amount: str) -> Bonus:
    """Prepare a bonus, of an amount in units of the currency; nothing is paid yet."""
    body = {"study_id": study, "csv_bonuses": f"{submission},{amount}"}
    found = client.post("submissions/bonus-payments/", "set up the bonus", body)
    return Bonus(read_id(found), *(read_number(found, name) for name in ("amount", "fees", "total_amount")))


def pay_bonus(client: Client, id: str) -> None:
    """Pay a bonus that is set up; never call this twice."""
    client.post(f"bulk-bonus-payments/{id}/pay/", "pay the bonus")


def _submission(found: Mapping[str, Any]) -> Submission:
    participant = found.get("participant_id") or found.get("participant") or ""
    code = found.get("study_code") or found.get("entered_code") or ""
    moments = (_moment(found.get(name)) for name in ("started_at", "completed_at"))
    return Submission(
        read_id(found), str(participant), str(found.get("status", "")), str(code).strip(), *moments
    )


def _moment(text: Any) -> float | None:
    """A time of ISO 8601 in seconds; None if it is none."""
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except (AttributeError, ValueError):
        return None
