from __future__ import annotations

import threading
import time

from crowdpilot.service.store.fair_lock import FairLock

LONG_SECONDS = 20.0


def hold(lock: FairLock, name: int, order: list[int]) -> None:
    assert lock.acquire(LONG_SECONDS)
    order.append(name)
    lock.release()


def test_those_who_wait_get_it_in_the_order_in_which_they_came() -> None:
    lock, order = FairLock(), list[int]()
    threads = [threading.Thread(target=hold, args=(lock, n, order)) for n in range(8)]
    assert lock.acquire(LONG_SECONDS)
    for n, thread in enumerate(threads):
        thread.start()
        while len(lock._waiting) <= n:
            time.sleep(0.001)
    lock.release()
    for thread in threads:
        thread.join(LONG_SECONDS)
    assert order == list(range(8))
    assert not lock._is_held


def test_whoever_has_it_may_not_take_it_again_before_those_who_wait() -> None:
    lock, order = FairLock(), list[int]()
    other = threading.Thread(target=hold, args=(lock, 1, order))
    assert lock.acquire(LONG_SECONDS)
    other.start()
    while not lock._waiting:
        time.sleep(0.001)
    lock.release()
    hold(lock, 2, order)
    other.join(LONG_SECONDS)
    assert order == [1, 2]


def test_who_waits_too_long_gives_up_and_is_skipped() -> None:
    lock, order = FairLock(), list[int]()
    assert lock.acquire(LONG_SECONDS)
    assert not lock.acquire(0.01)
    lock.release()
    hold(lock, 1, order)
    assert order == [1]
