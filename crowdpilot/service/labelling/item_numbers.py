"""Item numbers: what workers see instead of the ids of items, which would tell when an item was added.

Gold items are often added last, or first. So an id is shown permuted, by a Feistel network (Luby and
Rackoff, SIAM Journal on Computing 17(2), 1988) whose rounds are BLAKE2b under a key of the project. (HMAC
would do as well, but OpenSSL's lets another thread run each time, and votes wait for it.) A number has 52
bits, which every program reads exactly. An id has at most 36, and a number whose id would have more was never
shown: so one that was shown tells by which key of a ring it was made.
"""

from __future__ import annotations

from hashlib import blake2b

from crowdpilot.service.signing import derive_all

HALF_BITS = 26
HALF_MASK = (1 << HALF_BITS) - 1
MAX_ID = 1 << 36
ROUNDS = range(4)
HALF_BYTES = 4
NOT_SHOWN = -1  # the id of no item


class ItemNumbers:
    """The numbers of the items of a project.

    Parameters
    ----------
    secret
        Of the service; numbers are shown by its newest key, and read by all.
    project
        Its id.

    Examples
    --------
    >>> numbers = ItemNumbers("s" * 32, "birds")
    >>> numbers.show(7) == 7, numbers.find(numbers.show(7)), numbers.find(7)
    (False, 7, -1)
    """

    def __init__(self, secret: str, project: str) -> None:
        self._keys = [key.encode() for key in derive_all(secret, "item_numbers", project)]

    def show(self, id: int) -> int:
        """The number of an item."""
        left, right = id >> HALF_BITS, id & HALF_MASK
        for n in ROUNDS:
            left, right = right, left ^ _round(self._keys[0], n, right)
        return left << HALF_BITS | right

    def find(self, number: int) -> int:
        """The id of an item by its number; `NOT_SHOWN` if it is the number of none."""
        if number >> 2 * HALF_BITS:
            return NOT_SHOWN
        ids = (_inverse(key, number) for key in self._keys)
        return next((id for id in ids if 0 < id < MAX_ID), NOT_SHOWN)


def _inverse(key: bytes, number: int) -> int:
    left, right = number >> HALF_BITS, number & HALF_MASK
    for n in reversed(ROUNDS):
        left, right = right ^ _round(key, n, left), left
    return left << HALF_BITS | right


def _round(key: bytes, n: int, half: int) -> int:
    digest = blake2b(bytes([n]) + half.to_bytes(HALF_BYTES), digest_size=HALF_BYTES, key=key).digest()
    return int.from_bytes(digest) & HALF_MASK
