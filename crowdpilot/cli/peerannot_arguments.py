"""What people type who know peerannot: its ways to write options, and commands that have other names here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

SAME_COMMANDS = {"agginfo": "strategies"}
OTHER_WAYS = {  # commands that are not here, and what to do instead
    "install": (
        "a Python file that installs a data set is not run: crowdpilot datasets get NAME downloads one, and "
        "a folder with answers.json, or a file of answers, is read as it is: crowdpilot aggregate FOLDER"
    ),
    "modelinfo": (
        "networks are linear, mlp and others in crowdpilot train --help, and those of torchvision by name, "
        "as in --model resnet18"
    ),
    "identificationinfo": "the scores of workers and tasks are listed by crowdpilot identify --help",
}
SHORT_WITH_EQUALS = re.compile(r"(-[A-Za-z])=(.+)")  # as in -K=10


def as_typed_here(args: list[str]) -> list[str]:
    """The same arguments in the usual form: `-K=10` as `-K 10`, and `--scheduler` alone as its default.

    Examples
    --------
    >>> as_typed_here(["-K=10", "--scheduler", "-m", "100"])
    ['-K', '10', '--scheduler', 'multistep', '-m', '100']
    """
    return [*_parts(args)]


def _parts(args: list[str]) -> Iterator[str]:
    for arg, following in pairwise([*args, "-"]):
        if match := SHORT_WITH_EQUALS.fullmatch(arg):
            yield from match.groups()
        else:
            yield arg
        if arg == "--scheduler" and following.startswith("-"):
            yield "multistep"
