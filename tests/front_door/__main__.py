"""Print what each newcomer types, and the outcome: `python -m tests.front_door`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.front_door.newcomers import NEWCOMERS
from tests.front_door.task import Newcomer, Outcome, Task, run


def main() -> int:
    """Run all tasks; the exit code is 1 if the outcome of one is another than expected."""
    outcomes = [show(newcomer, task) for newcomer in NEWCOMERS for task in newcomer.tasks]
    works = sum(outcome.expected and outcome.seen == "works" for outcome in outcomes)
    refused = sum(outcome.expected for outcome in outcomes) - works
    print(f"{works} of {len(outcomes)} tasks work, and {refused} are refused with what to do instead")
    return int(works + refused < len(outcomes))


def show(newcomer: Newcomer, task: Task) -> Outcome:
    """Run a task in a folder of its own, and print it with its outcome."""
    with TemporaryDirectory() as folder:
        outcome = run(newcomer, task, Path(folder))
    print(f"{newcomer.name}: {task.goal}")
    print("".join(f"    {line}\n" for line in task.typed.splitlines()), end="")
    print(f"  {'' if outcome.expected else 'FAILS: '}{outcome.seen}\n", flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
