"""A tiny application under the supervisor of processes, to test the supervisor alone."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI


def make_app(settings: dict[str, Any]) -> FastAPI:
    """Says its process number; notes that it was closed in good order."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        Path(settings["folder"], "closed").touch()

    app = FastAPI(lifespan=lifespan)
    app.get("/healthz")(lambda: "ok")
    app.get("/pid")(os.getpid)

    @app.get("/slow")
    async def slow() -> int:
        Path(settings["folder"], "asked").touch()
        await asyncio.sleep(1)
        return os.getpid()

    return app


def do_jobs(settings: dict[str, Any], name: str, stop: threading.Event) -> None:
    """Writes down its process number, and then that it ended in good order."""
    note = Path(settings["folder"], name)
    note.write_text(str(os.getpid()))
    stop.wait()
    note.with_suffix(".ended").touch()


def start_service(folder: Path, **options: Any) -> subprocess.Popen[str]:
    """The tiny service in a process of its own, which prints its address when it is ready."""
    given = {
        "host": "127.0.0.1",
        "port": 0,
        "app": f"{__name__}:make_app",
        "runner": f"{__name__}:do_jobs",
        **options,
    }
    code = f"""
from crowdpilot.service.processes import supervise
try:
    supervise({{"folder": {str(folder)!r}}}, ready=lambda address: print(address, flush=True), **{given!r})
except (OSError, ValueError) as error:
    raise SystemExit(f"crowdpilot: {{error}}")
"""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
