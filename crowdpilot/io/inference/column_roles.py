"""Which column is the task, the worker and the label: by name, by content where names leave a doubt.

Where two columns are plausible, reading is refused and both are named: a wrong column gives wrong labels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from crowdpilot.io.inference.column_content import ColumnContent, Content
from crowdpilot.io.inference.column_names import (
    ALIASES,
    AMBIGUOUS_TASKS,
    REMARK_KEYS,
    WEAK_ALIASES,
    candidates,
    check_choice,
    find_columns,
    is_own_name,
    listed,
    name_key,
)

REQUIRED_ROLES = ("task", "worker", "label")
INDEX_KEYS = frozenset(("unnamed0", "indexlevel0", "rownames"))  # how programs call the number of a row
MIN_ROWS = 5  # from which on a value of its own in each row says something
MAX_REPEATED_SHARE = 0.1  # of votes of a worker on a task that has one already


@dataclass(frozen=True)
class Roles:
    """The column of each role, and sentences about what was assumed."""

    columns: dict[str, str]
    notes: list[str] = field(default_factory=list)


def is_index_name(name: str) -> bool:
    """Whether a column is called as programs call the number of a row."""
    return not name.strip() or name_key(name) in INDEX_KEYS


def resolve(
    names: Sequence[str],
    chosen: Mapping[str, str | None],
    preset: Mapping[str, str] | None = None,
    content: Content | None = None,
    required: Sequence[str] = REQUIRED_ROLES,
) -> Roles:
    """The column of each role: as the user says, else as the format says, else by its name and content.

    Parameters
    ----------
    names
        All columns.
    chosen
        What the user says; None instead of a name leaves a role without a column.
    preset
        What the format says, which then is all.
    content
        Columns of the table, read where names are not enough; without it, names alone decide.
    required
        Roles that must have a column.
    """
    check_choice(names, chosen)
    if preset is not None:
        return Roles(_filled({**preset, **chosen}))
    free = [name for name in names if name not in chosen.values()]
    by_name = {role: name for role, name in find_columns(free).items() if role not in chosen}
    roles = {**by_name, **chosen}
    doubtful = [role for role in REQUIRED_ROLES if role not in chosen and len(candidates(free, role)) > 1]
    lost = [role for role in required if role not in roles]
    if content is None or not (doubtful or lost):
        return Roles(_filled(roles))
    return _Inference(names, _filled(roles), content, free).result(doubtful, lost)


def _filled(roles: Mapping[str, str | None]) -> dict[str, str]:
    return {role: name for role, name in roles.items() if name is not None}


@dataclass(eq=False)
class _Inference(ColumnContent):
    """One table whose names leave a doubt; `roles` is filled step by step."""

    free: Sequence[str] = ()
    notes: list[str] = field(default_factory=list)

    def result(self, doubtful: Sequence[str], lost: Sequence[str]) -> Roles:
        """Settle each doubt, then find what has no known name."""
        for role in doubtful:
            self.roles[role] = self._settle(role, candidates(self.free, role))
        for role in lost:
            if found := self._by_weak_name(role, alone=len(lost) == 1):
                self.roles[role] = found
        left = [role for role in lost if role not in self.roles]
        if len(left) == 2:
            left = self._eliminate_one_of_two(left)
        if len(left) == 1:
            self._eliminate(left[0])
            self._take_constant(left[0])
        return Roles(self.roles, self.notes)

    # Several names fit ----------------------------------------------------------------------

    def _settle(self, role: str, fitting: list[str]) -> str:
        """The one of several columns that are all called like the role."""
        plausible = [name for name in fitting if not self._is_constant(name)] or fitting
        if role == "label" and (varying := [name for name in plausible if self._varies_within_tasks(name)]):
            if plausible[0] not in varying and is_own_name(plausible[0], role):
                self.notes.append(
                    f"{plausible[0]!r} is the same for all votes of a task, so {varying[0]!r} is read as the "
                    f"label; if that is wrong, use --columns label={plausible[0]}"
                )
            plausible = varying
        best = plausible[0]
        own = [name for name in plausible if is_own_name(name, role)]
        rivals = own if own else plausible
        others = [name for name in rivals if name != best and not self._say_the_same(best, name)]
        if role == "label" and own and (unread := [name for name in plausible if name not in own]):
            self.notes.append(
                f"{best!r} is read as the label, though {listed(unread)} may be it too; "
                f"if so, use --columns label={unread[0]}"
            )
        if role == "task" and not others and self._repeats(best) > MAX_REPEATED_SHARE:
            others = [
                name for name in plausible if name != best and self._repeats(name) < self._repeats(best)
            ]
        if others:
            raise _ambiguous(role, [best, *others])
        return best

    # No name fits ---------------------------------------------------------------------------

    def _by_weak_name(self, role: str, *, alone: bool) -> str | None:
        """The only plausible column with a name that is usual for a role, though not only for it."""
        rest = self._unused()
        fitting = [name for name in _weak(rest, role) if self._is_plausible(name, role)]
        if role == "task" and fitting:
            return self._task_among(fitting, [name for name in rest if self._is_plausible(name, role)])
        if len(fitting) > 1 and not alone:
            raise _ambiguous(role, fitting)
        if role == "label" and fitting:
            others = [name for name in rest if name not in fitting and self._is_plausible(name, role)]
            others = self._without_remarks([name for name in others if not _is_known_otherwise(name)])
            if others := self._without_worker(others, fitting[0]):
                raise _ambiguous(role, [*fitting, *others])
        return fitting[0] if len(fitting) == 1 else None

    def _task_among(self, fitting: list[str], plausible: list[str]) -> str:
        """Of several, one that repeats: a number of each row is no task, if another column could be one."""
        repeating = [name for name in fitting if not self._is_unique(name)]
        best = (repeating or fitting)[0]
        rivals = [name for name in repeating if not self._is_nearly_unique(name)]
        if rivals and best not in rivals:  # the number of a row that was doubled, or a task with few votes
            raise _ambiguous("task", [best, *rivals])
        others = [name for name in repeating if name != best and not self._say_the_same(best, name)]
        if others and not all(self._follows(name, best) for name in others):
            raise _ambiguous("task", [best, *others])
        unknown = [name for name in plausible if name not in fitting and not self._is_unique(name)]
        if not repeating and len(unknown) == 1 and self._repeats(unknown[0]) <= MAX_REPEATED_SHARE:
            raise _ambiguous("task", [best, *unknown])
        return best

    def _eliminate(self, role: str) -> None:
        """The only column that is left and plausible takes the role, unless it is called like another one."""
        if role == "worker" and name_key(self.roles.get("task", "")) in AMBIGUOUS_TASKS:
            return  # a subject may be a person, and then the column that is left is the task
        rest = self._unused()
        foreign = {name for other in WEAK_ALIASES if other != role for name in _weak(rest, other)}
        plausible = [name for name in rest if name not in foreign and self._is_plausible(name, role)]
        if role == "task":
            plausible = [name for name in plausible if not self._is_unique(name)] or plausible
        if role == "label":
            plausible = self._label_among(plausible)
        first = plausible[:1]
        others = [name for name in plausible[1:] if not self._are_equal(plausible[0], name, role)]
        if role == "task" and others:
            others = [name for name in others if not self._follows(name, plausible[0])]
        if others:
            raise _ambiguous(role, [*first, *others])
        if first:
            self.roles[role] = first[0]

    def _label_among(self, plausible: list[str]) -> list[str]:
        """Without remarks and facts about workers, if anything is left; which facts is said."""
        left = self._without_remarks(plausible) or plausible
        facts = [name for name in plausible if name not in left and name_key(name) not in REMARK_KEYS]
        if len(left) == 1 and facts:
            self.notes.append(
                f"{left[0]!r} is read as the label, since {listed(facts)} never differ between votes of a "
                f"worker; if that is wrong, use --columns label={facts[0]}"
            )
        return left

    def _eliminate_one_of_two(self, left: list[str]) -> list[str]:
        """Give the task or the worker the only column that names each vote once; what then is left."""
        role = next((other for other in left if other != "label"), "")
        if "label" not in left or name_key(self.roles.get("task", "")) in AMBIGUOUS_TASKS:
            return left
        rest = self._unused()
        foreign = {name for other in WEAK_ALIASES if other != role for name in _weak(rest, other)}
        plausible = [name for name in rest if self._is_plausible(name, role) and not self._is_unique(name)]
        if len(plausible) != 1 or plausible[0] in foreign or name_key(plausible[0]) in REMARK_KEYS:
            return left
        self.roles[role] = plausible[0]
        if not any(self._is_plausible(name, "label") for name in self._unused()):
            del self.roles[role]
            return left
        self.notes.append(
            f"{plausible[0]!r} is read as the {role}, since no other column has one value for each vote of a "
            f"{'worker' if role == 'task' else 'task'}; if that is wrong, use --columns {role}=NAME"
        )
        return ["label"]

    def _take_constant(self, role: str) -> None:
        """A column with a usual name of the role and one value in all rows, if nothing else has the role."""
        constant = [name for name in _weak(self._unused(), role) if self._count(name) == 1]
        if role not in self.roles and role != "worker" and len(constant) == 1:
            self.roles[role] = constant[0]
            self.notes.append(
                f"{constant[0]!r} is read as the {role}, though it has one value in all rows; if that is "
                f"wrong, use --columns {role}=NAME"
            )

    def _without_worker(self, names: Sequence[str], label: str) -> list[str]:
        """Without the only column that may be the worker, if none is known and it has more values."""
        if "worker" in self.roles or "task" not in self.roles:
            return list(names)
        workers = [name for name in names if self._is_plausible(name, "worker")]
        is_clear = len(workers) == 1 and self._count(workers[0]) > self._count(label)
        return [name for name in names if not (is_clear and name in workers)]

    def _without_remarks(self, names: Sequence[str]) -> list[str]:
        """Without what is said beside a label, and facts about workers, such as their age."""
        return [
            name
            for name in names
            if name_key(name) not in REMARK_KEYS and not self._is_fact_about_worker(name)
        ]

    def _unused(self) -> list[str]:
        """Columns without a role, but for those that only number the rows."""
        used = {*self.roles.values(), *(name for role in ALIASES for name in candidates(self.free, role))}
        return [
            name
            for n, name in enumerate(self.free)
            if name not in used and not (is_index_name(name) and n == 0 and self._is_unique(name))
        ]

    def _is_plausible(self, name: str, role: str) -> bool:
        if self._is_constant(name):
            return False
        if role == "task":
            return self._repeats(name) <= MAX_REPEATED_SHARE
        if self._is_mostly_different(name) or (self._is_unique(name) and len(self._table) >= MIN_ROWS):
            return False
        if role == "worker":
            return not self._is_fixed_by_task(name) and self._repeats(name) <= MAX_REPEATED_SHARE
        return not self._is_fixed_by_task(name)


def _is_known_otherwise(name: str) -> bool:
    """Whether a column is called like another role than the label."""
    return any(_weak([name], role) for role in WEAK_ALIASES if role != "label")


def _weak(names: Sequence[str], role: str) -> list[str]:
    return candidates(names, role, WEAK_ALIASES)


def _ambiguous(role: str, names: Collection[str]) -> ValueError:
    found = listed(list(names))
    return ValueError(
        f"the {role} could be any of {found}; name the right one with columns= (--columns {role}=NAME)"
    )
