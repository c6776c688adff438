"""The three newcomers, seventeen tasks each."""

from __future__ import annotations

from tests.front_door.data_scientist import DATA_SCIENTIST
from tests.front_door.engineer import ENGINEER
from tests.front_door.student import STUDENT

NEWCOMERS = [DATA_SCIENTIST, STUDENT, ENGINEER]
