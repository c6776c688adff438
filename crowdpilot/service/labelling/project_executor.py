"""Project executor: a few threads that run functions of many projects, those of one project in turn."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Task(NamedTuple):
    """A function to be run, and what becomes of it."""

    future: Future[Any]
    function: Callable[..., Any]
    args: tuple[Any, ...]


class ProjectExecutor:
    """Runs functions in threads: one at a time of each project, in the order in which they came.

    So what one project has to wait for holds up no other, and what belongs to one project needs no locks.
    Between two functions of a project the thread goes back to the pool, so that none is kept from its turn.

    Parameters
    ----------
    threads
        How many projects are served at the same time.
    name
        Of the threads.
    """

    def __init__(self, threads: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, name)
        self._lock = threading.Condition()
        self._tasks: dict[str, deque[Task]] = {}  # of each project that has a thread or waits for one

    def submit(self, project: str, function: Callable[..., T], *args: Any) -> Future[T]:
        """Run a function after those of the same project that came before; it can be cancelled until then."""
        task = Task(Future(), function, args)
        with self._lock:
            waiting = self._tasks.get(project)
            if waiting is None:
                self._tasks[project] = deque([task])
                self._pool.submit(self._run_first, project)
            else:
                waiting.append(task)
        return task.future

    def close(self) -> None:
        """Run what was submitted, then end the threads."""
        with self._lock:
            self._lock.wait_for(lambda: not self._tasks)
        self._pool.shutdown()

    def _run_first(self, project: str) -> None:
        """Run the first task of a project and take a new turn for the next one."""
        with self._lock:
            task = self._tasks[project].popleft()
        if task.future.set_running_or_notify_cancel():
            try:
                task.future.set_result(task.function(*task.args))
            except BaseException as error:  # whoever waits for the result is told, whatever happened
                task.future.set_exception(error)
        with self._lock:
            if self._tasks[project]:
                self._pool.submit(self._run_first, project)
            else:
                del self._tasks[project]
                self._lock.notify_all()
