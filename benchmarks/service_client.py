"""A light client in a process of its own: many connections, each waits for an answer before it asks again."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvloop

TIMEOUT_SECONDS = 60.0  # after the end of a run
POLL_SECONDS = 0.05  # until a worker who got no item asks again


class Line:
    """One connection that is kept open."""

    def __init__(self, host: str, port: int, token: str, times: dict[str, list[float]]) -> None:
        self.host, self.port, self.times = host, port, times
        self.head = f"Host: {host}\r\nAuthorization: Bearer {token}\r\n".encode()
        self.counts: dict[int, int] = {}

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)

    async def ask(self, kind: str, first: bytes, body: bytes = b"") -> bytes:
        """Send a request; the body of the answer."""
        more = b"Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body) if body else b""
        begun = time.perf_counter()
        self.writer.write(b"%b HTTP/1.1\r\n%b%b\r\n%b" % (first, self.head, more, body))
        head = await self.reader.readuntil(b"\r\n\r\n")
        at = head.lower().index(b"content-length:") + 15
        found = await self.reader.readexactly(int(head[at : head.index(b"\r", at)]))
        status = int(head[9:12])
        self.counts[status] = self.counts.get(status, 0) + 1
        if status < 300:
            self.times[kind].append(time.perf_counter() - begun)
        return found


async def leased_items(line: Line, n: int, until: float) -> AsyncIterator[dict[str, Any]]:
    """The items leased to a worker, one after the other, until the time is over."""
    some = random.randint(1, n)  # so that not all ask again at the same moment
    while time.monotonic() < until:
        found = json.loads(await line.ask("next", b"GET /api/next?n=%d" % some)).get("items", [])
        some = n
        if not found:
            await asyncio.sleep(POLL_SECONDS)
        for item in found:
            if time.monotonic() > until:
                return
            yield item


async def made_up(line: Line, n: int, until: float) -> AsyncIterator[dict[str, Any]]:
    """Anything, for a service without leases."""
    while time.monotonic() < until:
        yield {"item": n, "criterion": 0}


async def work(line: Line, options: dict[str, Any], who: int, until: float) -> None:
    """Vote until the time is over."""
    await line.open()
    post = f"POST {options['path']}".encode()
    source = leased_items if options["leases"] else made_up
    n = 0
    async for item in source(line, options["batch"], until):
        n += 1
        label = options["classes"][hash((item["item"], who)) % 97 % len(options["classes"])]
        vote = {
            "item": item["item"],
            "label": label,
            "seconds": 1.5,
            "key": f"{options['round']}-{who}-{n:08d}",
        }
        await line.ask("vote", post, json.dumps(vote).encode())
    line.writer.close()


async def drive(options: dict[str, Any]) -> dict[str, Any]:
    """All workers at once; what they saw after the warm-up."""
    times: dict[str, list[float]] = {"vote": [], "next": []}
    lines = [Line(options["host"], options["port"], token, times) for token in options["tokens"]]
    begun = time.monotonic()
    until = begun + options["warm"] + options["seconds"]
    tasks = [asyncio.ensure_future(work(line, options, n, until)) for n, line in enumerate(lines)]
    await asyncio.sleep(options["warm"])
    for kind in times:
        times[kind].clear()
    start = time.perf_counter()
    await asyncio.wait_for(asyncio.gather(*tasks), options["seconds"] + TIMEOUT_SECONDS)
    seconds = time.perf_counter() - start
    statuses: dict[int, int] = {}
    for line in lines:
        for status, n in line.counts.items():
            statuses[status] = statuses.get(status, 0) + n
    return {"seconds": seconds, "times": times, "statuses": statuses}


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    Path(asked["output"]).write_text(json.dumps(uvloop.run(drive(asked))))
