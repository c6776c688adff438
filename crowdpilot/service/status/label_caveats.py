"""Caveats of a project: what its votes cannot tell about its labels, by who gave them and how fast."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crowdpilot.aggregation.caveats import find_caveats
from crowdpilot.arrays import Codes
from crowdpilot.calibration.experience import GoldCheck
from crowdpilot.service.store.statistics import AnswerTimes
from crowdpilot.votes import Votes

MIN_LOOKING_SECONDS = 1.0  # below which nobody can have looked
MIN_LOOKING_SHARE = 0.2  # of the median time, the same
MANY_FAST_VOTES = 0.1  # share from which they are worth a sentence
MIN_TIMED_VOTES = 20
FEW_WORKERS = 4  # at most so many
MANY_BY_CLASSIFIER = 0.5  # share of the items that a classifier has decided alone
WORDS = {"gold labels": "known answers", "for one class": "the same", "votes": "answers",
         "answer inversely": "answer the wrong way round"}  # fmt: skip


class Circumstances(NamedTuple):
    """Who gave the votes of a project, how fast, and how many items (or questions about them) got none."""

    times: AnswerTimes = AnswerTimes()
    only_guests: bool = False  # all voters came through a link for everybody
    items: int = 0  # with criteria all questions about them
    without_votes: int = 0
    is_classified: bool = False
    noun: str = "item"  # what is counted: with criteria a question


def project_caveats(
    votes: Votes, gold: GoldCheck | None, about: Circumstances, labels: Codes | None = None
) -> list[str]:
    """Sentences that a requester should read beside the accuracy, the most important first."""
    found = [_in_own_words(text, about.noun) for text in find_caveats(votes, gold, labels)]
    voters = np.unique(votes.worker)
    if 1 < len(voters) <= FEW_WORKERS:
        found.append(
            f"Only {len(voters)} people have answered. If they make the same mistake, nobody can see it."
        )
    if labels is not None and len(np.unique(labels)) == 1 and len(np.unique(votes.label)) > 1:
        found.append(f"All {about.noun}s get the same label. Check a few by hand: either they are alike, or "
                     "workers do not understand what is asked.")  # fmt: skip
    if about.is_classified and about.without_votes > MANY_BY_CLASSIFIER * about.items:
        found.append(f"The classifier, a program, has decided {about.without_votes:,} of {about.items:,} "
                     f"{about.noun}s alone: no person has seen them. An audit tells how good these labels "
                     "are.")  # fmt: skip
    times = about.times
    if times.timed >= MIN_TIMED_VOTES and times.fast >= MANY_FAST_VOTES * times.timed:
        limit = max(MIN_LOOKING_SECONDS, MIN_LOOKING_SHARE * times.median)
        found.append(f"{times.fast / times.timed:.0%} of the answers took less than {limit:.1f} seconds, too "
                     "little to look at an item. See on the page Workers who is that fast.")  # fmt: skip
    if about.only_guests:
        found.append("All answers come from guests: people who came through a link for everybody. One person "
                     "may have come several times.")  # fmt: skip
    return found


def _in_own_words(text: str, noun: str) -> str:
    """A caveat of the library, in the words of the service."""
    for old, new in {"task": noun, **WORDS}.items():
        text = text.replace(old, new)
    return text
