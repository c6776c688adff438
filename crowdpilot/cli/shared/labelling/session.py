"""A labelling session: asks one person for the next vote, saves each answer, and takes answers back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from crowdpilot.cli.shared.labelling.class_keys import QUIT, SKIP, UNDO, ClassKeys, class_keys
from crowdpilot.cli.shared.labelling.keyboard import END_OF_INPUT, ReadKey, open_keyboard
from crowdpilot.cli.shared.labelling.screen import Screen
from crowdpilot.cli.shared.labelling.vote_file import VoteFile
from crowdpilot.hybrid.campaign.decisions import Ask
from crowdpilot.hybrid.vote_requests.requests import why_nothing
from crowdpilot.hybrid.vote_requests.resumed_campaign import ResumedCampaign

BACKSPACES = ("\x7f", "\b")
SLOW_SECONDS = 1.0  # from which on a campaign is not made anew with every vote of others
MAX_RESUME_SHARE = 0.1  # of the time of a session that it may then take


@dataclass(eq=False)
class LabellingSession:
    """One person at a keyboard.

    Parameters
    ----------
    resume
        The campaign with all votes in the file; called again when others have added some.
    file
        Where answers are appended.
    worker
        Who answers.
    """

    resume: Callable[[], ResumedCampaign]
    file: VoteFile
    worker: str
    answered: list[str] = field(default_factory=list)  # items, in the order of the answers
    skipped: list[str] = field(default_factory=list)
    message: str = ""
    _item: str | None = None  # leased to the person now
    _resume_after: float = 0.0  # a time, before which votes of others have to wait

    def run(self) -> str:
        """Ask until nothing is worth asking or the person quits; returns why it ended, in a sentence."""
        self._resume()
        classes = list(map(str, self.resumed.classes.tolist()))
        keys = class_keys(classes)
        self.screen = Screen(classes, keys)
        try:
            with open_keyboard(single_keys=keys.single) as read_key:
                reason = self._ask_all(keys, read_key)
        except KeyboardInterrupt as interrupt:
            raise type(interrupt)(self._saved()) from None
        return f"{reason}; {self._saved()}"

    def _ask_all(self, keys: ClassKeys, read_key: ReadKey) -> str:
        while (item := self._next_item()) is not None:
            self._show(item)
            typed = read_key()
            if typed in (QUIT, QUIT.upper(), END_OF_INPUT):
                self._campaign.release(self.worker)
                return "stopped"
            self._take(item, typed, keys)
        return why_nothing(self.resumed, [self.worker])

    def _take(self, item: str, typed: str, keys: ClassKeys) -> None:
        label = keys.find(typed)
        if typed in BACKSPACES or typed.casefold() == UNDO:
            self._undo(item)
        elif typed.casefold() == SKIP:
            self._campaign.release(self.worker, [Ask(item)], ask_again=False)
            self.skipped.append(item)
            self._item = None
            self.message = f"skipped {item}"
        elif label is not None:
            self._save(item, str(self.resumed.classes[label]))
        else:
            self.message = f"{typed!r} is no key here" if typed.isprintable() else ""

    def _save(self, item: str, label: str) -> None:
        self.file.append(item, self.worker, label)
        self._campaign.tell([(item, self.worker, label)])
        self.answered.append(item)
        self._item = None
        self.message = f"{item}: {label}"

    def _undo(self, item: str) -> None:
        """Take the last answer of this session back; its item is asked about next."""
        if not self.answered:
            self.message = "nothing to undo"
            return
        self.file.undo()
        before = self.answered.pop()
        self._campaign.release(self.worker, [Ask(item)])
        self._campaign.retract([Ask(before)], self.worker)
        self._item, self.message = before, f"took back the answer on {before}"

    def _next_item(self) -> str | None:
        """The item that is leased to the person, or the best one; None if there is none."""
        if self.file.has_changed and time.monotonic() >= self._resume_after:
            self._resume()
        if self._item is None:
            asks = self._campaign.ask(self.worker, 1)
            if not asks and self._campaign.view.votes_since_refit:
                self._campaign.refit()
                asks = self._campaign.ask(self.worker, 1)
            self._item = asks[0].item if asks else None
        return self._item

    def _resume(self) -> None:
        start = time.monotonic()
        self.file.note_size()
        self.resumed = self.resume()
        seconds = time.monotonic() - start
        self._resume_after = 0.0 if seconds < SLOW_SECONDS else start + seconds / MAX_RESUME_SHARE
        self._campaign = self.resumed.campaign
        self._item = None
        for item in self.skipped:
            self._campaign.lease([Ask(item)], self.worker)
            self._campaign.release(self.worker, [Ask(item)], ask_again=False)

    def _show(self, item: str) -> None:
        row = int(self._campaign.view.item_rows([item])[0])
        content = {name: values[row] for name, values in self.resumed.items.content.items()}
        self.screen.show(item, content, self._status(), self.message)

    def _status(self) -> str:
        status, money = self._campaign.status(), self.resumed.money
        budget = self._campaign.costs.budget
        of = "" if np.isinf(budget) else f" of {money(budget)}"
        items = len(self.resumed.items.names)
        done = f"{self.worker}: {len(self.answered)} answered, spent {money(self.resumed.spent)}{of}"
        return f"{done}, about {status.error_rate * items:.3g} of {items:,} labels wrong"

    def _saved(self) -> str:
        n = len(self.answered)
        answers = "no new answer" if n == 0 else "1 new answer" if n == 1 else f"{n} new answers"
        return f"{answers} in {self.file.path}"
