"""Queries on tasks of Label Studio that are items here: who has annotated them, and which are open there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, insert, select, update

from crowdpilot.service.store.engine import Row
from crowdpilot.service.store.items import chunks
from crowdpilot.service.store.tables import items
from crowdpilot.service.store.tables import label_studio_tasks as tasks


class Seen(NamedTuple):
    """What Label Studio says of a task, by the id of its item."""

    task: int
    item: int
    annotators: list[str]
    annotations: int
    ignored: list[int]
    is_open: bool


def save(c: Connection, project: str, seen: Sequence[Seen]) -> None:
    """Write what was seen of tasks, new or known, in a write transaction."""
    known = {row.task for row in find(c, project, [one.task for one in seen])}
    if new := [one for one in seen if one.task not in known]:
        c.execute(insert(tasks), [{"project": project, **one._asdict()} for one in new])
    if old := [one for one in seen if one.task in known]:
        own = tasks.c.project == project, tasks.c.task == bindparam("_task")
        names = ("item", "annotators", "annotations", "ignored", "is_open")
        changed = update(tasks).where(*own).values({name: bindparam(f"_{name}") for name in names})
        c.execute(changed, [{f"_{name}": value for name, value in one._asdict().items()} for one in old])


def find(c: Connection, project: str, numbers: Sequence[int]) -> list[Row]:
    """The rows of tasks by their numbers, with the names of their items; those that are known."""
    found: list[Row] = []
    for part in chunks(numbers):
        found += c.execute(_select(project).where(tasks.c.task.in_(part)))
    return found


def list_all(c: Connection, project: str) -> Sequence[Row]:
    """All tasks of a project, with the names of their items."""
    return c.execute(_select(project).order_by(tasks.c.task)).all()


def numbers_by_item(c: Connection, project: str, names: Sequence[str]) -> dict[str, int]:
    """Numbers of tasks by the names of their items."""
    found: dict[str, int] = {}
    for part in chunks(names):
        found |= {row.name: row.task for row in c.execute(_select(project).where(items.c.name.in_(part)))}
    return found


def set_open(c: Connection, project: str, counts: Mapping[int, int], *, is_open: bool) -> None:
    """Note that tasks were opened or closed, and how many annotations they have, in a write transaction."""
    own = tasks.c.project == project, tasks.c.task == bindparam("_task")
    changed = update(tasks).where(*own).values(is_open=is_open, annotations=bindparam("_annotations"))
    if counts:
        c.execute(changed, [{"_task": task, "_annotations": n} for task, n in counts.items()])


def close_all(c: Connection, project: str) -> None:
    """Note that all tasks were closed, in a write transaction."""
    c.execute(update(tasks).where(tasks.c.project == project).values(is_open=False))


def set_written(c: Connection, project: str, task: int, written: Any) -> None:
    """Note what stands in the data of a task, in a write transaction."""
    own = tasks.c.project == project, tasks.c.task == task
    c.execute(update(tasks).where(*own).values(written=written))


def forget_annotator(c: Connection, project: str, name: str) -> None:
    """Remove somebody from those who have annotated tasks, in a write transaction."""
    own = tasks.c.project == project
    for row in c.execute(select(tasks.c.task, tasks.c.annotators).where(own)).all():
        if name in row.annotators:
            others = [other for other in row.annotators if other != name]
            c.execute(update(tasks).where(own, tasks.c.task == row.task).values(annotators=others))


def remove(c: Connection, project: str, numbers: Sequence[int]) -> None:
    """Forget tasks, in a write transaction."""
    for part in chunks(numbers):
        c.execute(tasks.delete().where(tasks.c.project == project, tasks.c.task.in_(part)))


def count(c: Connection, project: str) -> tuple[int, int]:
    """The number of tasks, and of those that are open."""
    own = select(func.count()).where(tasks.c.project == project)
    return int(c.execute(own).scalar_one()), int(c.execute(own.where(tasks.c.is_open)).scalar_one())


def _select(project: str) -> Any:
    joined = tasks.join(items, items.c.id == tasks.c.item)
    more = items.c.name, items.c.gold, items.c.state
    return select(*tasks.c, *more).select_from(joined).where(tasks.c.project == project)
