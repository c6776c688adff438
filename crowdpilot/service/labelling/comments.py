"""Comments and flags of workers on items that they hold or have answered.

Every function that takes a connection runs inside the transaction of its caller.
"""

from __future__ import annotations

from sqlalchemy import Connection

from crowdpilot.service.errors import ConflictError, ForbiddenError
from crowdpilot.service.labelling import finishing
from crowdpilot.service.labelling.item_numbers import ItemNumbers
from crowdpilot.service.labelling.sessions import Session
from crowdpilot.service.schemas import CommentIn
from crowdpilot.service.store import projects
from crowdpilot.service.store.answers import comments


def write(c: Connection, session: Session, numbers: ItemNumbers, said: CommentIn) -> None:
    """Write a comment or a flag about an item, by the number that the worker saw, in a write transaction.

    It takes the place of what they said before; with neither it is deleted.
    """
    project = projects.find(c, session.project)
    finishing.find_working(c, session)
    if project.state != projects.OPEN:
        raise ConflictError("the project takes no comments now")
    if said.text.strip() and not project.spec["comments"]:
        raise ForbiddenError("the project takes no comments")
    if said.flagged and not project.spec["flags"]:
        raise ForbiddenError("the project takes no flags")
    item = numbers.find(said.item)
    if not comments.may_write(c, item, said.criterion, session.worker):
        raise ForbiddenError("you do not hold this item; comment on those that you see")
    of = session.project, item, said.criterion, session.worker
    comments.write(c, *of, text=said.text.strip(), flagged=said.flagged)
