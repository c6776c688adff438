"""The web server of one process: uvicorn over a socket that is shared, with limits of connections."""

from __future__ import annotations

import os
import resource
import socket
import threading
from pkgutil import resolve_name
from typing import Any

import uvicorn

from crowdpilot.service.http.connections import KEEP_ALIVE_SECONDS, Connections, Limits
from crowdpilot.service.settings import Settings

OTHER_FILES = 256  # that a web process opens beside connections: the database, libraries


def serve_requests(
    app: str, settings: Any, listener: socket.socket, shared: str, stop_seconds: float, stop: threading.Event
) -> None:
    """Answer requests until the event is set, and then those under way.

    Parameters
    ----------
    app
        The name of a function as `module:function` that makes the application from the settings.
    settings
        Of the service.
    listener
        Where requests arrive.
    shared
        A folder in which all web processes count.
    stop_seconds
        For requests under way at the end.
    stop
        Set when it is to end.
    """
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = shared  # read when the package is loaded, by the next line
    application = resolve_name(app)(settings)
    server = uvicorn.Server(
        uvicorn.Config(
            application,
            http=Connections(_limits(settings)).protocol,
            ws="none",
            lifespan="on",  # an application that cannot start is a failure
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # the middleware reads those of proxies that are named
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=int(stop_seconds),
        )
    )

    def exit_when_stopped() -> None:
        stop.wait()
        server.should_exit = True

    threading.Thread(target=exit_when_stopped, daemon=True).start()
    server.run(sockets=[listener])


def _limits(settings: Any) -> Limits:
    """The limits of connections; there are no more than files that the process may open."""
    if not isinstance(settings, Settings):
        return Limits()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = settings.max_connections + OTHER_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return Limits(
        header_seconds=settings.header_seconds,
        body_seconds=settings.body_seconds,
        total=max(1, min(settings.max_connections, allowed - OTHER_FILES)),
        per_address=None if settings.proxies else settings.max_connections_per_address,
    )
