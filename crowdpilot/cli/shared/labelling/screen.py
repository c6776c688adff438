"""The screen of the labelling terminal: an item, the keys of its classes, and how far the campaign is."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.columns import Columns
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from crowdpilot.cli.shared.labelling.class_keys import COMMANDS, ClassKeys

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # what would move the cursor, if shown
LINES_AROUND = 10  # of the item: status, keys, frame, message
MIN_LINES = 3
MAX_WIDTH = 100


class Screen:
    """Shows one item at a time; at a terminal in place of the one before, else below it."""

    def __init__(self, classes: Sequence[str], keys: ClassKeys) -> None:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="replace")  # a terminal may know fewer characters than the items
        self._console = Console(highlight=False, soft_wrap=False)
        self._classes, self._keys = classes, keys
        self._width = min(self._console.width, MAX_WIDTH)

    def show(self, item: str, content: Mapping[str, Any], status: str, message: str) -> None:
        """An item with its content, the keys, and one line each about the campaign and the last answer."""
        if self._console.is_terminal:
            self._console.clear()
        self._print(Text(_plain(status), style="dim"))
        panel = Panel(self._cut(_content(content) or Text(_plain(item))), width=self._width, expand=True)
        panel.title, panel.title_align = Text(_plain(item)), "left"
        self._console.print(panel)
        self._show_choices()
        self._console.print(Columns([_choice(key, name) for key, name in COMMANDS.items()], padding=(0, 2)))
        if message:
            self._print(Text(_plain(message), style="yellow"))
        if not self._keys.single:
            self._console.print("label: ", end="")

    def say(self, message: str) -> None:
        """One line below."""
        self._print(Text(_plain(message)))

    def _print(self, text: Text) -> None:
        self._console.print(text, width=self._width)

    def _show_choices(self) -> None:
        if not self._keys.single:
            self._print(Text("type one of: " + ", ".join(map(_plain, self._classes))))
            return
        pairs = zip(self._keys.keys, self._classes, strict=True)
        choices = [_choice(key, "" if key == name.casefold() else name) for key, name in pairs]
        self._console.print(Columns(choices, padding=(0, 2)), width=self._width)

    def _cut(self, text: Text) -> Text:
        """As many lines as there is room for."""
        room = max(MIN_LINES, self._console.height - LINES_AROUND) if self._console.is_terminal else None
        lines = text.wrap(self._console, self._width - 4)
        if room is None or len(lines) <= room:
            return text
        more = Text(f"… {len(lines) - room + 1} lines more", style="dim")
        return Text("\n").join([*lines[: room - 1], more])


def _content(content: Mapping[str, Any]) -> Text:
    """The values of all columns, long ones last; their names too, if there are several."""
    filled = {name: _plain(str(value)) for name, value in content.items() if value is not None}
    filled = dict(sorted(filled.items(), key=lambda each: len(each[1]) > MAX_WIDTH))
    rows = []
    for name, value in filled.items():
        link = f"link {value}" if re.fullmatch(r"https?://\S+", value) else ""
        label = Text(f"{_plain(name)}: ", style="dim") if len(filled) > 1 else Text()
        rows.append(label + Text(value, style=link))
    return Text("\n").join(rows)


def _choice(key: str, name: str) -> Text:
    shown = Text(f" {_plain(key)} ", style="reverse")
    return shown + Text(f" {_plain(name)}") if name else shown


def _plain(text: str) -> str:
    """Without what a terminal would take for a command."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
