"""Whatever workers do in whatever order, in two processes: budget and limits of votes hold."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from crowdpilot.service.errors import RequestError
from crowdpilot.service.labelling.labelling_service import LabellingService
from crowdpilot.service.schemas import VoteIn
from crowdpilot.service.settings import Settings
from crowdpilot.service.store import Store, clock, items, leases, projects
from crowdpilot.service.store.tables import votes
from tests.service.harness.service import create_project, migrated_store, settings_of, sqlite_url
from tests.service.harness.sessions import new_session

WORKERS, ITEMS, PER_ITEM, PER_WORKER = 4, 5, 2, 4
PRICES = {"dear": 0.2, "cheap": 0.1}
KINDS = ["dear", "cheap", "dear", "cheap"]
BUDGET = 1.0
SPEC = {"name": "limits", "classes": ["a", "b"], "policy": "fixed[votes=4]",
        "plan": {"per_item": PER_ITEM, "per_worker": PER_WORKER},
        "costs": {"prices": PRICES, "budget": BUDGET}}  # fmt: skip
ACTS = [*3 * ["next"], *9 * ["vote"], *2 * ["unsure"], *2 * ["undo"], "pause", "expire", "stop", "finish"]
Act = tuple[str, int, int, int]  # what, in which process, by which worker, which of the items they saw
acts = st.tuples(
    st.sampled_from(ACTS), st.integers(0, 1), st.integers(0, WORKERS - 1), st.integers(0, ITEMS - 1)
)
answers = st.tuples(
    st.sampled_from(["vote", "vote", "undo"]),
    st.just(1),
    st.integers(0, WORKERS - 1),
    st.integers(0, ITEMS - 1),
)


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[LabellingService]]:
    url = sqlite_url(Path(tmp_path_factory.mktemp("limits")))
    migrated_store(url).close()
    made = [LabellingService(Store(url), Settings(**settings_of(url))) for _ in range(2)]
    yield made
    for service in made:
        service.close()
        service.store.close()


class Scene:
    """A project with room for few votes, and workers who remember all that they were ever shown."""

    def __init__(self, services: list[LabellingService]) -> None:
        self.services, self.store = services, services[0].store
        contents = [{"name": f"i{n}", "content": {"text": "x"}} for n in range(ITEMS)]
        self.project = create_project(self.store, SPEC, contents)
        with self.store.writing() as c:
            self.sessions = [new_session(c, self.project, f"w{n}", kind=KINDS[n]) for n in range(WORKERS)]
        self.prices = {s.worker: PRICES[kind] for s, kind in zip(self.sessions, KINDS, strict=True)}
        self.seen: list[dict[int, None]] = [{} for _ in self.sessions]
        self.keys = 0

    async def open(self) -> None:
        """Everybody has seen items and given them back, so that each of their answers would be late."""
        for who in range(WORKERS):
            await self.act("next", 0, who, ITEMS - 1)
            await self.act("pause", 1, who, 0)

    async def act(self, what: str, where: int, who: int, which: int) -> None:
        service, session = self.services[where], self.sessions[who]
        if what == "next":
            self.seen[who].update((one.item, None) for one in await service.lease(session, which + 1))
        elif what in ("vote", "unsure") and self.seen[who]:
            self.keys += 1
            item, label = list(self.seen[who])[which % len(self.seen[who])], "a" if what == "vote" else None
            await service.vote(session, VoteIn(item=item, label=label, key=f"key-{self.keys:05d}"))
        elif what == "undo":
            await service.undo(session)
        elif what == "pause":
            await service.release(session)
        elif what == "finish":
            await service.finish(session)
        elif what in ("expire", "stop"):
            with self.store.writing() as c:
                if what == "expire":
                    leases.expire(c, self.project, clock.now(c) + 1e6)
                else:
                    items.change(c, self.project, [f"i{which}"], state=items.STOPPED)

    def check(self) -> None:
        """All limits hold in the tables, where leases count like votes; counters agree."""
        with self.store.reading() as c:
            rows = c.execute(select(votes).where(votes.c.project == self.project)).all()
            project = projects.find(c, self.project)
        held = [row for row in rows if row.state in ("leased", "voted")]
        assert max(Counter((row.item, row.criterion) for row in held).values(), default=0) <= PER_ITEM
        asked = Counter(row.worker for row in rows if row.state != "returned")
        assert max(asked.values(), default=0) <= PER_WORKER
        assert sum(self.prices[row.worker] for row in held) <= BUDGET + 1e-9
        assert project.votes == sum(row.state == "voted" for row in rows)


async def both_agree(scene: Scene) -> None:
    """The replicas of both processes have the same money, and it is that of the tables."""
    status = [
        await service.read(scene.project, lambda replica, _: replica.campaign.status())
        for service in scene.services
    ]
    with scene.store.reading() as c:
        rows = c.execute(select(votes).where(votes.c.project == scene.project)).all()
    for state, counted in (("voted", [s.spent for s in status]), ("leased", [s.reserved for s in status])):
        money = sum(scene.prices[row.worker] for row in rows if row.state == state)
        assert counted == pytest.approx([money, money])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=st.lists(acts, min_size=10, max_size=50))
def test_no_order_of_events_passes_a_limit(services: list[LabellingService], story: list[Act]) -> None:
    scene = Scene(services)

    async def tell() -> None:
        await scene.open()
        for act in story:
            with suppress(RequestError):
                await scene.act(*act)
            scene.check()
        await both_agree(scene)

    asyncio.run(tell())


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.lists(acts, max_size=6), meanwhile=st.lists(answers, min_size=3, max_size=12))
def test_nothing_that_happens_between_a_choice_and_its_commit_passes_a_limit(
    services: list[LabellingService], before: list[Act], meanwhile: list[Act]
) -> None:
    scene = Scene(services)
    queue = services[0]._lease_queue

    async def run(story: list[Act]) -> None:
        for what, _, who, which in story:
            with suppress(RequestError):
                await scene.act(what, 1, who, which)

    def commit_late(commit: Callable[..., bool]) -> Callable[..., bool]:
        def wait(*args: Any) -> bool:
            queue._commit = commit  # type: ignore[method-assign]  # only the first is late
            asyncio.run(run(meanwhile))
            return commit(*args)

        return wait

    async def tell() -> None:
        await scene.open()
        await run(before)
        queue._commit = commit_late(queue._commit)  # type: ignore[method-assign]
        try:
            for who in range(WORKERS):
                with suppress(RequestError):
                    await scene.act("next", 0, who, ITEMS - 1)
        finally:
            queue.__dict__.pop("_commit", None)
        scene.check()
        await both_agree(scene)

    asyncio.run(tell())
